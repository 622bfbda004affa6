"""Collected studies of every probe kind whose results are known."""

from typing import Any

import numpy as np
import pandas as pd

from npt.metrics import PAPER_METRICS
from tests.rows import failed, row, study_frame
from workflow.config.scoring import Scoring
from workflow.presentation.published import published, published_summary

SCORING = Scoring(PAPER_METRICS)
NO_MODEL = "training failed"


def dose_study() -> pd.DataFrame:
    """NPT ignores shuffled rows; k-NN has all of its skill from other rows."""
    classes = {
        "shuffle": {"share": [0.0, 1.0], "accuracy": [0.9, 0.9], "nll": [0.3, 0.3]},
        "delete": {"share": [0.0, 0.9], "accuracy": [0.9, 0.7], "nll": [0.3, 0.8]},
    }
    accurate = {"doses": classes, "constant_accuracy": 0.6}
    rows = [
        _doses("npt", 0, [1.0, 1.0], [1.0, 3.5]),
        _doses("npt", 1, [3.0, 3.0], [3.0, 5.5]),
        _doses("knn", 0, [6.0, 11.0], [6.0, 13.5]),
        _doses("knn", 1, [6.0, 11.0], [6.0, 13.5]),
        row("npt", dataset="breast_cancer", **accurate),
        failed("knn", dataset="breast_cancer", reason=NO_MODEL),
    ]
    return study_frame(rows, "doses")


def _doses(method: str, fold: int, shuffled: list[float], deleted: list[float]) -> Any:
    doses = {
        "shuffle": {"share": [0.0, 1.0], "rmse": shuffled},
        "delete": {"share": [0.0, 0.9], "rmse": deleted},
    }
    return row(method, fold, doses=doses, constant_rmse=11.0)


