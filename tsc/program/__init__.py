"""The resolved program."""
