"""Time of a training step of NPT with each encoder of images, and memory of a table of images.

Settings are those of `workflow/configs/images_small.yaml`; intensities are random. In every round
each implementation takes its turn, in one process with the same threads. Speed-ups are over the
same encoder in float32, as medians over the rounds. The share of data is the time in which a batch
is standardised, augmented and masked.

The second table is of the bytes that a training holds for every image: intensities that stay bytes
until a batch takes them, or the encoding of any other table.
"""

from __future__ import annotations

from itertools import count, product
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
from npt.nn.image_table import TableData, encoded_table
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
BY_PIXEL, BY_CHANNEL = "pixel by pixel", "channel by channel"
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


class Training:
    """A training of NPT on random images, step by step.

    Attributes:
        layout: Order of the activations of a ResNet-18 in memory; empty for other encoders.
        steps: Measured seconds of updates.
        preparations: Measured seconds of what they do before the network.
    """

    def __init__(
        self,
        table: Table,
        settings: NPTSettings,
        layout: str,
        device: torch.device,
    ) -> None:
        resources = Resources(threads=torch.get_num_threads(), device=str(device))
        trained = TrainedNPT.untrained(settings, resources, table, _split(), 0)
        self.model = trained.model
        self.data = trained.data
        self.settings = settings
        self.layout = layout
        self.device = device
        self.optimiser = build_optimiser(self.model, settings)
        self.batches = TrainingBatches(self.data, settings, 0)
        self.numbers = count(1)
        self.steps: list[float] = []
        self.preparations: list[float] = []
        if layout == BY_CHANNEL:
            network = self.model.embedding.encoder
            assert isinstance(network, ResNet18)
            network.stem.register_forward_pre_hook(_by_channel)

    def measure(self) -> None:
        """Add an update and the preparation of a batch."""
        self.steps.append(seconds(self.step, self.device))
        self.preparations.append(seconds(self._prepare_batch, self.device))

    def step(self) -> None:
        """The next update."""
        number = next(self.numbers)
        batch = self.data.take(self.batches.rows(number))
        update(self.model, self.optimiser, batch, number, self.settings, 0)

    def _prepare_batch(self) -> None:
        """What `update` does before the network."""
        batch = self.data.take(self.batches.rows(1))
        image = self.model.layout.image
        generator = generator_for(0, "masks", self.device)
        if self.settings.augment and image:
            batch = augmented(batch, image, generator)
        mask(batch, "train", self.settings, generator)

    def row(self, encoder: str, plain: list[float]) -> dict[str, Any]:
        """Measurements, compared with the steps of the encoder's first training."""
        ratios: list[float] = []
        shares: list[float] = []
        rounds = zip(self.steps, self.preparations, plain, strict=True)
        for step, preparation, plain_step in rounds:
            ratios.append(plain_step / step)
            shares.append(preparation / step)
        images = self.settings.batch_rows
        assert images
        return {
            "measured": "step",
            "encoder": encoder,
            "images": images,
            "precision": self.settings.precision,
            "layout": self.layout,
            "step_ms": 1000 * min(self.steps),
            "per_second": images / min(self.steps),
            "data_share": median(shares),
            "speedup": median(ratios),
        }


def _steps(
    encoder: str,
    config: Config,
    rounds: int,
    device: torch.device,
) -> list[dict[str, Any]]:
    """A row for each precision and layout of an encoder."""
    trainings = _trainings(encoder, config, device)
    for training in trainings:
        training.step()  # warm up
    for _ in range(rounds):
        for training in trainings:
            training.measure()
    plain = trainings[0].steps
    return [training.row(encoder, plain) for training in trainings]


def _trainings(
    encoder: str,
    config: Config,
    device: torch.device,
) -> list[Training]:
    """The encoder in float32 first, then in bfloat16 and with another layout."""
    dataset, variant = ENCODERS[encoder]
    changes = config.studies["positions"].variants["npt"][variant] if variant else {}
    settings = resolve(config, dataset, "npt", changes)
    table = _table(dataset)
    precisions = ["float32"]
    if has_bfloat16(device):
        precisions.append("bfloat16")
    layouts = [BY_PIXEL, BY_CHANNEL] if settings.encoder == "resnet18" else [""]
    trainings = []
    for layout, precision in product(layouts, precisions):
        changed = settings.changed(precision=precision)
        trainings.append(Training(table, changed, layout, device))
    return trainings


def _by_channel(_: nn.Module, inputs: tuple[Tensor]) -> Tensor:
    """The stem's input channel by channel in memory; the activations of later layers follow."""
    (images,) = inputs
    return images.contiguous(memory_format=torch.contiguous_format)


def _bytes(dataset: str, device: torch.device) -> dict[str, Any]:
    """Bytes of an image in the table of a training, and encoded as another table."""
    table = _table(dataset)
    split = _split()
    scales = statistics(table, split)
    kept = encoded_table(table, split, scales, device)
    encoded = EncodedTable.of(table, split, scales, device)
    return {
        "measured": "bytes",
        "table": dataset,
        "intensities": len(table.features),
        "kept": _bytes_per_row(kept),
        "encoded": _bytes_per_row(encoded),
    }


def _bytes_per_row(data: TableData) -> float:
    return sum(tensor.nbytes for tensor in data.tensors) / TABLE_ROWS


def _table(dataset: str) -> Table:
    """Random images with random classes."""
    channels, height, width = IMAGES[dataset]
    image = Image(
        channels,
        height,
        width,
        centre=(CENTRE,) * channels,
        scale=(SCALE,) * channels,
    )
    draws = np.random.default_rng(0)
    shape = (image.intensities, TABLE_ROWS)
    intensities = draws.integers(WHITE, size=shape, dtype=np.uint8, endpoint=True)
    classes = draws.integers(len(CLASSES), size=TABLE_ROWS, dtype=np.int8)
    columns = [Column(f"pixel {j}", "continuous") for j in range(image.intensities)]
    columns.append(Column("class", "categorical", CLASSES))
    return Table(tuple(columns), (*intensities, classes), image.intensities, image)


def _split() -> Split:
    """Seven tenths of the rows for training, one for validation."""
    rows = np.arange(TABLE_ROWS)
    ends = [TABLE_ROWS * 7 // 10, TABLE_ROWS * 8 // 10]
    train, validation, test = np.split(rows, ends)
    return Split(0, train, validation, test)


if __name__ == "__main__":
    main()
