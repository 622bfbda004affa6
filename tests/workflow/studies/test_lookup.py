"""The lookup probe: NPT reads targets off duplicates, and nothing else can."""

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from baselines.grids import BaselineSettings
from npt.data.encoding import statistics
from npt.nn.probe import NPTProbe
from npt.nn.settings import Lookup
from npt.nn.trained import TrainedNPT
from npt.table import Split, Table
from tests.workflow.studies.frames import SCORING, lookup_study
from tests.workflow.studies.models import LOOKUP, fitted, lookup_npt, unrelated
from workflow.studies import kinds
from workflow.studies.lookup import probe as lookup_probe
from workflow.studies.lookup.probe import duplicates_of, neighbour_facts
from workflow.studies.query import ProbeQuery

Model = tuple[TrainedNPT, Table, Split]


@pytest.fixture(scope="module")
def model() -> Model:
    return lookup_npt()


def correlation(predictions: np.ndarray, truth: np.ndarray) -> float:
    return float(np.corrcoef(predictions, truth)[0, 1])


def rmse(predictions: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((predictions - truth) ** 2)))


def with_target(model: Model, row: int, value: float) -> float:
    """Prediction of a row where its target in the table, which its duplicate shows, is `value`."""
    trained, table, split = model
    truth = table.truth
    truth[row] = value
    changed = table.with_numbers(table.target, truth)
    return trained.with_table(changed, split).predict(np.array([row])).values[0]


def test_npt_reads_the_target_off_the_duplicate_only(model: Model) -> None:
    trained, table, split = model
    truth = table.truth[split.test]
    assert correlation(trained.predict(split.test).values, truth) > 0.7
    alone = NPTProbe(trained).without_duplicates().predict(split.test)
    assert abs(correlation(alone, truth)) < 0.2


def test_a_prediction_follows_the_target_of_its_duplicate(model: Model) -> None:
    trained, table, split = model
    rows = split.test[::40]
    sweep = NPTProbe(trained).intervention(table, split, rows, sweep=5)
    assert sweep.predictions.shape == (len(rows), 5)
    followed = np.median(np.ptp(sweep.predictions, axis=1))
    assert followed > 1.5
    assert np.median(sweep.others) < followed
    assert correlation(np.tile(sweep.values, len(rows)), sweep.predictions.ravel()) > 0.6
    for row, line in zip(rows[:2], sweep.predictions[:2], strict=True):
        for value, prediction in zip(sweep.values, line, strict=True):
            assert with_target(model, row, value) == pytest.approx(prediction, abs=1e-4)


def test_an_intervention_keeps_the_marks_of_released_variants() -> None:
    model = lookup_npt(90, lookup="released_add_one", updates=1)
    trained, table, split = model
    row = split.test[0]
    sweep = NPTProbe(trained).intervention(table, split, split.test[:1], sweep=3)
    shift = statistics(table, split).scale[table.target]  # the duplicate shows it larger by this
    for value, prediction in zip(sweep.values, sweep.predictions[0], strict=True):
        assert with_target(model, row, value - shift) == pytest.approx(prediction, abs=1e-4)


def test_missing_targets_are_not_swept() -> None:
    trained, table, _ = lookup_npt(90, lookup="add_one", updates=1)
    truth = table.truth
    truth[truth.argmax()] = np.nan
    values = NPTProbe(trained).swept_values(table.with_numbers(table.target, truth), 2)
    assert values.tolist() == [np.nanmax(truth), np.nanmin(truth)]


def test_the_nearest_neighbour_is_exact_or_off_by_the_shift() -> None:
    table, split = unrelated(300)
    deviation = statistics(table, split).scale[table.target]
    trained = fitted(LOOKUP.changed(updates=1), table, split)
    query = ProbeQuery(NPTProbe(trained), table, split, split.test, 0, options=None)
    errors = {}
    for variant in set(get_args(Lookup)) - {"off"}:
        facts = neighbour_facts(query, duplicates_of(query, variant))
        assert facts["neighbours_rmse"] <= facts["nearest_rmse"]
        errors[variant] = facts["nearest_rmse"]
    assert errors["original"] == pytest.approx(0, abs=1e-12)
    assert errors["add_one"] == errors["released_add_one"] == pytest.approx(deviation)
    assert errors["random_features"] > 0.5
    assert errors["random_features_add_one"] > 0.5
    assert errors["released_random_features"] > errors["random_features"] / 2


def test_the_probe_shows_test_targets_on_the_duplicates() -> None:
    trained, table, split = lookup_npt(90, lookup="add_one", updates=1)
    blind = NPTProbe(trained.with_table(table.blind(split.test), split))
    kind = kinds()["lookup"]
    options = kind.options(compare_with=["linear"])
    facts, arrays = kind.probe(ProbeQuery(blind, table, split, split.test, 0, options))
    truth = table.truth[split.test]
    assert arrays["looked_up"] == pytest.approx(trained.predict(split.test).values)
    assert facts["rmse"] == pytest.approx(rmse(arrays["looked_up"], truth))
    assert facts["alone_rmse"] == pytest.approx(rmse(arrays["alone"], truth))
    assert facts["alone_rmse"] != facts["rmse"]
    shift = trained.statistics.scale[table.target]
    assert facts["shift"] == facts["nearest_rmse"] == pytest.approx(shift)
    assert (facts["neighbours"], facts["neighbours_rmse"]) == (1, facts["nearest_rmse"])
    assert (facts["linear_rmse"] > 0, facts["compare_with_reasons"]) == (True, "")
    values = np.array(facts["sweep"]["values"])
    predicted = np.array(facts["sweep"]["predicted"])
    assert facts["intervention_rmse"] == pytest.approx(rmse(predicted, values - shift))


@pytest.mark.parametrize("transductive", [True, False])
def test_baselines_are_encoded_as_the_probed_model(
    model: Model, transductive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained, table, split = model
    probed = replace(trained, settings=trained.settings.changed(transductive=transductive))
    encodings = []

    def recorded(name: str, settings: BaselineSettings, *arguments: Any) -> np.ndarray:
        encodings.append(settings.transductive)
        return np.zeros(len(split.test))

    monkeypatch.setattr(lookup_probe, "predict_originals", recorded)
    options = kinds()["lookup"].options(compare_with=["mlp"])
    query = ProbeQuery(NPTProbe(probed), table, split, split.test, 0, options)
    lookup_probe.baseline_facts(query, lookup_probe.duplicates_of(query, "original"))
    assert encodings == [transductive]


def test_a_lookup_model_needs_the_duplicate(model: Model) -> None:
    """The positive control: with the target on a duplicate, the search keeps it."""
    trained, table, split = model
    clear = np.abs(trained.predict(split.test).values) > 0.5
    rows = split.test[clear][:8]
    kind = kinds()["deletion"]
    options = kind.options(retries=5, left=0.1)  # type: ignore[call-arg]
    facts, _ = kind.probe(ProbeQuery(NPTProbe(trained), table, split, rows, 0, options))
    assert facts["partner_kept"] >= 6 / 8
    assert facts["left_share"] < 0.6
    distances = facts["distances"]
    assert np.mean(distances["kept"]) < np.mean(distances["random"])


def test_a_mean_of_a_baseline_is_of_all_folds_or_none() -> None:
    study = lookup_study()
    compared = study.index[study["mlp_rmse"].notna()]
    study.loc[compared[0], "mlp_rmse"] = np.nan
    tidy = kinds()["lookup"].view.table("lookup", study, SCORING).tidy
    assert tidy["mlp_rmse"].isna().all()
