"""An attentive neural process (Kim et al., ICLR 2019) on a single table.

Neural processes learn from many realisations of a dataset. Here the realisations are random parts
of one: each update draws a context from the train rows and predicts it and other train rows, which
is stochastic masking of targets with a random share.
"""

from __future__ import annotations

from baselines.network_baseline import RetrievalBaseline


class ANP(RetrievalBaseline):
    """An attentive neural process."""

    name = "anp"
    title = "ANP, one table"
    trainer = "baselines.networks.anp:ANPNetwork.fitted"
    defaults = {
        "width": 128,
        "reads": True,
        "context_labels": True,
        "draws": 32,
        "candidates": 2048,
        "learning_rate": 0.001,
        "weight_decay": 1e-4,
        "batch_size": 128,
        "max_epochs": 600,
        "patience": 50,
    }
    test_settings = {
        "grid": {"width": [16]},
        "fixed": {"max_epochs": 30, "candidates": 32, "draws": 4, "learning_rate": 0.01},
    }
    twins = {
        "without_datapoints": {"fixed": {"reads": False}},
        "without_labels": {"fixed": {"context_labels": False}},
    }

    # One configuration: a smaller network.
    quick = {"width": [64], "learning_rate": [0.002]}

    # Eight configurations; the NPT paper has no neural process.
    paper = {
        "width": [64, 128],
        "weight_decay": [1e-4, 1e-2],
        "learning_rate": [0.0005, 0.002],
    }


BASELINE = ANP()
