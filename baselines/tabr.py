"""TabR-S (Gorishniy et al., ICLR 2024): a network that corrects a row's encoding by retrieved rows.

The encoding of a row goes on alone, and the `context_size` nearest stored rows add to it: their
embedded label and a correction for the difference of keys, weighted by the softmax of minus squared
distances. So a prediction has two paths, and the blind twins have one or a part of the other.
Differences from the paper: the widths are smaller, and a batch is predicted from about `candidates`
train rows if there are more.
"""

from __future__ import annotations

from baselines.network_baseline import RetrievalBaseline


class TabR(RetrievalBaseline):
    """TabR-S."""

    name = "tabr"
    title = "TabR-S"
    trainer = "baselines.networks.tabr:TabRNetwork.fitted"
    defaults = {
        "width": 96,
        "context_size": 96,
        "retrieves": True,
        "context_labels": True,
        "context_dropout": 0.2,
        "dropout": 0.2,
        "candidates": 4096,
        "learning_rate": 0.001,
        "weight_decay": 1e-4,
        "batch_size": 128,
        "max_epochs": 300,
        "patience": 16,
    }
    test_settings = {
        "grid": {"width": [8]},
        "fixed": {"max_epochs": 3, "candidates": 32},
    }
    twins = {
        "without_datapoints": {"fixed": {"retrieves": False}},
        "without_labels": {"fixed": {"context_labels": False}},
    }

    # One configuration: a small network with a small context.
    quick = {"width": [64], "context_size": [32], "learning_rate": [0.003]}

    # Sixteen configurations; the NPT paper is older.
    paper = {
        "width": [96, 192],
        "context_size": [96],
        "context_dropout": [0.0, 0.4],
        "dropout": [0.0, 0.4],
        "learning_rate": [0.0003, 0.001],
    }


BASELINE = TabR()
