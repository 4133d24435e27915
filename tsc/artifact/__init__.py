"""The cubin and the manifest inside it: read without a GPU, and with the standard library alone."""
