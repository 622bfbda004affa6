"""Which cells of the paper's Tables 1 to 13 are regenerated, and by what (docs/reproduction.md)."""
