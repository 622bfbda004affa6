"""Neural processes, and NPT as one: models that learn from many small tables (realisations)."""
