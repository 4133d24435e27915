"""Times kernels against each other on the GPU at hand; the standard library, and torch to measure, suffice."""
