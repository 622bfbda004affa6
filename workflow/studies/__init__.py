"""Kinds of studies, one folder each."""
