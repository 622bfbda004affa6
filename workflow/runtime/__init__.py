"""Around a run: the folder lock, the GPU lock, the command line of a step, start and end of a run."""
