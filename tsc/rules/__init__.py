"""One rule a file, in a folder a family; `registry.py` lists them."""
