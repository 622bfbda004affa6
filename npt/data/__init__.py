"""Datasets: where they come from, how they are read, checked, split, stored and encoded."""
