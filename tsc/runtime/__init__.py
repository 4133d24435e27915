"""Loads a built cubin and launches it. Needs cuda-python and the standard library, nothing else."""
