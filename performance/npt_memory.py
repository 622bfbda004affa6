"""Peak memory of a training step as the rows of a batch grow: blockwise, recomputed, and with all
probabilities kept.

The model is small (10 columns, width 16, two blocks between datapoints), so that most of the memory
grows with the rows. Each measurement is the peak of a process of its own, minus what the process
held before the step.
"""

from __future__ import annotations

import multiprocessing

import torch

from npt.nn.device import prepare_blocks
from npt.nn.settings import NPTSettings
from npt.nn.training import build_model, build_optimiser, update
from performance.machine import parser, peak_megabytes, reset_peak, start, write
from performance.reference import PlainLamb, PlainNPT, plain_update
from performance.shapes import Shape, generated, layout_of
from performance.table_columns import by_field, print_row, print_titles

LAYOUT = layout_of([1] * 10)
SETTINGS = NPTSettings(width=16, layers=4, heads=8)
OURS = "npt"
RECOMPUTED = "npt, activations recomputed"
REFERENCE = "reference"
ROWS = [1000, 2000, 4000, 8000, 16000]
COLUMNS = {"rows": "{rows:,}"} | by_field((OURS, RECOMPUTED, REFERENCE), "{FIELD:,.0f}")


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--rows", nargs="+", type=int, default=ROWS)
    options.add_argument(
        "--reference-limit",
        type=int,
        default=8000,
        help="most rows for the reference, which is quadratic",
    )
    arguments = options.parse_args()
    start(arguments)
    rows = []
    print_titles(COLUMNS)
    for count in arguments.rows:
        row: dict[str, float | None] = {
            "rows": count,
            OURS: _in_own_process(OURS, count, arguments.device),
            RECOMPUTED: _in_own_process(RECOMPUTED, count, arguments.device),
            REFERENCE: None,
        }
        if count <= arguments.reference_limit:
            row[REFERENCE] = _in_own_process(REFERENCE, count, arguments.device)
        rows.append(row)
        print_row(row, COLUMNS)
    write(arguments, "npt_memory", rows)


def _in_own_process(
    implementation: str,
    rows: int,
    device: str,
) -> float:
    measure = plain_peak if implementation == REFERENCE else peak
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (rows, device, implementation == RECOMPUTED))


def peak(
    rows: int,
    device_name: str,
    recomputed: bool,
) -> float:
    """Memory in MiB of one training step beyond the model, its optimiser and the data."""
    device = torch.device(device_name)
    settings = SETTINGS.changed(recompute_activations="always" if recomputed else "never")
    data, _ = generated(Shape("memory", rows, LAYOUT, settings), device)
    model = build_model(LAYOUT, settings, 0, device)
    optimiser = build_optimiser(model, settings)
    prepare_blocks(model, rows, settings, device)
    reset_peak(device)
    before = peak_megabytes(device)
    update(model, optimiser, data, 1, settings, 0)
    return peak_megabytes(device) - before


def plain_peak(
    rows: int,
    device_name: str,
    recomputed: bool = False,
) -> float:
    """The same of the plain implementation, which recomputes nothing."""
    device = torch.device(device_name)
    _, table = generated(Shape("memory", rows, LAYOUT, SETTINGS), device)
    torch.manual_seed(0)
    model = PlainNPT(LAYOUT.sizes, LAYOUT.continuous, SETTINGS).to(device)
    optimiser = PlainLamb(model, SETTINGS)
    reset_peak(device)
    before = peak_megabytes(device)
    plain_update(model, optimiser, table, SETTINGS, 1.0, 1e-3)
    return peak_megabytes(device) - before


if __name__ == "__main__":
    main()
