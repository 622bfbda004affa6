"""Measurements of speed and memory; every ratio is of two things that ran in turn in one process."""
