"""The command `npt-benchmark`: the benchmark of one table."""
