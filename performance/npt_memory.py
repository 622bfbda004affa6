"""Peak memory of a training step as the rows of a batch grow: with probabilities kept as usual, blockwise, and recomputed.

The model is small (10 columns, width 16, two blocks between datapoints), so that what grows with the rows is most of it. Each
figure is the peak of a process of its own, less what the process held before the step.
"""

from __future__ import annotations

import multiprocessing

import torch

from npt.nn.column_layout import ColumnLayout
from npt.nn.device import prepare_blocks
from npt.nn.settings import NPTSettings
from npt.nn.training import build_model, build_optimiser, update
from performance.machine import begin, facts, forget_peak, parser, peak_megabytes, write
from performance.reference import PlainLamb, PlainNPT, plain_update
from performance.shapes import Shape, generated

LAYOUT = ColumnLayout((1,) * 10, (True,) * 10, 9)
SETTINGS = NPTSettings(width=16, layers=4, heads=8)
KINDS = ("npt", "npt, activations recomputed", "reference")


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--rows", nargs="+", type=int, default=[1000, 2000, 4000, 8000, 16000])
    options.add_argument(
        "--reference-limit",
        type=int,
        default=8000,
        help="most rows for the reference, which is quadratic",
    )
    given = options.parse_args()
    device = begin(given)
    rows = []
    print(f"{'rows':>6} " + " ".join(f"{kind + ', MB':>32}" for kind in KINDS))
    for count in given.rows:
        peaks = {
            kind: None
            if kind == "reference" and count > given.reference_limit
            else _apart(kind, count, given.device)
            for kind in KINDS
        }
        rows.append({"rows": count, **peaks})
        cells = [f"{peak:32.0f}" if peak is not None else " " * 32 for peak in peaks.values()]
        print(f"{count:6} " + " ".join(cells), flush=True)
    write(given.json, {"benchmark": "npt_memory", **facts(device), "rows": rows})


def _apart(kind: str, count: int, device: str) -> float:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(peak, (kind, count, device))


def peak(kind: str, count: int, device_name: str) -> float:
    """Megabytes that one training step needs beyond the model, its optimiser and the data."""
    device = torch.device(device_name)
    one = Shape("memory", count, LAYOUT, SETTINGS)
    data, table = generated(one, device)
    torch.manual_seed(0)
    if kind == "reference":
        plain = PlainNPT(LAYOUT.sizes, LAYOUT.continuous, SETTINGS).to(device)
        optimiser = PlainLamb(plain, SETTINGS)
        forget_peak(device)
        before = peak_megabytes(device)
        plain_update(plain, optimiser, table, SETTINGS, 1.0, 1e-3)
    else:
        settings = SETTINGS.changed(
            recompute_activations="always" if "recomputed" in kind else "never"
        )
        model = build_model(LAYOUT, settings, 0, device)
        steps = build_optimiser(model, settings)
        prepare_blocks(model, count, settings, device)
        forget_peak(device)
        before = peak_megabytes(device)
        update(model, steps, data, 1, settings, 0)
    return peak_megabytes(device) - before


if __name__ == "__main__":
    main()
