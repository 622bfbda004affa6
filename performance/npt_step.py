"""Time of a training step and an evaluation of NPT and of a plain implementation, at the paper's
configurations.

In every round each implementation takes its turn, in one process with the same threads. The fastest
round counts. An evaluation follows an update: one pass over the validation rows here, a pass each
over validation, train and test rows in the plain implementation. The memory is the peak of a
process of its own that does one step (on a GPU three), with libraries, data, model and optimiser.
On a GPU it is the memory allocated there. TFLOP/s are those of an update's matrix products. The
first rows have those of a product of two square matrices.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import torch

from npt.nn.cuda_graph import WARM_UP
from npt.nn.device import arithmetic
from npt.nn.flops import update_flop
from npt.nn.losses import tradeoff
from npt.nn.masking import mask
from npt.nn.model import NPT
from npt.nn.optimiser import Lamb, Lookahead, learning_rate
from npt.nn.reference import PlainNPT, plain_loss
from npt.nn.settings import NPTSettings
from npt.nn.trained_network import build_model
from npt.nn.training import NPTTraining
from npt.table import PARTS
from performance.machine import parser, peak_megabytes, report, seconds, start
from performance.shapes import SHAPES, Shape, generated, paper_shape

REFERENCE = "reference"  # in float32
Calls = tuple[Callable[[], Any], Callable[[], Any]]
"""The next update, and an evaluation as after an update."""


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument(
        "--configurations", nargs="+", choices=list(SHAPES), default=["breast_cancer"]
    )
    options.add_argument("--ours", nargs="+", default=["float32"], metavar="PRECISION")
    options.add_argument("--rounds", type=int, default=5)
    arguments = start(options)
    names = [*arguments.ours, REFERENCE]
    rows = [matrix_product(precision, arguments.device) for precision in arguments.ours]
    for configuration in arguments.configurations:
        rows += measure(paper_shape(configuration), names, arguments.rounds, arguments.device)
    report(arguments, rows)


def matrix_product(precision: str, device: torch.device) -> dict[str, Any]:
    """The fastest of ten products of square matrices."""
    size = 8192 if device.type == "cuda" else 2048
    kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
    left, right = torch.randn(2, size, size, device=device, dtype=kind)
    with arithmetic(NPTSettings().changed(precision=precision), device):
        fastest = min(seconds(lambda: left @ right) for _ in range(10))
    return {
        "configuration": "matrix product",
        "implementation": precision,
        "rows": size,
        "step_ms": 1e3 * fastest,
        "tflops": 2e-12 * size**3 / fastest,
    }


def measure(
    shape: Shape, names: list[str], rounds: int, device: torch.device
) -> list[dict[str, Any]]:
    """A row for each implementation at one shape."""
    calls = {name: implementation(name, shape, device) for name in names}
    times = np.empty((rounds + 1, len(names), 2))
    for turns in times:
        for turn, (name, (step, evaluate)) in zip(turns, calls.items(), strict=True):
            precision = "float32" if name == REFERENCE else name
            with arithmetic(shape.settings.changed(precision=precision), device):
                turn[:] = seconds(step), seconds(evaluate)
    fastest = times[1:].min(0)  # the first round warms up, on a GPU the first three
    flop = update_flop(shape.settings, shape.rows, shape.layout.tokens, None)
    processes = [(shape.name, name, device, torch.get_num_threads()) for name in names]
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        peaks = pool.starmap(peak_of_a_step, processes, chunksize=1)
    rows = []
    for name, (step, evaluation), peak in zip(names, fastest, peaks, strict=True):
        row = {
            "configuration": shape.name,
            "implementation": name,
            "rows": shape.rows,
            "step_ms": 1e3 * step,
            "tflops": 1e-12 * flop / step,
            "evaluation_ms": 1e3 * evaluation,
            "peak_mb": peak,
        }
        rows.append(row)
    return rows


def peak_of_a_step(configuration: str, name: str, device: torch.device, threads: int) -> float:
    """Peak memory in MiB of a new process after one step, on a GPU three."""
    torch.set_num_threads(threads)
    step, _ = implementation(name, paper_shape(configuration), device)
    for _ in range(1 if device.type == "cpu" else WARM_UP + 1):  # a GPU's last step is recorded
        step()
    return peak_megabytes()


def implementation(name: str, shape: Shape, device: torch.device) -> Calls:
    """This project's NPT at a precision, or the plain implementation."""
    if name == REFERENCE:
        return plain_calls(shape, device)
    settings = shape.settings.changed(
        precision=name,
        recompute_activations="never",
        batch_rows=None,
    )
    data = generated(shape, device)
    model = build_model(NPT, 0, device, shape.layout, settings)
    training = NPTTraining(model, data, settings, 0)
    numbers = count(1)

    def step() -> None:
        training.update(next(numbers))

    return step, training.validation_scores


def plain_calls(shape: Shape, device: torch.device) -> Calls:
    """The plain implementation."""
    settings = shape.settings
    data = generated(shape, device)
    draws = torch.Generator(device)
    torch.manual_seed(0)
    model = PlainNPT(shape.layout, settings).to(device)
    lamb = Lamb(model.parameters(), clip=settings.clip)
    optimiser = Lookahead(lamb, settings.lookahead_steps, settings.lookahead_share)
    numbers = count(1)

    def step() -> None:
        number = next(numbers)
        model.train()
        masked = mask(data, "train", settings, draws)
        loss = plain_loss(model(masked.cells), data, masked, tradeoff(number, settings))
        model.zero_grad()
        loss.backward()
        lamb.step(learning_rate(number, settings))
        optimiser.moved(number)

    @torch.no_grad()
    def evaluate() -> None:
        model.eval()
        for mode in PARTS:
            model(mask(data, mode, settings, draws).cells)

    return step, evaluate


if __name__ == "__main__":
    main()
