"""Trainings: batches, losses, best weights; updates against hand computations."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from npt.compact.layers import MemberLinear
from npt.compact.model import CompactNPT
from npt.compact.optimisation import Optimiser, learning_rate
from npt.compact.settings import CompactSettings
from npt.compact.trained import TrainedCompactNPT
from npt.compact.training import hidden_cells, member_losses
from npt.errors import Infeasible
from tests.conftest import first_split
from tests.npt.compact.tables import (
    CPU,
    PLAIN,
    SEED,
    TINY,
    consecutive,
    fitted,
    mixed_table,
    started,
    weights_of,
)


def test_an_epoch_is_a_partition_of_the_train_rows() -> None:
    training = started(TINY, mixed_table(rows=63))
    count = len(training.data.train)
    per_epoch = count // TINY.batch_size(count)
    assert count % per_epoch > 0
    batches = [training.batch_rows(number) for number in range(1, 3 * per_epoch + 1)]
    for start in range(0, len(batches), per_epoch):
        epoch = batches[start : start + per_epoch]
        assert torch.cat(epoch).sort().values.tolist() == list(range(count))
        assert all(16 <= len(rows) < 32 for rows in epoch)
    assert len({tuple(sorted(rows.tolist())) for rows in batches}) == len(batches)
    training.seed += 1
    assert not torch.equal(training.batch_rows(1), batches[0])


def test_cross_entropy_by_hand() -> None:
    probabilities = torch.tensor([[[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]])
    labels = torch.tensor([[1.0, 0, 0], [0, 1.0, 0]])
    losses = member_losses(probabilities.log(), labels, torch.ones(2))
    assert losses.tolist() == pytest.approx([-(math.log(0.7) + math.log(0.1)) / 2])


@pytest.mark.parametrize("classes", [1, 3])
def test_weights_act_as_repeated_rows(classes: int) -> None:
    torch.manual_seed(0)
    outputs = torch.randn(2, 4, classes)
    labels = torch.randn(4, 1) if classes == 1 else torch.eye(3)[[0, 2, 1, 1]]
    repeats = torch.tensor([1, 3, 0, 2])
    weighted = member_losses(outputs, labels, repeats.float())
    rows = torch.arange(4).repeat_interleave(repeats)
    repeated = member_losses(outputs[:, rows], labels[rows], torch.ones(6))
    assert torch.allclose(weighted, repeated)


def test_rows_without_a_target_are_no_train_rows() -> None:
    table = mixed_table()
    split = first_split(table)
    hidden = np.r_[split.train[:3], split.validation[:2]]
    data = started(TINY, table.hide(hidden, 0), split).data
    assert len(data.train) == len(split.train) - 3
    assert len(data.validation) == len(split.validation) - 2
    assert torch.isfinite(data.train.labels).all()


def test_training_rows_have_their_weights() -> None:
    table = mixed_table()
    split = first_split(table)
    settings = TINY.changed(evaluated_rows=5)
    trained = TrainedCompactNPT.untrained(settings, CPU, table, split, SEED)
    data = trained.training_rows(np.arange(table.rows))
    assert data.train.weights.tolist() == split.train.tolist()
    assert len(data.validation) == 5
    assert set(data.validation.weights.tolist()) <= set(split.validation)


def test_shares_of_hidden_cells_are_those_of_the_members() -> None:
    settings = TINY.changed(members=3, feature_mask=[0.3, 0.0])
    data = started(settings, mixed_table(rows=600)).data
    hidden = hidden_cells(data.train.features, settings)
    assert hidden is not None
    shares = hidden.flatten(1).float().mean(1)
    assert shares.tolist() == pytest.approx([0.3, 0, 0.3], abs=0.03)
    assert not torch.equal(hidden[0], hidden[2])
    assert hidden_cells(data.train.features, PLAIN) is None


STILL = TINY.changed(learning_rate=1e-30, weight_decay=0.0)


@pytest.mark.parametrize(
    "changes", [{"dropout": [0.3]}, {"feature_mask": [0.3]}, {"context_dropout": 0.3}], ids=str
)
def test_every_update_and_seed_has_its_own_draws(changes: dict[str, Any]) -> None:
    training = started(PLAIN.changed(batch_rows=1000, learning_rate=1e-30, **changes))
    losses = []
    for number, seed in ((1, 3), (1, 3), (2, 3), (3, 3), (1, 4)):
        training.seed = seed
        losses.append(training.update(number))
    first, again, *others = losses
    assert first == again
    assert len({first, *others}) == 4


def test_stop_at_keeps_the_averages_of_the_given_updates() -> None:
    settings = TINY.changed(members=3)
    start = started(settings)
    averages = []
    for number in range(1, settings.updates + 1):
        start.update(number)
        averages.append([weight.clone() for weight in start.evaluated_weights()])
    stops = [4, 9, 2]
    result = started(settings, stop_at=stops).run()
    assert result.best_updates == stops
    assert result.updates == 9
    for place, weight in enumerate(result.model.parameters()):
        for member, stop in enumerate(stops):
            assert torch.equal(weight[member], averages[stop - 1][place][member])


@pytest.mark.parametrize(("patience", "updates"), [(10, 15), (11, 20), (1, 10), (1000, 25)])
def test_training_stops_when_no_member_improved(patience: int, updates: int) -> None:
    settings = STILL.changed(patience=patience, updates=25, evaluate_every=5)
    result = started(settings).run()
    assert result.updates == updates
    assert result.best_updates == [5, 5]


def test_last_update_is_evaluated() -> None:
    training = started(TINY.changed(updates=7, evaluate_every=5))
    lines = [training.evaluate(number, 0.0) for number in range(1, 8)]
    assert [line["update"] for line in lines if line is not None] == [5, 7]


def test_training_goes_on_while_one_member_improves() -> None:
    training = started(STILL.changed(patience=10, updates=25))
    training.losses.zero_()
    training.best_updates[:] = [5, 20]
    training.evaluate(25, 0.0)
    assert not training.is_finished


def test_losses_weigh_the_validation_rows() -> None:
    weighted, alone = started(), started()
    rows = weighted.data.validation
    weights = torch.arange(len(rows)) == 3
    weighted.data = replace(weighted.data, validation=replace(rows, weights=weights.float()))
    alone.data = replace(alone.data, validation=rows.take(torch.tensor([3])))
    for training in (weighted, alone):
        training.evaluate(training.settings.updates, 0.0)
    assert weighted.losses.tolist() == pytest.approx(alone.losses.tolist())


def test_diverged_training_is_infeasible() -> None:
    with pytest.raises(Infeasible, match="diverged"):
        fitted(TINY.changed(clip=1e9, learning_rate=10.0, weight_decay=100.0))


@pytest.mark.parametrize("step", ["untrained", "outputs"])
def test_too_little_memory_before_or_after_the_training_is_infeasible(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*arguments: object) -> None:
        raise torch.OutOfMemoryError("tried to allocate 80 GiB")

    monkeypatch.setattr(TrainedCompactNPT, step, refused)
    with pytest.raises(Infeasible, match="out of memory on cpu: tried to allocate"):
        fitted()


@pytest.mark.parametrize(("train_rows", "validation"), [(1, 5), (0, 5), (10, 0)])
def test_too_few_known_targets_are_infeasible(train_rows: int, validation: int) -> None:
    table = mixed_table(rows=20)
    split = consecutive(10, 5, 5)
    hidden = np.r_[split.train[train_rows:], split.validation[validation:]]
    with pytest.raises(Infeasible, match="known target"):
        fitted(table=table.hide(hidden, 0), split=split)


SETTINGS = TINY.changed(weight_decay=0.5, clip=1e9, warmup=0.5)


def gradients(model: CompactNPT, seed: int, scale: float = 1.0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    gradient_of = {}
    for name, parameter in model.named_parameters():
        gradient_of[name] = scale * torch.randn(parameter.shape, generator=generator)
    return gradient_of


def step(
    optimiser: Optimiser, model: CompactNPT, gradient_of: dict[str, Tensor], number: int = 1
) -> None:
    """An update whose gradients are given."""
    terms = [(p * gradient_of[name]).sum() for name, p in model.named_parameters()]
    optimiser.step(torch.stack(terms).sum(), number)


def test_matrices_and_embeddings_alone_have_weight_decay() -> None:
    decayed = {"embedding.weight", "embedding.levels.weight"}
    for name, module in started(SETTINGS).model.named_modules():
        if isinstance(module, MemberLinear):
            decayed.add(f"{name}.weight")
    weights = []
    for decay in (0.0, 0.5):
        model = started(SETTINGS).model
        optimiser = Optimiser(model, SETTINGS.changed(weight_decay=decay))
        step(optimiser, model, gradients(model, 1))
        weights.append(dict(model.named_parameters()))
    for name, weight in weights[0].items():
        assert torch.equal(weight, weights[1][name]) == (name not in decayed), name


def test_learning_rate_at_its_corners() -> None:
    settings = CompactSettings(updates=1000, warmup=0.1, learning_rate=4.0)
    expected = {
        1: 0.01 * 4.0,
        50: 0.5 * 4.0 * 0.5 * (1 + math.cos(math.pi * 0.05)),
        100: 4.0 * 0.5 * (1 + math.cos(math.pi * 0.1)),
        500: 2.0,
        1000: 0.0,
    }
    for update, rate in expected.items():
        assert learning_rate(update, settings) == pytest.approx(rate, rel=1e-5, abs=1e-12)


def test_the_average_equals_a_loop() -> None:
    settings = SETTINGS.changed(weight_average=0.7)
    model = started(settings).model
    optimiser = Optimiser(model, settings)
    step(optimiser, model, gradients(model, 1))
    expected = weights_of(model)  # the average begins with the first weights
    for number in range(2, 41):
        step(optimiser, model, gradients(model, number), number)
        decay = min(0.7, (1 + number) / (10 + number))
        for average, weight in zip(expected, weights_of(model), strict=True):
            average.mul_(decay).add_((1 - decay) * weight)
        for average, weight in zip(optimiser.averages, expected, strict=True):
            assert torch.allclose(average, weight, atol=1e-6)
    assert not all(map(torch.equal, expected, weights_of(model)))


@pytest.mark.parametrize("scale", [1e-6, 1e3])
def test_gradients_have_at_most_the_norm_of_clip(scale: float) -> None:
    settings = SETTINGS.changed(clip=0.5, members=4)
    model = started(settings).model
    gradient_of = gradients(model, 1, scale)
    step(Optimiser(model, settings), model, gradient_of)
    before, after = (
        torch.cat([tensor.flatten() for tensor in tensors]).norm()
        for tensors in (gradient_of.values(), (p.grad for p in model.parameters()))
    )
    assert float(after) == pytest.approx(min(float(before), 0.5 * math.sqrt(4)), rel=1e-4)


def test_members_of_a_kind_take_their_share_of_a_step() -> None:
    moves = []
    for scales in ([1.0], [1.0, 0.25]):
        settings = SETTINGS.changed(members=3, rate_scale=scales)
        model = started(settings).model
        before = weights_of(model)
        step(Optimiser(model, settings), model, gradients(model, 1))
        pairs = zip(weights_of(model), before, strict=True)
        moves.append([after - earlier for after, earlier in pairs])
    for whole, scaled in zip(*moves, strict=True):
        for member, share in enumerate((1.0, 0.25, 1.0)):
            assert torch.allclose(scaled[member], share * whole[member], atol=1e-7)
