"""ModernNCA (Ye et al., ICLR 2025): a nearest-neighbour rule in a learned space.

A prediction is the mean label of the stored rows, weighted by the softmax of minus the Euclidean
distances of their embeddings. Differences from the paper: numbers have no periodic embedding, and a
batch is predicted from all train rows, or about `candidates` of them, instead of a drawn share.
"""

from __future__ import annotations

from baselines.grids import Parameters
from baselines.network_baseline import RetrievalBaseline
from baselines.training_data import TrainingData


class ModernNCA(RetrievalBaseline):
    """ModernNCA."""

    name = "modern_nca"
    title = "ModernNCA"
    trainer = "baselines.networks.modern_nca:ModernNCANetwork.fitted"
    defaults = {
        "width": 64,
        "blocks": 0,
        "block_width": 128,
        "dropout": 0.1,
        "candidates": 4096,
        "learning_rate": 0.01,
        "weight_decay": 1e-4,
        "batch_size": 256,
        "max_epochs": 500,
        "patience": 20,
    }
    test_settings = {"grid": {"width": [8]}, "fixed": {"max_epochs": 3}}

    # Two learning rates of an embedding with one block.
    quick = {"blocks": [1], "learning_rate": [0.003, 0.01]}

    # Sixteen configurations, of which twelve differ; the NPT paper is older.
    paper = {
        "width": [64, 128],
        "blocks": [0, 1],
        "dropout": [0.0, 0.2],
        "learning_rate": [0.001, 0.01],
    }

    def effective_parameters(self, parameters: Parameters, data: TrainingData) -> Parameters:
        """Without those of blocks, where there are none."""
        effective = dict(parameters)
        if effective["blocks"] == 0:
            del effective["dropout"], effective["block_width"]
        return effective


BASELINE = ModernNCA()
