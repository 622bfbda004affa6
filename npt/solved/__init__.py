"""Solved NPT: attention between datapoints whose weights are the solution of a linear system."""
