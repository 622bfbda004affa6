"""Time of a training step and an evaluation of NPT and of a plain implementation, at the paper's
configurations.

In every round each implementation takes its turn, in one process with the same threads.

The share of the matrix rate is the time that the counted operations (`npt/nn/flops.py`) would take
at the rate of a large square product of the same precision, divided by the time of the step. The
rate is sustained for half a second before and after every step. The share is the median over the
rounds.

An evaluation follows an update: one pass over the validation rows here, a pass each over
validation, train and test rows in the plain implementation. The memory is the peak of a process of
its own that does one step, with libraries, data, model and optimiser. On a GPU it is the memory
allocated there.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
from statistics import median
from typing import Any

import torch

from npt.nn import flops
from npt.nn.device import arithmetic
from performance.implementations import Implementation, by_name, ours, reference
from performance.machine import MatrixRate, parser, peak_megabytes, seconds, start, write
from performance.shapes import SHAPES, Shape, paper_shape
from performance.table_columns import STEP, print_row, print_titles

GROUPS = {
    "small": ["yacht", "boston_housing", "breast_cancer", "concrete"],
    "all": list(SHAPES),
}
DTYPES = {
    "float32": torch.float32,
    "tf32": torch.float32,
    "bfloat16": torch.bfloat16,
}


def main() -> None:
    """Command line of the benchmark."""
    arguments = _options().parse_args()
    device = start(arguments)
    shapes = [paper_shape(name) for name in _names(arguments.configurations)]
    rows = []
    print_titles(STEP)
    for shape in shapes:
        implementations = [ours(shape, name, device) for name in arguments.ours]
        if not arguments.without_reference:
            implementations.append(reference(shape, device))
        measured = measure(shape, implementations, arguments.rounds, device)
        for row in measured:
            print_row(row, STEP)
        rows.extend(measured)
    write(arguments, "npt_step", rows)


def measure(
    shape: Shape,
    implementations: list[Implementation],
    rounds: int,
    device: torch.device,
) -> list[dict[str, Any]]:
    """Measurements of every implementation at one shape."""
    precisions = {implementation.precision for implementation in implementations}
    rates = {precision: MatrixRate(DTYPES[precision], device) for precision in precisions}
    for implementation in implementations:  # warm up
        implementation.step()
        implementation.evaluate()
    for _ in range(rounds):
        for implementation in implementations:
            _take_turn(implementation, shape, rates[implementation.precision], device)
    last = implementations[-1]
    plain = last if last.name.startswith("reference") else None
    rows = [_row(implementation, plain, shape, device) for implementation in implementations]
    implementations.clear()
    gc.collect()
    return rows


def _take_turn(
    implementation: Implementation,
    shape: Shape,
    rate: MatrixRate,
    device: torch.device,
) -> None:
    """Measure one step and one evaluation."""
    settings = shape.settings.changed(precision=implementation.precision)
    with arithmetic(settings, device):
        before = rate.measure()
        implementation.steps.append(seconds(implementation.step, device))
        after = rate.measure()
    implementation.rates.append((before + after) / 2)
    implementation.evaluations.append(seconds(implementation.evaluate, device))


def _row(
    implementation: Implementation,
    plain: Implementation | None,
    shape: Shape,
    device: torch.device,
) -> dict[str, Any]:
    """Measurements of one implementation over the rounds."""
    operations = flops.update(shape.rows, shape.columns, shape.settings)
    steps = implementation.steps
    timed = zip(steps, implementation.rates, strict=True)
    row = {
        "configuration": shape.name,
        "rows": shape.rows,
        "implementation": implementation.name,
        "teraflop": operations / 1e12,
        "step_ms": 1e3 * min(steps),
        "step_ms_median": 1e3 * median(steps),
        "evaluation_ms": 1e3 * min(implementation.evaluations),
        "rate_teraflops": median(implementation.rates) / 1e12,
        "share_of_rate": median([operations / step / rate for step, rate in timed]),
        "peak_mb": _peak(shape.name, implementation.name, device),
    }
    if plain is not None:
        row["step_speedup"] = _speedup(plain.steps, steps)
        row["training_speedup"] = _speedup(
            _with_evaluations(plain), _with_evaluations(implementation)
        )
    return row


def _with_evaluations(implementation: Implementation) -> list[float]:
    """Seconds of each step and the evaluation after it."""
    pairs = zip(implementation.steps, implementation.evaluations, strict=True)
    return [step + evaluation for step, evaluation in pairs]


def _speedup(plain: list[float], fast: list[float]) -> float:
    """Median over the rounds of the ratio of times."""
    pairs = zip(plain, fast, strict=True)
    return median([slow / quick for slow, quick in pairs])


def _peak(
    configuration: str,
    implementation: str,
    device: torch.device,
) -> float:
    """Peak memory of one step in a process of its own."""
    arguments = (configuration, implementation, str(device), torch.get_num_threads())
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(peak_of_a_step, arguments)


def peak_of_a_step(
    configuration: str,
    name: str,
    device_name: str,
    threads: int,
) -> float:
    """Peak memory of this process in MiB after one step."""
    torch.set_num_threads(threads)
    device = torch.device(device_name)
    implementation = by_name(name, paper_shape(configuration), device)
    implementation.step()
    return peak_megabytes(device)


def _options() -> argparse.ArgumentParser:
    options = parser(__doc__)
    options.add_argument(
        "--configurations", nargs="+", choices=[*SHAPES, *GROUPS], default=["breast_cancer"]
    )
    options.add_argument("--ours", nargs="+", default=["float32"], metavar="PRECISION")
    options.add_argument("--without-reference", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    return options


def _names(configurations: list[str]) -> list[str]:
    names = []
    for name in configurations:
        names.extend(GROUPS.get(name, [name]))
    return names


if __name__ == "__main__":
    main()
