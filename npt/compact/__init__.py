"""Compact NPT: attention between attributes and datapoints, labels of other rows as values."""
