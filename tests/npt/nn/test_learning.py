"""That it learns, and that what it learns is NPT: a lookup that no row-wise model can do."""

import math
from dataclasses import replace

import numpy as np
import torch

from npt.interface import Resources
from npt.nn.column_layout import ColumnLayout
from npt.nn.inputs import EncodedTable
from npt.nn.learner import NPTLearner
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.settings import NPTSettings
from npt.nn.trained_network import build_model
from npt.nn.training import NPTTraining
from npt.table import Split
from tests.conftest import SMALL_NPT, first_split, make_table
from tests.workflow.studies.models import fitted

LEARNING = NPTSettings(
    width=16,
    layers=4,
    heads=4,
    attention_dropout=0,
    hidden_dropout=0,
    learning_rate=0.01,
    feature_mask=0,
    tradeoff_start=0,
)


def test_it_overfits_sixteen_rows() -> None:
    table = make_table("regression", 20)
    everything = Split(0, np.arange(16), np.arange(16, 18), np.arange(18, 20))
    settings = LEARNING.changed(updates=100, evaluate_every=100)
    predicted = fitted(settings, table, everything).predict(everything.train).values
    assert np.sqrt(np.mean((predicted - table.truth[:16]) ** 2)) < 0.1 * table.truth[:16].std()


def test_it_learns_a_gaussian() -> None:
    table = make_table("regression", rows=120)
    split = first_split(table)
    learner = NPTLearner(SMALL_NPT.changed(output="gaussian", updates=40), Resources())
    fit = learner.fit(table.blind(split.test), split, seed=0)
    rows = split.validation
    errors = learner.predict(rows).values - table.truth[rows]
    assert np.sqrt(np.mean(errors**2)) < 2 * np.std(table.truth[split.train])
    assert fit.validation_loss < 0.5 * math.log(2 * math.pi) + 1  # that of a standard normal


KEYS = 4
COPIES = 16


def lookup(generator: torch.Generator) -> EncodedTable:
    """Rows with equal keys share a random target; the first row of each key is a test row."""
    keys = torch.cat([torch.randperm(KEYS, generator=generator) for _ in range(COPIES)])
    target = torch.randn(KEYS, generator=generator)[keys]
    codes = torch.stack([keys, torch.zeros_like(keys)], 1)
    numbers = torch.stack([torch.zeros_like(target), target], 1)
    part = torch.where(torch.arange(len(keys)) < KEYS, 2, 0)
    continuous = torch.tensor([False, True])
    missing = torch.zeros_like(codes).bool()
    return EncodedTable(codes, numbers, missing, part, continuous, torch.tensor([KEYS, 1]), 1)


def lookup_error(settings: NPTSettings) -> float:
    """Root mean square error over 20 tables, after training on another one at every update."""
    tables = torch.Generator().manual_seed(1)
    masks = torch.Generator().manual_seed(1)
    layout = ColumnLayout((KEYS, 1), (False, True), 1)
    model = build_model(NPT, 1, torch.device("cpu"), layout, settings)
    training = NPTTraining(model, lookup(tables), settings, 1)
    for number in range(1, settings.updates + 1):
        table = lookup(tables)
        training.data = replace(table, part=torch.zeros_like(table.part))
        training.update(number)
    model.eval()
    errors = []
    for _ in range(20):
        table = lookup(tables)
        with torch.no_grad():
            predicted = model.predict_target(mask(table, "test", settings, masks).cells)[0, :, 0]
        errors.append((predicted - table.numbers[:, 1])[table.part == 2].square().mean())
    return float(torch.stack(errors).mean().sqrt())


def test_only_attention_between_datapoints_solves_lookup() -> None:
    changes = {"layers": 2, "heads": 1, "target_mask": 0.3, "learning_rate": 0.02}
    settings = LEARNING.changed(**changes, updates=250)
    assert lookup_error(settings) < 0.5
    assert lookup_error(settings.changed(between_datapoints=False, updates=100)) > 0.9
