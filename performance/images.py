"""Time of a training step of NPT with each encoder of images, and memory of a table of images.

Settings are those of `workflow/configs/images_small.yaml`; intensities are random. In every round
each implementation takes its turn, in one process with the same threads. Speed-ups are over the
same encoder in float32, as medians over the rounds. The share of data is the time in which a batch
is standardised, augmented and masked.

The second table is of the bytes that a training holds for every image: intensities that stay bytes
until a batch takes them, or the encoding of any other table.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
import yaml
from torch import Tensor, nn

from npt.data.encoding import statistics
from npt.interface import Resources
from npt.nn.augmentation import augmented
from npt.nn.device import has_bfloat16
from npt.nn.encoders.resnet import ResNet18
from npt.nn.image_table import TableData
from npt.nn.inputs import EncodedTable
from npt.nn.masking import mask
from npt.nn.settings import NPTSettings
from npt.nn.trained import TrainedNPT
from npt.nn.training import TrainingBatches, build_optimiser, update
from npt.seeding import generator_for
from npt.table import Column, Image, Split, Table
from performance.machine import parser, seconds, start, write
from performance.table_columns import IMAGE_BYTES, IMAGE_STEPS, print_row, print_titles
from workflow.config.models import Config
from workflow.config.reading import read
from workflow.config.resolution import resolve

CONFIG = Path(__file__).parents[1] / "workflow" / "configs" / "images_small.yaml"
WHITE = 255
CENTRE, SCALE = WHITE / 2, WHITE / 4
IMAGES = {"mnist": (1, 28, 28), "cifar10": (3, 32, 32)}  # channels, height, width
CLASSES = tuple("0123456789")
TABLE_ROWS = 2048
ENCODERS = {  # dataset, and variant of its study or none
    "linear patches": ("mnist", None),
    "ResNet-18": ("cifar10", None),
    "SIREN, 1-D": ("cifar10", "siren_1d"),
    "SIREN, 2-D": ("cifar10", "siren_2d"),
}


def main() -> None:
    """Command line of the benchmark."""
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=5)
    arguments = options.parse_args()
    device = start(arguments)
    config = read(yaml.safe_load(CONFIG.read_text()))
    rows: list[dict[str, Any]] = []
    print_titles(IMAGE_STEPS)
    for encoder in ENCODERS:
        for row in _steps(encoder, config, arguments.rounds, device):
            print_row(row, IMAGE_STEPS)
            rows.append(row)
    print_titles(IMAGE_BYTES)
    for dataset in IMAGES:
        row = _bytes(dataset, device)
        print_row(row, IMAGE_BYTES)
        rows.append(row)
    write(arguments, "images", rows)


@dataclass
class Implementation:
    """The training of an encoder in one precision and layout, and the seconds of its rounds."""

    precision: str
    layout: str
    training: Training
    steps: list[float] = field(default_factory=list)
    data: list[float] = field(default_factory=list)


class Training:
    """A training of NPT on random images, step by step."""

    def __init__(self, table: Table, settings: NPTSettings, device: torch.device) -> None:
        resources = Resources(threads=torch.get_num_threads(), device=str(device))
        trained = TrainedNPT.untrained(settings, resources, table, _split(), 0)
        self.model = trained.model
        self.data = trained.data
        self.settings = settings
        self.device = device
        self.optimiser = build_optimiser(self.model, settings)
        self.batches = TrainingBatches(self.data, settings, 0)
        self.numbers = count(1)

    def step(self) -> None:
        """The next update."""
        number = next(self.numbers)
        batch = self.data.take(self.batches.rows(number))
        update(self.model, self.optimiser, batch, number, self.settings, 0)

    def prepare_batch(self) -> None:
        """What an update does before the network."""
        batch = self.data.take(self.batches.rows(1))
        image = self.model.layout.image
        generator = generator_for(0, "masks", self.device)
        if self.settings.augment and image:
            batch = augmented(batch, image, generator)
        mask(batch, "train", self.settings, generator)


def _steps(
    encoder: str,
    config: Config,
    rounds: int,
    device: torch.device,
) -> list[dict[str, Any]]:
    """A row for each precision and layout of an encoder."""
    implementations = _implementations(encoder, config, device)
    for implementation in implementations:
        implementation.training.step()  # warm up
    for _ in range(rounds):
        for implementation in implementations:
            training = implementation.training
            implementation.steps.append(seconds(training.step, device))
            implementation.data.append(seconds(training.prepare_batch, device))
    first = implementations[0].steps
    rows = []
    for implementation in implementations:
        steps = implementation.steps
        ratios = [before / own for before, own in zip(first, steps, strict=True)]
        shares = [data / step for data, step in zip(implementation.data, steps, strict=True)]
        images = implementation.training.settings.batch_rows
        assert images
        rows.append(
            {
                "measured": "step",
                "encoder": encoder,
                "images": images,
                "precision": implementation.precision,
                "layout": implementation.layout,
                "step_ms": 1000 * min(steps),
                "per_second": images / min(steps),
                "data_share": median(shares),
                "speedup": median(ratios),
            }
        )
    return rows


def _implementations(
    encoder: str,
    config: Config,
    device: torch.device,
) -> list[Implementation]:
    """The encoder in float32 first, then in bfloat16 and with another layout."""
    dataset, variant = ENCODERS[encoder]
    changes = config.studies["positions"].variants["npt"][variant] if variant else {}
    settings = resolve(config, dataset, "npt", changes)
    table = _table(dataset)
    precisions = ["float32"]
    if has_bfloat16(device):
        precisions.append("bfloat16")
    implementations = []
    for precision in precisions:
        changed = settings.changed(precision=precision)
        implementations.append(Implementation(precision, "", Training(table, changed, device)))
    if settings.encoder == "resnet18":
        for implementation in implementations:
            implementation.layout = "pixel by pixel"
        for precision in precisions:
            training = Training(table, settings.changed(precision=precision), device)
            network = training.model.embedding.encoder
            assert isinstance(network, ResNet18)
            network.stem.register_forward_pre_hook(_by_channel)
            implementations.append(Implementation(precision, "channel by channel", training))
    return implementations


def _by_channel(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Activations channel by channel in memory; those of later layers follow."""
    return tuple(x.contiguous(memory_format=torch.contiguous_format) for x in inputs)


