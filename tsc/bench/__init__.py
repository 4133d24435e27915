"""Times kernels against each other on the GPU at hand, with the standard library and torch alone."""
