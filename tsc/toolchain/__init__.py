"""From CUDA text to a cubin: NVRTC, what it says, a cache, and files that are written whole or not at all."""