def _bytes(dataset: str, device: torch.device) -> dict[str, Any]:
    """Bytes of an image in the table of a training, and encoded as another table."""
    table = _table(dataset)
    split = _split()
    training = Training(table, NPTSettings(width=8), device)
    encoded = EncodedTable.of(table, split, statistics(table, split), device)
    return {
        "measured": "bytes",
        "table": dataset,
        "intensities": len(table.features),
        "kept": _bytes_per_row(training.data, table.rows),
        "encoded": _bytes_per_row(encoded, table.rows),
    }


def _bytes_per_row(data: TableData, rows: int) -> float:
    return sum(tensor.nbytes for tensor in data.tensors) / rows


def _table(dataset: str) -> Table:
    """Random images with random classes."""
    channels, height, width = IMAGES[dataset]
    image = Image(channels, height, width, (CENTRE,) * channels, (SCALE,) * channels)
    draws = np.random.default_rng(0)
    columns = []
    cells = []
    for j in range(image.intensities):
        columns.append(Column(f"pixel {j}", "continuous"))
        cells.append(draws.integers(WHITE + 1, size=TABLE_ROWS).astype(np.uint8))
    columns.append(Column("class", "categorical", CLASSES))
    cells.append(draws.integers(len(CLASSES), size=TABLE_ROWS).astype(np.int8))
    return Table(tuple(columns), tuple(cells), image.intensities, image)


def _split() -> Split:
    rows = np.arange(TABLE_ROWS)
    train, validation, test = np.split(rows, [TABLE_ROWS * 7 // 10, TABLE_ROWS * 8 // 10])
    return Split(0, train, validation, test)


if __name__ == "__main__":
    main()
