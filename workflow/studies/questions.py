"""What each kind of probe asks of a trained model, and which facts of its answer enter the row of a fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from baselines import baselines
from baselines.lookup_task import predict_originals
from npt.interface import Infeasible, Resources
from npt.metrics import score
from npt.perturbation import KINDS, Perturbation
from npt.table import Split, Table

Answer = tuple[dict[str, Any], dict[str, np.ndarray]]  # what enters the row, and arrays by name
NEIGHBOURS = range(1, 11)
SWEPT_ROWS = 20
CONTROL_ROWS = 20
DIGITS = 5


@dataclass(frozen=True)
class Question:
    """A trained model, the whole table with the fold's split, the test rows that are probed, and the scoring of the probe."""

    learner: Any
    table: Table
    split: Split
    rows: np.ndarray
    seed: int
    options: Any
    threads: int

    @property
    def truth(self) -> np.ndarray:
        """Targets (n,) of the probed rows."""
        return self.table.truth[self.rows]

    def under(self, perturbation: Perturbation) -> np.ndarray:
        """Predictions of the probed rows while the others are disturbed."""
        return self.learner.predict_perturbed(self.rows, perturbation, self.seed).values

    def score(self, predicted: np.ndarray) -> dict[str, float]:
        """Metrics of predictions for the probed rows."""
        return score(self.table.task, self.truth, predicted)

    def constant(self) -> np.ndarray:
        """What a model without features would predict: the train rows' mean, or their shares of classes."""
        truth = self.table.truth[self.split.train]
        truth = truth[~np.isnan(truth)]
        if self.table.task == "regression":
            return np.full(len(self.rows), truth.mean())
        shares = np.bincount(
            truth.astype(int), minlength=self.table.columns[self.table.target].size
        ) / len(truth)
        return np.repeat(shares[None], len(self.rows), 0)


def corruption(asked: Question) -> Answer:
    """Predictions with the other rows intact, with each of their columns permuted, and for a few rows with none permuted."""
    clean = asked.learner.predict(asked.rows).values
    corrupted = asked.under(Perturbation("shuffle", 1.0))
    few = replace(asked, rows=drawn(asked.rows, CONTROL_ROWS, asked.seed))
    unpermuted, same = few.under(Perturbation("shuffle", 0.0)), clean[np.isin(asked.rows, few.rows)]
    found = {}
    for name, predicted in (("clean", clean), ("corrupted", corrupted)):
        found |= {f"{name}_{metric}": value for metric, value in asked.score(predicted).items()}
    for name, predicted in (("control_clean", same), ("control", unpermuted)):
        found |= {f"{name}_{metric}": value for metric, value in few.score(predicted).items()}
    return found, {
        "clean": clean,
        "corrupted": corrupted,
        "control_rows": few.rows,
        "control": unpermuted,
    }


def dose_response(asked: Question) -> Answer:
    """The test error as ever more of the other rows are shuffled, or deleted."""
    doses: dict[str, Any] = {}
    arrays, intact = {}, asked.under(Perturbation("shuffle", 0.0))
    for kind in KINDS:
        shares = getattr(asked.options, kind)
        predicted = [intact, *(asked.under(Perturbation(kind, share)) for share in shares[1:])]
        scores = [asked.score(values) for values in predicted]
        doses[kind] = {
            "share": shares,
            **{name: [one[name] for one in scores] for name in scores[0]},
        }
        arrays[kind] = np.stack(predicted)
    constant = {f"constant_{name}": value for name, value in asked.score(asked.constant()).items()}
    return {"doses": doses, **constant}, arrays


def deletion(asked: Question) -> Answer:
    """Which rows are left when as many are deleted as the prediction bears, and how near they are (paper Algorithm 2)."""
    from npt.data.encoding import one_hot_features
    from workflow.studies.deletion.probe import deletions, distances

    features = one_hot_features(asked.table, asked.learner.statistics)
    found = deletions(asked.learner, asked.rows, asked.options, asked.seed)
    measured = np.array([distances(features, one, asked.seed) for one in found])
    left = np.array([one.kept.mean() for one in found])
    duplicates = [
        one.kept[one.context == asked.table.rows + one.row] for one in found
    ]  # of the lookup task
    facts = {
        "context_rows": int(np.mean([len(one.kept) for one in found])),
        "passes": int(np.sum([one.passes for one in found])),
        "left_share": float(left.mean()),
        "change": float(np.mean([one.change for one in found])),
        "partner_kept": float(np.mean(duplicates)) if len(duplicates[0]) else None,
        "distances": {
            **{
                name: _rounded(measured[:, place])
                for place, name in enumerate(("kept", "deleted", "random"))
            },
            "left": _rounded(left),
        },
    }
    sets = {
        "context": np.concatenate([one.context for one in found]),
        "kept": np.concatenate([one.kept for one in found]),
    }
    return facts, {
        **sets,
        "lengths": np.array([len(one.kept) for one in found]),
        "distances": measured,
    }


