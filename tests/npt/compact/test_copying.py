"""Copying of residuals: against a loop, of repeated rows, and what it must not do."""

from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

from npt.compact.copying import NEAREST, Residuals, moved, nearest, shown_beyond
from npt.compact.layers import normalised
from npt.compact.learner import CompactLearner
from npt.compact.model import Context
from npt.compact.settings import CompactSettings
from npt.compact.trained import TrainedCompactNPT
from npt.interface import Resources
from npt.table import Split, Table
from tests.npt.compact.tables import CPU, consecutive, fitted, table_of

MEMBERS, QUERIES, ROWS, WIDTH = 2, 3, 5, 4
SETTINGS = CompactSettings(
    token_width=8, width=16, heads=2, bins=8, members=2, updates=75, evaluate_every=25
)


def made_up(
    classes: int = 1,
) -> tuple[torch.Tensor, torch.Tensor, Residuals, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    random = partial(torch.randn, generator=generator, dtype=torch.float64)
    outputs = random(MEMBERS, QUERIES, classes)
    rows = random(MEMBERS, QUERIES, WIDTH)
    context = random(MEMBERS, ROWS, WIDTH)
    values = 0.2 * random(MEMBERS, ROWS, classes)
    reach = torch.tensor([0.7, 3.0], dtype=torch.float64)
    return outputs, rows, Residuals(normalised(context), values), reach


def test_values_are_moved_as_in_a_loop() -> None:
    outputs, rows, residuals, reach = made_up()
    result = moved(outputs, rows, residuals, reach)
    for member, query in product(range(MEMBERS), range(QUERIES)):
        vector = normalised(rows)[member, query]
        squares = ((residuals.vectors[member] - vector) ** 2).sum(-1)
        weights = torch.exp(-squares / reach[member])
        move = (weights @ residuals.values[member]) / (1 + weights.sum())
        assert torch.allclose(result[member, query], outputs[member, query] + move)


def test_probabilities_are_moved_as_in_a_loop() -> None:
    outputs, rows, residuals, reach = made_up(3)
    residuals = Residuals(residuals.vectors, 5 * residuals.values)
    result = moved(outputs, rows, residuals, reach)
    clipped = 0
    for member, query in product(range(MEMBERS), range(QUERIES)):
        squares = ((residuals.vectors[member] - normalised(rows)[member, query]) ** 2).sum(-1)
        weights = torch.exp(-squares / reach[member])
        move = (weights @ residuals.values[member]) / (1 + weights.sum())
        expected = outputs[member, query].softmax(0) + move
        clipped += int((expected < 1e-4).sum())
        expected = expected.clamp(min=1e-4)
        assert torch.allclose(result[member, query].exp(), expected / expected.sum())
    assert clipped > 0


def test_residuals_are_labels_minus_predictions() -> None:
    outputs = made_up(3)[0]
    labels = torch.eye(3).double()
    assert torch.allclose(shown_beyond(outputs, labels), labels - outputs.softmax(-1))
    assert torch.equal(
        shown_beyond(outputs[..., :1], labels[:, :1]), labels[:, :1] - outputs[..., :1]
    )


def test_rows_at_an_equal_distance_count_too() -> None:
    squares = 1 + 1e-6 * torch.rand(1, 1, NEAREST + 8)
    assert nearest(squares).all()
    squares[0, 0, 3] += 1
    assert (~nearest(squares)).nonzero().tolist() == [[0, 0, 3]]


def test_invisible_rows_move_nothing() -> None:
    outputs, rows, residuals, reach = made_up()
    invisible = torch.zeros(QUERIES, ROWS, dtype=torch.bool)
    invisible[:, 2:] = True
    result = moved(outputs, rows, residuals, reach, invisible)
    visible = Residuals(residuals.vectors[:, :2], residuals.values[:, :2])
    assert torch.allclose(result, moved(outputs, rows, visible, reach))
    everything = torch.ones(QUERIES, ROWS, dtype=torch.bool)
    assert torch.equal(moved(outputs, rows, residuals, reach, everything), outputs)


def test_only_the_nearest_rows_move_a_value() -> None:
    outputs, rows, _, reach = made_up()
    at_query = normalised(rows[:, [0]]).expand(-1, NEAREST, -1)
    vectors = torch.cat([at_query, -at_query], 1)
    ones = torch.ones(MEMBERS, NEAREST, 1).double()
    values = torch.cat([ones, 1e9 * ones], 1)
    result = moved(outputs[:, [0]], rows[:, [0]], Residuals(vectors, values), reach)
    expected = outputs[:, [0]] + NEAREST / (NEAREST + 1)
    assert torch.allclose(result, expected)


def with_residuals(labels: torch.Tensor, query: torch.Tensor | None = None) -> Context:
    """The context of the network that copies, with other labels."""
    model = copying().precise
    rows = copying().encoded_context
    with torch.no_grad():
        return model.context_with_residuals(rows, labels, query)


def test_residuals_of_near_rows_suffice_for_a_query() -> None:
    _, split = repeated_rows(noise=0.1)
    trained = copying()
    assert len(trained.context_rows) > 4 * NEAREST
    query = trained.encoded(split.test[:1])
    whole = with_residuals(trained.context_labels)
    near = with_residuals(trained.context_labels, query)
    assert whole.residuals is not None and near.residuals is not None
    assert (near.residuals.values == 0).sum() > (whole.residuals.values == 0).sum()
    with torch.no_grad():
        expected = trained.precise.predict(query, whole)
        predicted = trained.precise.predict(query, near)
    assert torch.allclose(predicted, expected, rtol=0, atol=1e-12)


def test_nothing_is_copied_from_an_invisible_row() -> None:
    trained = copying()
    context = with_residuals(trained.context_labels)
    assert context.residuals is not None
    query = trained.encoded(trained.context_rows[:1])
    invisible = torch.arange(len(trained.context_rows))[None] == 0
    before = trained.precise.predict(query, context, invisible)
    context.residuals.values[:, 0] += 1
    assert torch.equal(trained.precise.predict(query, context, invisible), before)
    assert not torch.equal(trained.precise.predict(query, context), before)


def repeated_rows(noise: float) -> tuple[Table, Split]:
    """Every row stands three times, with one target that its features do not explain."""
    generator = np.random.default_rng(0)
    features = np.repeat(generator.normal(size=(100, 2)), 3, axis=0)
    target = np.repeat(generator.normal(size=100), 3) + noise * generator.normal(size=300)
    order = generator.permutation(300)
    return table_of(features[order], target[order]), consecutive(200, 50, 50)


@cache
def copying() -> TrainedCompactNPT:
    """A network that copies, which no test changes."""
    return fitted(SETTINGS, *repeated_rows(noise=0.1), seed=0)


def test_copying_pays_where_rows_repeat() -> None:
    table, split = repeated_rows(noise=0.1)
    trained = copying()
    alone = fitted(SETTINGS.changed(copies=False), table, split, seed=0)
    truth = table.truth[split.test]
    with_copies = np.mean((trained.predict(split.test).values - truth) ** 2)
    without = np.mean((alone.predict(split.test).values - truth) ** 2)
    assert trained.model.copies and not alone.model.copies
    assert with_copies < 0.6 * without


def test_nothing_is_copied_from_noise() -> None:
    table, split = repeated_rows(noise=0.0)
    shuffled = np.random.default_rng(1).permutation(table.truth)
    trained = fitted(SETTINGS, table.with_numbers(2, shuffled), split, seed=0)
    assert not trained.model.copies


@pytest.mark.parametrize(
    ("errors", "lookup", "copies"),
    [(0.9, "off", False), (1.1, "off", True), (1.1, "original", False)],
)
def test_copying_gains_more_than_a_standard_error(
    errors: float, lookup: str, copies: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = np.array([-1.0, 1.0] * 50)

    def losses(trained: TrainedCompactNPT, rows: np.ndarray) -> np.ndarray:
        return noise - errors * 0.1 if trained.model.copies else 0 * noise

    monkeypatch.setattr(TrainedCompactNPT, "_losses", losses)
    settings = SETTINGS.changed(lookup=lookup)
    untrained = TrainedCompactNPT.untrained(settings, CPU, *repeated_rows(noise=0.1), 0)
    assert untrained.with_copying()[0].model.copies == copies


@pytest.mark.parametrize("blind", ["labels_of_others", "between_datapoints"])
def test_blind_twins_copy_nothing(blind: str) -> None:
    table, split = repeated_rows(noise=0.1)
    trained = fitted(SETTINGS.changed(updates=25, **{blind: False}), table, split, seed=0)
    assert not trained.model.copies


def test_own_residual_moves_no_row_of_the_context() -> None:
    """The residual of a row is its label minus a prediction that does not depend on the label."""
    labels = copying().context_labels
    changed = labels.clone()
    changed[7] += 1
    before = with_residuals(labels).residuals
    after = with_residuals(changed).residuals
    assert before is not None and after is not None
    assert torch.allclose(after.values[:, 7] - before.values[:, 7], torch.ones(2, 1).double())


def test_reach_is_saved_with_the_weights(tmp_path: Path) -> None:
    table, split = repeated_rows(noise=0.1)
    path = tmp_path / "weights.pt"
    copying().save(path)
    blind = table.blind(split.test)
    loaded = CompactLearner.load(SETTINGS, Resources(device="cpu"), path, blind, split, 0)
    assert loaded.model.copies
    expected = copying().predict(split.test).values
    assert np.array_equal(loaded.predict(split.test).values, expected)
