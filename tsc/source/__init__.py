"""From text to plain data whose every key and value knows its line and column."""
