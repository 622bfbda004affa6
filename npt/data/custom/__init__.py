"""Custom datasets: a table described by a few keys of the configuration."""

from npt.data.custom.declaration import CustomDataset
from npt.data.custom.preparation import CustomTable, folds_of, read_custom

__all__ = ["CustomDataset", "CustomTable", "folds_of", "read_custom"]
