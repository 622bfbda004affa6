"""Every cell of the paper's Tables 1 to 13 has its state, from rows and from plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from npt.provenance import ROOT
from tests.rows import row, study_frame
from workflow.presentation.published import published
from workflow.reproduction.cells import Cell, published_cells
from workflow.reproduction.page import PATH, agreement, cell_text, counts, page, source_marks
from workflow.reproduction.values import (
    PLANNED,
    REDUCED,
    UNPLANNED,
    Reproduced,
    models_of,
    reproduced,
    rows_by_model,
)

COUNTED = (2, 6, 7)  # tables whose published.json has numbers instead of texts


def cell_of(table: int, title: str, column: str) -> Cell:
    (cell,) = [
        cell
        for cell in published_cells()
        if (cell.table, cell.row, cell.column) == (table, title, column)
    ]
    return cell


def result(cell: Cell, title: str, *rows: Any) -> Reproduced:
    """A cell where one study has rows."""
    full_size = [model for name in ("paper", "ablations", "lookup") for model in models_of(name)]
    source = [model for model in models_of(title.partition(".")[0]) if model.source == title]
    study = source[0].study
    by_model = rows_by_model(study.kind, study_frame(rows, study.name))
    measured = []
    for model in source:
        key = (model.dataset, model.method, model.variant)
        if key in by_model:
            measured.append(replace(model, rows=by_model[key]))
    return reproduced(cell, full_size, measured)


def npt_rows(dataset: str, values: list[float], **changes: Any) -> list[Any]:
    return [
        row("npt", fold, dataset, test_rmse=value, **changes) for fold, value in enumerate(values)
    ]


def printed_texts(node: Any) -> Iterator[str]:
    """Printed texts anywhere below a node of `published.json`."""
    if isinstance(node, dict):
        if "printed" in node:
            yield node["printed"]
        for value in node.values():
            yield from printed_texts(value)


def test_page_and_document_are_current() -> None:
    assert page() == PATH.read_text(encoding="utf-8")
    document = (ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8")
    assert "\n".join(counts().splitlines()[:3]) in document
    assert agreement() in document


def test_every_printed_number_is_a_cell() -> None:
    expected: Counter[tuple[int, str]] = Counter()
    for name, content in published().items():
        number = name.removeprefix("table_").partition("_")[0]
        if name.startswith("table_") and number != "2":
            expected.update((int(number), text) for text in printed_texts(content))
    changes = published()["table_2_corruption"]
    expected[2, ""] = sum(len(part) for name, part in changes.items() if name.startswith("change_"))
    for number, dataset in ((6, "protein"), (7, "higgs")):
        for method in published()["tables_6_and_7_cost"]["cells"][dataset].values():
            expected[number, ""] += 3 + (method["gpu_memory_gb"] is not None)
    cells: Counter[tuple[int, str]] = Counter()
    for cell in published_cells():
        cells[cell.table, "" if cell.table in COUNTED else cell.content["printed"]] += 1
    assert cells == expected
    assert len({(cell.table, cell.row, cell.column) for cell in published_cells()}) == 416


def test_cell_without_a_plan_is_not_planned() -> None:
    models = [*models_of("ablations"), *models_of("lookup")]
    for cell in (
        replace(cell_of(4, "layers_4", "Protein"), variant="layers_99"),
        replace(cell_of(4, "base, five folds", "Protein"), folds=99),
        replace(cell_of(3, "DKL", "Original"), measure="no_method_rmse"),
    ):
        assert reproduced(cell, models, []).state == UNPLANNED


def test_mean_ranks_take_all_methods_on_all_datasets() -> None:
    cell = cell_of(1, "NPT", "AUROC")
    assert len(cell.parts) == 4 * 9
    assert reproduced(cell, models_of("paper"), []).state == PLANNED
    assert reproduced(cell, models_of("baselines"), []).state == UNPLANNED


def test_smaller_training_on_some_folds_is_reduced() -> None:
    rows = npt_rows("yacht", [1.0, 1.2, 1.4])
    reduced = result(cell_of(11, "NPT", "Yacht"), "paper_tenth.yaml: yacht", *rows)
    (value,) = reduced.values
    assert reduced.state == REDUCED
    assert "folds: 3 of 10" in value.reductions
    assert "`updates`: 1,000 instead of 10,000" in value.reductions
    assert "configurations: 1 of 8" in value.reductions
    # The error is 0.2 / √3; the paper prints 1.27 ± 0.15.
    assert cell_text(reduced, source_marks([reduced])).startswith(
        "◐ 1.27 ± 0.15<br>◐ 1.20 ± 0.12 (−0.4)"
    )


def test_failed_fold_or_another_setting_gives_no_value() -> None:
    rows = [*npt_rows("yacht", [1.0, 1.2]), row("npt", 2, "yacht", status="failed", reason="x")]
    cell = cell_of(11, "NPT", "Yacht")
    assert result(cell, "paper_tenth.yaml: yacht", *rows).state == PLANNED
    rows = npt_rows("boston_housing", [3.0, 3.2], validation_loss=0.5)
    cell = cell_of(11, "NPT", "Boston Housing")
    assert result(cell, "ablations.yaml: table_4", *rows).state == PLANNED


def test_printed_deviations_become_standard_errors() -> None:
    searched = {"grid": 480, "configurations": 480}
    rows = [row("knn", n, "yacht", test_mse=100.0 * (1 + n), **searched) for n in range(2)]
    cell = cell_of(12, "k-NN", "Yacht")
    assert cell.content["printed"] == "149±52.6"
    # Deviation 70.7, so an error of 50; the paper's is 52.6 / √10 = 16.6: 1.0 / 52.7.
    reduced = result(cell, "baselines.yaml: main", *rows)
    assert cell_text(reduced, source_marks([reduced])).startswith(
        "◐ 149 ± 16.6<br>◐ 150.0 ± 50.0 (0.0)"
    )
    assert cell_of(4, "base, five folds", "Protein").printed == "3.40±0.02"


def test_configurations_are_ranked_from_zero() -> None:
    variants = sorted(published()["table_13_configuration_rank"]["cells"]["yacht"])
    rows = []
    for position, variant in enumerate(variants):
        rows.append(row("npt", 0, variant=variant, validation_loss=float(position)))
    cell = cell_of(13, variants[-1], "Yacht")
    (value,) = result(cell, "paper.yaml: table_13_yacht", *rows).values
    assert value.mean == 7