def attention(asked: Question) -> Answer:
    """Whom every head between datapoints looks at, beside the same heads before any training."""
    from npt.nn.training import build_model
    from workflow.studies.attention.probe import heads

    learner = asked.learner
    trained = heads(learner, asked.table, asked.rows, asked.options.bins)
    fresh = build_model(
        learner.model.layout, learner.settings, asked.seed, learner.data.codes.device
    ).eval()
    before = heads(learner, asked.table, asked.rows, asked.options.bins, fresh)
    facts = [
        {
            "layer": one.layer,
            "head": one.head,
            "nearness": _rounded(one.nearness),
            "typical": _rounded(one.typical),
            "untrained": _rounded(earlier.nearness),
            "reach": _rounded(one.reach),
            "partner": None if np.isnan(one.partner).all() else _rounded(one.partner),
        }
        for one, earlier in zip(trained, before, strict=True)
    ]
    shown = [[_rounded(line) for line in one.relative] for one in trained]
    arrays = {f"relative_{one.layer}_{one.head}": one.relative for one in trained}
    return {"heads": {"heads": facts}, "maps": {"rows": shown}}, arrays


def lookup(asked: Question) -> Answer:
    """Predictions beside the duplicates, without them, by others, and while duplicates' targets are swept."""
    from workflow.studies.lookup.probe import by_neighbours, intervened
    from workflow.studies.lookup.probe import looked_up as looked_up_by

    learner, table, split, seed = asked.learner, asked.table, asked.split, asked.seed
    rows = asked.rows[~np.isnan(asked.truth)]
    truth = table.truth[rows]
    predicted = looked_up_by(learner, table, split, rows)
    alone = looked_up_by(learner, table, split, rows, duplicates=False)
    neighbours = [
        _rmse(one, truth) for one in by_neighbours(learner, table, rows, NEIGHBOURS, seed)
    ]
    best = int(np.argmin(neighbours))
    beside = {name: _by_baseline(asked, name, rows) for name in asked.options.beside}
    swept = drawn(rows, SWEPT_ROWS, seed)
    sweep = intervened(learner, table, split, swept)
    shift = (
        float(learner.statistics.scale[table.target]) if "add_one" in learner.settings.lookup else 0.0
    )
    each = [np.polyfit(sweep.values, line, 1)[0] for line in sweep.predicted]
    every, answers = np.tile(sweep.values, len(swept)), sweep.predicted.ravel()
    found = {
        "lookup": learner.settings.lookup,
        "rmse": _rmse(predicted, truth),
        "correlation": float(np.corrcoef(predicted, truth)[0, 1]),
        "alone_rmse": _rmse(alone, truth),
        "nearest_rmse": neighbours[0],
        "neighbours_rmse": neighbours[best],
        "neighbours": NEIGHBOURS[best],
        **{f"{name}_rmse": _rmse(values, truth) for name, (values, _) in beside.items()},
        "beside_reasons": "; ".join(reason for _, reason in beside.values() if reason),
        "constant_rmse": _rmse(np.full(len(truth), learner.statistics.centre[table.target]), truth),
        "shift": shift,
        "intervention_correlation": float(np.corrcoef(every, answers)[0, 1]),
        "intervention_slope": float(np.polyfit(every, answers, 1)[0]),
        "intervention_rmse": _rmse(answers, every - shift),
        "intervention_others": float(np.median(sweep.others)),
        "sweep": {
            "values": sweep.values.tolist(),
            "predicted": sweep.predicted.tolist(),
            "slopes": _rounded(np.array(each)),
            "correlations": _rounded(
                np.array([np.corrcoef(sweep.values, line)[0, 1] for line in sweep.predicted])
            ),
        },
    }
    return found, {
        "looked_up": predicted,
        "alone": alone,
        "sweep_rows": swept,
        "sweep": sweep.predicted,
    }


QUESTIONS: dict[str, Callable[[Question], Answer]] = {
    "corruption": corruption,
    "dose_response": dose_response,
    "deletion": deletion,
    "attention": attention,
    "lookup": lookup,
}


def _by_baseline(asked: Question, name: str, rows: np.ndarray) -> tuple[np.ndarray, str]:
    """Predictions of the originals by a baseline that has the duplicates, or NaN and the reason."""
    from workflow.studies.lookup.probe import halves

    learner, table, baseline = asked.learner, asked.table, baselines()[name]
    blind = table.blind(asked.split.test)
    duplicates = halves(learner, table, rows, asked.seed)
    resources = Resources(asked.threads, str(learner.device))
    try:
        values = predict_originals(name, blind, asked.split, duplicates, asked.seed, resources)
    except Infeasible as error:
        return np.full(len(rows), np.nan), f"{baseline.title}: {error}"
    return values, ""


def drawn(rows: np.ndarray, most: int, seed: int) -> np.ndarray:
    """At most so many of the rows, in order."""
    return (
        rows
        if most >= len(rows)
        else np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))
    )


def _rmse(predicted: np.ndarray, truth: np.ndarray) -> float:
    return score("regression", truth, predicted)["rmse"]


def _rounded(values: np.ndarray) -> list[float | None]:
    """Five significant digits, as JSON has them."""
    return [None if np.isnan(value) else float(f"{value:.{DIGITS}g}") for value in values]
