"""Fast CPU kernels."""
