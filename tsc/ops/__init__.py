"""The built-in operations, one module each."""