def deletion_study(
    kept: list[float | None], dataset: str = "protein", partner: float | None = None
) -> pd.DataFrame:
    """A probed row for each distance to the kept rows; half of them can be reduced to 1 %."""
    count = len(kept)
    distances = {
        "kept": kept,
        "deleted": [10.0] * count,
        "random": [9.0] * count,
        "left": [0.01, 0.5] * (count // 2),
    }
    facts = {"rows": count, "distances": distances, "partner_kept": partner}
    rows = [row("npt", dataset=dataset, **facts), failed("npt", reason=NO_MODEL)]
    return study_frame(rows, "deletion")


def attention_study() -> pd.DataFrame:
    """Two layers with two heads; the second head of each is local."""
    near = [0.5, 0.6, 0.4, 0.7, 0.55, 0.3, 0.45, 0.65]
    heads = []
    for layer in (0, 2):
        for head in (0, 1):
            nearness = near if head else [-value for value in near]
            facts = {"layer": layer, "head": head, "nearness": nearness, "partner": None}
            constants = {"untrained": [0.1] * 8, "typical": [0.2] * 8, "reach": [0.5] * 8}
            heads.append({**facts, **constants})
    maps = {"rows": [[[2.0, 1.0, 0.5]] * 8] * 4}
    rows = [
        row("npt", heads={"heads": heads}, maps=maps),
        failed("npt", dataset="concrete", reason=NO_MODEL),
    ]
    return study_frame(rows, "attention")


def corruption_study() -> pd.DataFrame:
    """RMSE doubles; accuracy falls by 10 and by 20 points, and NLL grows by 0.1 and 0.2."""
    rows = [_corrupted("npt", "yacht", 0, {"rmse": (1.0, 2.0)})]
    for fold, loss in enumerate((0.1, 0.2)):
        metrics = {"accuracy": (0.9, 0.9 - loss), "nll": (0.3, 0.3 + loss)}
        rows.append(_corrupted("npt", "breast_cancer", fold, metrics))
    rows.append(failed("knn", dataset="breast_cancer", reason=NO_MODEL))
    return study_frame(rows, "corruption")


def ratios_study(ratios: dict[str, list[float]], **changes: Any) -> pd.DataFrame:
    """RMSE on the folds of Yacht: 2, and corrupted times a ratio; movements of half a deviation."""
    facts = {"train_rows": 70, "test_rows": 10, "corrupted_shift": 1.0, "target_deviation": 2.0}
    rows = []
    for method, fold_ratios in ratios.items():
        for fold, ratio in enumerate(fold_ratios):
            metrics = {"rmse": (2.0, 2.0 * ratio)}
            rows.append(_corrupted(method, "yacht", fold, metrics, **{**facts, **changes}))
    return study_frame(rows, "corruption")


def _corrupted(
    method: str, dataset: str, fold: int, metrics: dict[str, tuple[float, float]], **changes: Any
) -> Any:
    """A probed row with each metric, clean and corrupted."""
    facts = {}
    for metric, (clean, corrupted) in metrics.items():
        facts[f"corrupted_{metric}"] = corrupted
        for state in ("clean", "control_clean", "control"):
            facts[f"{state}_{metric}"] = clean
    return row(method, fold, dataset, **{**facts, **changes})


def selections_study(folds: int = 2) -> pd.DataFrame:
    """Labels of train rows matter, those of test rows do not; two permutations of each row."""
    options = {"columns": ["target"], "rows": ["train", "test"], "permutations": 2}
    rows = []
    for fold in range(folds):
        facts = {"options": options}
        for state in ("clean", "control_clean", "control", "corrupted_target_test"):
            facts[f"{state}_rmse"] = 2.0
        facts["corrupted_target_train_rmse"] = 3.0 + fold
        samples = np.linspace(-100, 0, 1001) - 40 * fold
        facts["corrupted_target_train_bootstrap"] = {"changes": samples.tolist()}
        facts["corrupted_target_test_bootstrap"] = {"changes": [0.0] * 1001}
        rows.append(row("npt", fold, "yacht", **facts))
    return study_frame(rows, "corruption")


def lookup_study(dataset: str = "protein") -> pd.DataFrame:
    """A lookup model, a baseline and the intervention; two folds."""
    values = [0.0, 1.0, 2.0]
    rows = []
    for fold, rmse in enumerate((0.5, 0.7)):
        facts = {
            "lookup": "add_one",
            "rmse": rmse,
            "mlp_rmse": 1.5,
            "compare_with_reasons": "",
            "shift": 1.0,
            "sweep": {"values": values, "predicted": [values, values]},
        }
        rows.append(row("npt", fold, dataset, variant="lookup", **facts))
    rows.append(failed("npt", dataset="concrete", variant="lookup", reason=NO_MODEL))
    return study_frame(rows, "lookup")


def benefit_study(folds: int = 3) -> pd.DataFrame:
    """NPT depends on labels of other rows and does not benefit from them; k-NN has no twins.

    RMSE grows to about 3 when labels are permuted, and to about 1 without them in training.
    """
    rows = []
    for fold in range(folds):
        shift = 0.1 * (fold - 1)
        rows += [
            _base("npt", fold, permuted={"all": 3.0, "target": 2.0 + shift}),
            _base("knn", fold, permuted={"all": 5.0 + shift, "target": 4.0}),
            _twin("without_datapoints", fold, 2.0 + 0.1 * fold),
            _twin("without_labels", fold, 1.0 + shift),
            _twin("without_attributes", fold, 1.5 + 0.5 * shift),
        ]
    return study_frame(rows, "benefit")


def _base(method: str, fold: int, permuted: dict[str, float]) -> Any:
    """A probed row with an RMSE of 1, which grows by that of each permutation."""
    facts: dict[str, Any] = {"test_rmse": 1.0, "clean_rmse": 1.0}
    for columns, state in (("all", "corrupted"), ("target", "corrupted_target_all")):
        facts[f"{state}_rmse"] = 1.0 + permuted[columns]
    return row(method, fold, "yacht", **facts, train_rows=70, test_rows=10)


def _twin(variant: str, fold: int, rmse: float) -> Any:
    facts = {"test_rmse": rmse, "train_rows": 70, "test_rows": 10}
    return row("npt", fold, "yacht", variant=variant, **facts)


def context_study(folds: int = 2) -> pd.DataFrame:
    """Two models; NPT needs fewer rows at prediction than in training, k-NN as many."""
    rows = []
    for fold in range(folds):
        rows += [
            _context("npt", fold, [1.0, 1.5, 2.0]),
            _context("knn", fold, [2.0, 4.0, 8.0]),
            _trained_on("npt", 50, fold, 3.0),
            _trained_on("npt", 10, fold, 6.0),
            _trained_on("knn", 50, fold, 4.0),
            failed("knn", fold, "n_neighbors 20 is too many", variant="train_10_percent"),
        ]
    return study_frame(rows, "context")


def _context(method: str, fold: int, errors: list[float]) -> Any:
    shares = [1.0, 0.5, 0.1]
    facts: dict[str, Any] = {
        "options": {"shares": shares, "retrained": None},
        "contexts": {"share": shares, "rows": [70, 35, 7], "rmse": errors},
        "test_rmse": errors[0],
        "constant_rmse": 10.0,
    }
    return row(method, fold, "yacht", **facts, train_rows=70, test_rows=10)


def _trained_on(method: str, percent: int, fold: int, rmse: float) -> Any:
    rows = 70 * percent // 100
    variant = f"train_{percent}_percent"
    return row(method, fold, variant=variant, test_rmse=rmse, train_rows=rows, test_rows=10)


STUDIES = {
    "context": context_study(),
    "benefit": benefit_study(),
    "corruption": corruption_study(),
    "dose_response": dose_study(),
    "deletion": deletion_study([5.0, 4.0, None, 3.0]),
    "attention": attention_study(),
    "lookup": lookup_study(),
}


def published_study() -> pd.DataFrame:
    """The results behind the paper's Table 1 as a study of one fold."""
    frames = []
    for task, metric in PAPER_METRICS.items():
        column = published()["table_1_average_rank"][metric]
        summary = published_summary(metric, column["datasets"], column["rank"])
        assert summary is not None
        status = np.where(summary["mean"].isna(), "failed", "ok")
        rows = summary.rename(columns={"mean": f"test_{metric}"})
        frames.append(rows.assign(task=task, fold=0, status=status))
    return pd.concat(frames, ignore_index=True)
