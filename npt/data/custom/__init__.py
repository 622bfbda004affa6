"""Custom datasets: a table described by a few keys of the configuration."""

from npt.data.custom.dataset import CustomDataset

__all__ = ["CustomDataset"]
