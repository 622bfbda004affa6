"""Measurements of speed, memory, tests and intervals, and pages and pictures made of results."""
