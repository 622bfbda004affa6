"""Measurements of speed and memory; both sides of every ratio run in turn in one process."""
