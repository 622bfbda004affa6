"""Forecast of the work of a process: its products of matrices, for the mean sizes of its tasks."""

from __future__ import annotations

from npt.processes.settings import NeuralProcessSettings, NPTProcessSettings, TrainingSettings
from npt.workload import FLOAT, TRAINING, TableSize, Workload

LAYERS = 4  # of each encoder
KEPT = 24  # tensors as wide as a point that a backward pass needs


def workload(settings: TrainingSettings, size: TableSize) -> Workload:
    """Work of a training.

    A batch has half as many context points as the most, and three quarters as many targets.
    """
    context = (settings.fewest_context + settings.most_points) / 2
    targets = (context + settings.most_points) / 2
    if isinstance(settings, NPTProcessSettings):
        forward = _npt(settings, context + targets)
        width = 2 * settings.width
    else:
        assert isinstance(settings, NeuralProcessSettings)
        forward = _neural_process(settings, context, targets)
        width = settings.width
    update = TRAINING * settings.batch_tables * forward
    points = settings.batch_tables * (context + targets)
    return Workload(
        update_flop=update,
        training_flop=settings.updates * update,
        query_flop=forward / targets,
        memory_mb=KEPT * FLOAT * points * width / 1e6,
    )


def _neural_process(settings: NeuralProcessSettings, context: float, targets: float) -> float:
    """Operations of a forward pass over one table."""
    square = 2 * settings.width**2
    encoders = LAYERS * square * context
    if settings.latent:
        encoders += LAYERS * square * (context + targets)
    decoder = 3 * square * targets
    attention = 0.0
    if settings.attention != "uniform":
        attention = square * (context + targets) + 4 * settings.width * context * targets
    return encoders + decoder + attention


def _npt(settings: NPTProcessSettings, rows: float) -> float:
    """Operations of a forward pass over one table of two columns."""
    pairs = settings.layers / 2
    width = 2 * settings.width
    between_datapoints = 2 * 13 * width**2 * rows + 4 * width * rows**2
    between_attributes = 2 * (2 * 13 * settings.width**2) * rows
    return pairs * (between_datapoints + between_attributes)
