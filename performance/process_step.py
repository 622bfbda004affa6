"""Time of a training step of each process on curves, and of predictions as the points grow.

In every round each process takes its turn with the same tasks, in one process with the same
threads. Ratios to the neural process are medians over the rounds. A step consists of tasks,
objective, gradients and Adam. A prediction is of one task whose context is half of the points; the
shortest of some repetitions counts.
"""

from __future__ import annotations

from statistics import mean, median
from typing import Any

import torch

from npt.processes.learner import METHODS
from npt.processes.settings import TrainingSettings
from npt.processes.tasks import Tasks
from npt.processes.trained import build
from npt.processes.training import Curves, ProcessState
from npt.seeding import generator_for
from performance.machine import parser, seconds, start, write
from performance.table_columns import PROCESSES, print_row, print_titles
from workflow.report.titles import method_title

VARIANTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("neural_process", "base", {}),
    ("conditional_neural_process", "base", {}),
    ("attentive_neural_process", "base", {}),
    ("attentive_neural_process", "laplace", {"attention": "laplace"}),
    ("attentive_neural_process", "dot_product", {"attention": "dot_product"}),
    ("npt_process", "base", {}),
    ("npt_process", "to_context", {"among_queries": False}),
)
WARM_UP = 3
POINTS = (1_000, 8_000)  # of a task that is predicted
REPETITIONS = 3


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=40)
    arguments = options.parse_args()
    device = start(arguments)
    trainings: list[Training] = []
    for method, variant, changes in VARIANTS:
        trainings.append(Training(method, variant, changes, device))
    for number in range(WARM_UP + arguments.rounds):
        for training in trainings:
            training.step(number)
    rows: list[dict[str, Any]] = []
    print_titles(PROCESSES)
    plain = trainings[0].measured
    for training in trainings:
        row = training.row(plain)
        print_row(row, PROCESSES)
        rows.append(row)
    write(arguments, "process_step", rows)


class Training:
    """The training of a process, step by step."""

    def __init__(
        self,
        method: str,
        variant: str,
        changes: dict[str, Any],
        device: torch.device,
    ) -> None:
        kinds = {declared.name: declared.settings for declared in METHODS}
        settings: TrainingSettings = kinds[method](**changes)
        self.title = method_title(method, variant)
        self.device = device
        self.settings = settings
        self.source = Curves("rbf", settings)
        self.model = build(settings, inputs=1).to(device)
        self.state = ProcessState(self.model)
        self.steps: list[float] = []

    @property
    def measured(self) -> list[float]:
        """Seconds of the steps after the first ones."""
        return self.steps[WARM_UP:]

    def step(self, number: int) -> None:
        """An update with the tasks of this number."""
        self.steps.append(seconds(lambda: self._update(number), self.device))

    def _update(self, number: int) -> None:
        generator = generator_for(0, "tasks", self.device, number)
        tasks = self.source.drawn(self.settings.batch_tables, generator)
        noise = generator_for(0, "noise", self.device, number)
        objective = self.model.objective(tasks, noise)
        self.state.step(-objective, self.settings.learning_rate)

    def row(self, plain: list[float]) -> dict[str, Any]:
        """Measurements, compared with the steps of the plain neural process."""
        ratios: list[float] = []
        for own, other in zip(self.measured, plain, strict=True):
            ratios.append(own / other)
        weights = sum(parameter.numel() for parameter in self.model.parameters())
        few, many = [self.prediction_ms(points) for points in POINTS]
        return {
            "process": self.title,
            "weights": weights,
            "step_ms": 1000 * mean(self.measured),
            "ratio": median(ratios),
            "few_points_ms": few,
            "many_points_ms": many,
            "growth": many / few,
        }

    @torch.inference_mode()
    def prediction_ms(self, points: int) -> float:
        """Milliseconds for all points of a task."""
        x = torch.linspace(-2, 2, points, device=self.device)
        task = Tasks(x[None, :, None], x.sin()[None], points // 2)
        repeated = [
            seconds(lambda: self.model.predict(task), self.device) for _ in range(REPETITIONS)
        ]
        return 1000 * min(repeated)


if __name__ == "__main__":
    main()
