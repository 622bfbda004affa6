"""Measurements of speed, memory, tests and intervals, and pictures of the documents."""
