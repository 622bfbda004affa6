"""Rows of results: written by jobs, collected into one table per study."""
