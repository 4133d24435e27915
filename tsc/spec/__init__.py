"""The language as Pydantic models, one file a group of the grammar."""
