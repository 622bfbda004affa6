"""TabM (Gorishniy et al., ICLR 2025) of the package `tabm`: an ensemble of networks that share most
weights, on piecewise-linear embeddings of the numbers. Each row is predicted alone.
"""

from __future__ import annotations

from baselines.network_baseline import NetworkBaseline


class TabM(NetworkBaseline):
    """TabM."""

    name = "tabm"
    title = "TabM"
    trainer = "baselines.networks.tabm:fit_tabm"
    libraries = ("tabm", "rtdl_num_embeddings", "torch")
    extra = "modern"
    defaults = {
        "members": 32,
        "width": 512,
        "layers": 2,
        "dropout": 0.1,
        "bins": 48,
        "embedding": 16,
        "learning_rate": 0.002,
        "weight_decay": 3e-4,
        "batch_size": 256,
        "max_epochs": 500,
        "patience": 16,
    }
    embeds_categories = True
    takes_categories = True
    test_settings = {
        "grid": {"width": [8]},
        "fixed": {"members": 2, "bins": 4, "max_epochs": 2},
    }

    # Two learning rates of a small network.
    quick = {"width": [128], "learning_rate": [0.001, 0.003]}

    # Sixteen configurations; the NPT paper is older.
    paper = {
        "width": [256, 512],
        "layers": [2, 3],
        "dropout": [0.0, 0.2],
        "learning_rate": [0.0005, 0.002],
    }


BASELINE = TabM()
