"""Every cell of the paper's Tables 1 to 13 has its state, from rows and from plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from npt.provenance import ROOT
from performance.reproduction.cells import PublishedCell, published_cells
from performance.reproduction.curves import curve_row
from performance.reproduction.page import agreement, cell_text, counts, page, source_marks
from performance.reproduction.quantities import Ablated, Change, ConfigurationRank, LookedUp, Score
from performance.reproduction.sources import CONFIGURATIONS, Committed, Source, plan_of
from performance.reproduction.states import (
    IMPOSSIBLE,
    CellState,
    State,
    cell_states,
    planning,
    state_of,
)
from tests.rows import row, study_frame
from workflow.config.reading import read_file
from workflow.planning.plan import Plan
from workflow.report.published import published

PAGE = ROOT / "results" / "reference" / "REPRODUCTION.md"
SYMBOLS = "".join(state.value for state in State)
TABLE_12 = published()["table_12_mse"]["cells"]


def source(name: str) -> Source:
    configuration, study = name.split("/")
    plan = plan_of(configuration)
    return Source(configuration, plan, plan.studies[study])


def committed(name: str, *rows: Any) -> tuple[Committed]:
    return (Committed(source(name), study_frame(rows, name)),)


def cell(table: int, title: str, column: str) -> PublishedCell:
    (found,) = [cell for cell in published_cells() if cell.key == (table, title, column)]
    return found


def npt_rows(dataset: str, values: list[float], **changes: Any) -> list[Any]:
    rows = []
    for fold, value in enumerate(values):
        rows.append(row("npt", fold, dataset, test_rmse=value, test_mse=value**2, **changes))
    return rows


def text_of(state: CellState) -> str:
    return cell_text(state, source_marks([state]))


def printed_cells(node: Any) -> Iterator[str]:
    """Printed texts anywhere below a node of `published.json`, without standard deviations."""
    if not isinstance(node, dict):
        return
    if "printed" in node:
        text = node["printed"]
        yield text.partition("±")[0] if "standard_deviation" in node else text
    for value in node.values():
        yield from printed_cells(value)


def printed_in_paper() -> Counter[tuple[int, str]]:
    """Texts by table; of Tables 2, 6 and 7, which have numbers, only how many there are."""
    texts: Counter[tuple[int, str]] = Counter()
    for name, content in published().items():
        number = name.removeprefix("table_").partition("_")[0]
        if name.startswith("table_") and number != "2":
            texts.update((int(number), text) for text in printed_cells(content))
    changes = published()["table_2_corruption"]
    texts[2, ""] = sum(len(part) for name, part in changes.items() if name.startswith("change_"))
    for number, dataset in ((6, "protein"), (7, "higgs")):
        for method in published()["tables_6_and_7_cost"]["cells"][dataset].values():
            costs = [method["printed"], *(method[name] for name in ("cpus", "memory_gb"))]
            texts[number, ""] += len(costs) + (method["gpu_memory_gb"] is not None)
    return texts


def printed_on_page() -> Counter[tuple[int, str]]:
    """Texts by table of all cells of the page that start with a symbol."""
    texts: Counter[tuple[int, str]] = Counter()
    table = 0
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            title = line.removeprefix("## Table ")
            table = int(title) if title.isdigit() else 0
        if not table or not line.startswith("|"):
            continue
        for text in line.strip("|").split("|"):
            symbol, _, rest = text.strip().partition(" ")
            if symbol and symbol in SYMBOLS:
                printed = rest.partition("<br>")[0].partition("<sup>")[0]
                printed = printed.replace(" ± ", "±").strip()
                if table == 12 or rest.startswith("3.40 ± 0.02"):  # of standard deviations
                    printed = printed.partition("±")[0]
                texts[table, "" if table in (2, 6, 7) else printed] += 1
    return texts


def test_the_page_is_current() -> None:
    assert page() == PAGE.read_text(encoding="utf-8")
    text = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    all_tables = counts().splitlines()[:3]
    assert "\n".join(all_tables) in text
    assert agreement() in text


def test_every_published_cell_is_on_the_page_once() -> None:
    assert printed_on_page() == printed_in_paper()


def test_no_two_cells_have_the_same_place() -> None:
    keys = [cell.key for cell in published_cells()]
    assert len(set(keys)) == len(keys) > 400


def test_every_reason_belongs_to_a_cell() -> None:
    rows = {(cell.table, cell.row) for cell in published_cells()}
    tables = {(cell.table, "") for cell in published_cells()}
    assert set(IMPOSSIBLE) <= rows | tables


@cache
def fresh_plan(configuration: str) -> Plan:
    return Plan.of(read_file(CONFIGURATIONS / f"{configuration}.yaml"))


def planned_keys(planned: Source) -> set[str]:
    """Keys of the rows that the named study of the named configuration needs."""
    study = fresh_plan(planned.configuration).studies[planned.study.name]
    return {expected.key for expected in study.expected}


@pytest.mark.parametrize("metric", ["accuracy", "nll", "auroc", "rmse", "mse"])
def test_planned_scores_are_in_the_named_plan(metric: str) -> None:
    checked = 0
    for state in cell_states():
        quantity = state.cell.quantity
        if not isinstance(quantity, Score) or quantity.metric != metric or not state.planned:
            continue
        keys = planned_keys(state.planned)
        assert f"{quantity.dataset}/{quantity.method}/{quantity.variant}" in keys
        checked += 1
    assert checked >= 36


def test_planned_variants_are_in_the_named_plan() -> None:
    checked = 0
    for state in cell_states():
        quantity = state.cell.quantity
        if not isinstance(quantity, Ablated | ConfigurationRank) or not state.planned:
            continue
        keys = planned_keys(state.planned)
        key = f"{quantity.dataset}/npt/{quantity.variant}"
        if key == "income/npt/no_feature_masking" and key not in keys:
            key = "income/npt/base"
        assert key in keys
        checked += 1
    assert checked > 70


def test_planned_probes_are_in_the_named_plan() -> None:
    checked = 0
    for state in cell_states():
        quantity = state.cell.quantity
        if not isinstance(quantity, Change | LookedUp) or not state.planned:
            continue
        plan = fresh_plan(state.planned.configuration)
        study = plan.studies[state.planned.study.name]
        runs = [run for run in plan.runs_of(study) if run.dataset == quantity.dataset]
        assert runs
        if isinstance(quantity, LookedUp):
            assert quantity.task in {run.settings["lookup"] for run in runs}
        checked += 1
    assert checked > 20


def test_mean_ranks_are_planned_with_all_methods() -> None:
    for state in cell_states():
        if state.cell.table != 1:
            continue
        assert state.planned is not None
        keys = {expected.key for expected in state.planned.study.expected}
        assert len({key for key in keys if key.endswith(("/base", "/tuned"))}) == 10 * 9
        assert state.state is State.PLANNED


def test_quantity_without_a_plan_is_not_planned() -> None:
    unplanned = [
        Ablated("table_4_ablation", "protein", "layers_99", "rmse"),
        Score("protein", "npt", "rmse", least_folds=99),
        LookedUp("protein", "original", "rmse", compared="no_method"),
    ]
    for quantity in unplanned:
        assert planning(quantity) is None
        state = state_of(PublishedCell(4, "row", "column", "1.0", quantity), ())
        assert state.state is State.UNPLANNED


@pytest.mark.parametrize(("method", "state"), [("1-NN", "●"), ("NPT", "○")])
def test_neighbours_do_not_depend_on_the_size_of_npt(method: str, state: str) -> None:
    facts = {"lookup": "original", "rmse": 0.5, "nearest_rmse": 0.27}
    rows = [row("npt", 0, "protein", variant="lookup", **facts)]
    result = state_of(cell(3, method, "Original"), committed("lookup_cpu/lookup", *rows))
    assert text_of(result).startswith(state)


def test_smaller_training_on_some_folds_is_reduced() -> None:
    rows = npt_rows("yacht", [1.0, 1.2, 1.4])
    state = state_of(cell(11, "NPT", "Yacht"), committed("paper_tenth/yacht", *rows))
    (result,) = state.results
    assert state.state is State.REDUCED
    assert "folds: 3 of 10" in result.reductions
    assert "`updates`: 1,000 instead of 10,000" in result.reductions
    assert "configurations: 1 of 8" in result.reductions
    # The error is 0.2 / √3; the paper prints 1.27 ± 0.15.
    assert text_of(state).startswith("◐ 1.27 ± 0.15<br>◐ 1.20 ± 0.12 (−0.4)")


def test_single_fold_has_no_error_and_no_difference() -> None:
    state = state_of(
        cell(11, "NPT", "Yacht"), committed("paper_tenth/yacht", *npt_rows("yacht", [1.3]))
    )
    assert text_of(state) == "◐ 1.27 ± 0.15<br>◐ 1.30 <sup>a</sup>"


def test_a_cell_with_a_failed_fold_is_planned() -> None:
    rows = [*npt_rows("yacht", [1.0, 1.2]), row("npt", 2, "yacht", status="failed", reason="x")]
    state = state_of(cell(11, "NPT", "Yacht"), committed("paper_tenth/yacht", *rows))
    assert state.state is State.PLANNED


def test_another_setting_is_not_the_cell() -> None:
    rows = npt_rows("boston_housing", [3.0, 3.2])
    state = state_of(cell(11, "NPT", "Boston Housing"), committed("ablations/table_4", *rows))
    assert state.state is State.PLANNED


def test_full_grid_on_all_folds_is_regenerated() -> None:
    search = {"grid": 480, "configurations": 480}
    rows = []
    for fold in range(10):
        rows.append(row("knn", fold, "yacht_legacy", test_rmse=12.0 + fold % 2, **search))
    yacht = cell(11, "k-NN", "Yacht")
    state = state_of(yacht, committed("baselines/legacy", *rows))
    assert state.state is State.REGENERATED
    part = state_of(yacht, committed("baselines/legacy", *rows[:9]))
    assert part.results[0].reductions == ("folds: 9 of 10",)


def test_best_of_all_configurations_is_regenerated() -> None:
    rows = npt_rows("yacht", [1.0] * 10, variant="tuned")
    state = state_of(cell(11, "NPT", "Yacht"), committed("paper/main", *rows))
    assert state.state is State.REGENERATED
    assert state.results[0].measured.variant == "tuned"


def test_reduced_value_beside_a_full_one_counts_as_reduced() -> None:
    whole = {"grid": 480, "configurations": 480}
    rows = [row("knn", fold, test_rmse=12.0 + fold % 2, **whole) for fold in range(10)]
    both = committed("baselines/main", *rows) + committed("row_models/main", *rows[:3])
    state = state_of(cell(11, "k-NN", "Yacht"), both)
    assert state.state is State.REGENERATED
    assert [result.state for result in state.results] == [State.REGENERATED, State.REDUCED]
    values = text_of(state).split("<br>")[1:]
    assert [value[0] for value in values] == ["●", "◐"]


def test_values_at_full_size_are_within_two_errors() -> None:
    lines = [line.split(" | ") for line in agreement().splitlines()]
    (counts,) = [line for line in lines if line[:2] == ["| cross-validation", "regenerated"]]
    assert [text.strip(" |") for text in counts[2:]] == ["54", "39", "54", "0", "1.6"]


def test_budget_of_the_grid_is_reduced() -> None:
    states = {state.cell.key: state for state in cell_states()}
    state = states[11, "MLP", "Yacht"]
    assert state.state is State.REDUCED
    for result in state.results:
        assert result.reductions == ("configurations: 100 of 11,340",)


def test_printed_deviations_become_standard_errors() -> None:
    search = {"grid": 480, "configurations": 480}
    rows = [row("knn", fold, test_mse=100.0 * (1 + fold), **search) for fold in range(2)]
    state = state_of(cell(12, "k-NN", "Yacht"), committed("baselines/main", *rows))
    assert TABLE_12["yacht"]["knn"]["printed"] == "149±52.6"
    # Deviation 70.7, so an error of 50; the paper's is 52.6 / √10 = 16.6: 1.0 / 52.7.
    assert text_of(state).startswith("◐ 149 ± 16.6<br>◐ 150.0 ± 50.0 (0.0)")
    assert cell(4, "base, five folds", "Protein").printed == "3.40±0.02"


def test_accuracy_is_in_percent() -> None:
    search = {"grid": 480, "configurations": 480}
    rows = []
    for fold in range(10):
        rows.append(row("knn", fold, "breast_cancer", test_accuracy=0.95, **search))
    state = state_of(cell(8, "k-NN", "Breast Cancer"), committed("baselines/main", *rows))
    assert "<br>● 95.00 ± 0.00 " in text_of(state)


def test_corruption_of_some_cells_is_not_the_papers() -> None:
    plan = Plan.of(read_file(ROOT / "workflow" / "configs" / "paper_tenth.yaml"))
    change = Change("yacht")
    assert change.planned_key(plan, plan.studies["corruption"]) == "yacht/npt/target_mask_0.5"
    assert change.planned_key(plan, plan.studies["labels_or_features"]) is None


def test_corruption_states_the_other_label_mask() -> None:
    facts = {"variant": "target_mask_0.5", "clean_rmse": 1.0, "corrupted_rmse": 1.5}
    rows = [row("npt", fold, "yacht", **facts) for fold in range(2)]
    state = state_of(cell(2, "Yacht", "Change"), committed("paper_tenth/corruption", *rows))
    (result,) = state.results
    assert result.measured.value == pytest.approx(-50)
    assert "`target_mask`: 0.5 instead of 0.1" in result.reductions


def test_lookup_task_and_configuration_ranks_are_read() -> None:
    lookup = {"variant": "lookup", "lookup": "original", "rmse": 0.4, "nearest_rmse": 0.1}
    study = study_frame([row("npt", 0, "protein", **lookup)], "lookup")
    (nearest,) = LookedUp("protein", "original", "nearest_rmse").measured(study)
    assert nearest.value == 0.1
    assert LookedUp("protein", "add_one", "nearest_rmse").measured(study) == []
    variants = sorted(published()["table_13_configuration_rank"]["cells"]["yacht"])
    ranked = ranked_study(variants)
    (last,) = ConfigurationRank("yacht", variants[-1]).measured(ranked)
    assert last.value == 7
    assert ConfigurationRank("yacht", variants[0]).measured(ranked[1:]) == []


def ranked_study(variants: list[str]) -> pd.DataFrame:
    """NPTs whose validation loss grows with their position."""
    rows = []
    for position, variant in enumerate(variants):
        rows.append(row("npt", 0, "yacht", variant=variant, validation_loss=float(position)))
    return study_frame(rows, "table_13_yacht")


def test_curve_has_the_last_loss_before_each_time(tmp_path: Path) -> None:
    path = tmp_path / "yacht.target_mask_0.5.folds_3.csv"
    path.write_text("update,validation_loss\n10,4\n20,1\n30,2\n40,3\n")
    *_, fold, updates, quarter, half, late, end, lowest, best = curve_row(path)
    assert (fold, updates) == ("3", "40")
    assert [quarter, half, late, end] == ["4.0000", "1.0000", "2.0000", "3.0000"]
    assert (lowest, best) == ("1.0000", "20")
