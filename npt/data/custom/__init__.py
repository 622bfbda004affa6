"""Custom datasets: a table described by a few keys of the configuration."""

from npt.data.custom.conversion import CustomTable, folds_of, read_custom
from npt.data.custom.dataset import CustomDataset

__all__ = ["CustomDataset", "CustomTable", "folds_of", "read_custom"]
