"""Cells, statistics and drawings that the studies make tables and figures of."""
