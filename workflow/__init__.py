"""What to run, in which order, and how to show it."""
