"""Runs a kernel on fresh data and compares what it writes with its reference."""
