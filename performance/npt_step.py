"""Time of a training step and of an evaluation of NPT, beside a plain implementation, at the paper's configurations.

Every implementation takes its turn in every round, in one process with the same threads. The share of the matrix rate is
what the count of floating-point operations (`npt/nn/flops.py`) would take at the rate of a large square product of the same
precision, kept up for half a second before and after every step, over the time the step took: the median over the rounds.
An evaluation is what one implementation does after an update: one pass over the validation rows here, a pass each over
validation, train and test rows in the plain one. The memory is the peak of a process of its own that does one step:
libraries, data, model and optimiser included (on a GPU, what was allocated there).
"""

from __future__ import annotations

import gc
import multiprocessing
import statistics
from typing import Any

import torch

from npt.nn import flops
from npt.nn.device import arithmetic
from performance.contestants import REFERENCE, ours, reference
from performance.machine import MatrixRate, begin, facts, parser, peak_megabytes, seconds, write
from performance.shapes import TABLES, Shape, shape

SMALL = ["yacht", "boston_housing", "breast_cancer", "concrete"]
DTYPES = {"float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16}


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument(
        "--configurations", nargs="+", choices=[*TABLES, "small", "all"], default=["breast_cancer"]
    )
    options.add_argument(
        "--ours", nargs="+", default=["float32", "bfloat16"], metavar="PRECISION[+compile]"
    )
    options.add_argument("--without-reference", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument(
        "--profile",
        action="store_true",
        help="say instead where the time of a step goes, by kind of work",
    )
    given = options.parse_args()
    device = begin(given)
    names = [
        n
        for name in given.configurations
        for n in {"small": SMALL, "all": list(TABLES)}.get(name, [name])
    ]
    if given.profile:
        rows = [
            profile(shape(name), precision, device) for name in names for precision in given.ours
        ]
        write(given.json, {"benchmark": "npt_step --profile", **facts(device), "rows": rows})
        return
    rows: list[dict[str, Any]] = []
    print(_line(HEADER))
    for name in names:
        found = measure(shape(name), given.ours, not given.without_reference, given.rounds, device)
        rows += found
        for row in found:
            print(_line(_cells(row)), flush=True)
    write(given.json, {"benchmark": "npt_step", **facts(device), "rows": rows})


def measure(
    one: Shape, precisions: list[str], with_reference: bool, rounds: int, device: torch.device
) -> list[dict[str, Any]]:
    """Figures of every implementation at one configuration."""
    operations = flops.update(one.rows, len(one.layout.sizes), one.settings)
    contestants = [ours(one, name, device) for name in precisions] + (
        [reference(one, device)] if with_reference else []
    )
    gauges = {c.precision: MatrixRate(DTYPES[c.precision], device) for c in contestants}
    for c in contestants:
        c.step()  # warm up
        c.evaluate()
    for _ in range(rounds):
        for c in contestants:
            with arithmetic(one.settings.changed(precision=c.precision), device):
                before = gauges[c.precision].measure()
                c.steps.append(seconds(c.step, device))
                c.rates.append((before + gauges[c.precision].measure()) / 2)
            c.evaluations.append(seconds(c.evaluate, device))
    rows = []
    for c in contestants:
        shares = [operations / took / rate for took, rate in zip(c.steps, c.rates, strict=True)]
        rows.append({
            "configuration": one.name, "rows": one.rows, "implementation": c.name, "teraflop": operations / 1e12,
            "step_ms": 1e3 * min(c.steps), "step_ms_median": 1e3 * statistics.median(c.steps),
            "evaluation_ms": 1e3 * min(c.evaluations), "rate_teraflops": statistics.median(c.rates) / 1e12,
            "share_of_rate": statistics.median(shares), "peak_mb": _peak_apart(one.name, c.name, device),
        })  # fmt: skip
        if with_reference:
            plain = contestants[-1]
            both = [(a + b) / (s + e) for a, b, s, e in
                    zip(plain.steps, plain.evaluations, c.steps, c.evaluations, strict=True)]  # fmt: skip
            rows[-1]["step_speedup"] = statistics.median(
                a / b for a, b in zip(plain.steps, c.steps, strict=True)
            )
            rows[-1]["training_speedup"] = statistics.median(both)
    del contestants
    gc.collect()
    return rows


def _peak_apart(configuration: str, contestant: str, device: torch.device) -> float:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(
            peak_of_a_step, (configuration, contestant, str(device), torch.get_num_threads())
        )


def peak_of_a_step(configuration: str, contestant: str, device_name: str, threads: int) -> float:
    """Peak memory in MB of this process after one step of a contestant."""
    torch.set_num_threads(threads)
    device, one = torch.device(device_name), shape(configuration)
    made = (
        reference(one, device)
        if contestant == REFERENCE
        else ours(one, contestant.removeprefix("npt, "), device)
    )
    made.step()
    return peak_megabytes(device)


KINDS_OF_WORK = {
    "linear layers": ("aten::mm", "aten::addmm"),
    "attention products": ("aten::bmm", "aten::baddbmm", "aten::baddbmm_", "scaled_dot_product"),
    "optimiser": (
        "_fused_adam_",
        "linalg_vector_norm",
        "_foreach_norm",
        "aten::addcmul_",
        "aten::clamp_",
        "aten::lerp_",
    ),
    "softmax": ("aten::_softmax",),
    "activations and norms": ("gelu", "layer_norm"),
    "masks": ("_Explicit", "aten::ge_", "aten::uniform_", "aten::rand", "aten::normal_"),
}


def profile(one: Shape, name: str, device: torch.device, steps: int = 5) -> dict[str, Any]:
    """Share of a step's time by kind of work, over a few steps of ours; what is not named is copies, sums and the like."""
    contestant = ours(one, name, device)
    contestant.step()
    with torch.profiler.profile() as recorded:
        for _ in range(steps):
            contestant.step()
    averages = recorded.key_averages()
    times = {
        event.key: event.self_device_time_total or event.self_cpu_time_total for event in averages
    }
    total = sum(times.values())
    shares = {
        kind: sum(
            t
            for key, t in times.items()
            if any(part in key for part in parts) and "Backward" not in key
        )
        / total
        for kind, parts in KINDS_OF_WORK.items()
    }
    shares["everything else"] = 1 - sum(shares.values())
    print(
        f"{one.name}, {contestant.name}: "
        + ", ".join(f"{kind} {share:.0%}" for kind, share in shares.items()),
        flush=True,
    )
    return {"configuration": one.name, "implementation": contestant.name, "shares": shares}


HEADER = [
    "configuration",
    "implementation",
    "step ms",
    "evaluation ms",
    "share of rate",
    "peak MB",
    "step x",
    "with evaluation x",
]


def _cells(row: dict[str, Any]) -> list[str]:
    ratios = [
        f"{row[key]:.2f}" if key in row else "" for key in ("step_speedup", "training_speedup")
    ]
    share = f"{row['share_of_rate']:.0%} of {row['rate_teraflops']:.3g} T/s"
    timed = [f"{row['step_ms']:.1f}", f"{row['evaluation_ms']:.1f}"]
    return [
        row["configuration"],
        row["implementation"],
        *timed,
        share,
        f"{row['peak_mb']:.0f}",
        *ratios,
    ]


def _line(cells: list[str]) -> str:
    widths = [15, 22, 9, 13, 20, 8, 7, 17]
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


if __name__ == "__main__":
    main()
