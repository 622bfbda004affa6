"""Around a run: its start and end, locks of folders and GPUs, command lines of steps."""
