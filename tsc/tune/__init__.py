"""Searches the space of a spec's `tune`; what measures does with the standard library and torch."""
