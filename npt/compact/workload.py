"""Work of a training of compact NPT, from its settings and the size of the table.

n rows, m rows of the context, t tokens of a row with the target, e and r widths of token and row.
Matrix products count; everything else is elementwise and counted as nothing.
"""

from __future__ import annotations

from npt.compact.settings import CompactSettings
from npt.workload import FLOAT, TRAINING, TableSize, Workload

WEIGHT_COPIES = 6  # weight, gradient, two moments, average, best one
WIDENING = 2  # width of a feed-forward layer, in multiples of its input's
TRAINED_ACTIVATIONS = 16  # of a token or row that a block keeps for the backward pass
PREDICTED_ACTIVATIONS = 4  # of a token while it is encoded, without a backward pass
PREDICTED_CELLS = 2**21  # attention weights that a prediction holds in memory
CELL_BYTES = 32  # of a number, its position among quantiles, its code, and the table itself


def workload(settings: CompactSettings, size: TableSize) -> Workload:
    """Work of a training of all members; a row is probed by a pass over its context."""
    members = settings.members
    batch = settings.batch_size(size.train_rows)
    context = min(size.train_rows, settings.context_rows or size.train_rows)
    validation = min(size.rows - size.train_rows, settings.evaluated_rows)
    tokens = size.columns
    update = TRAINING * members * _pass(batch, 0, tokens, settings)
    evaluation = members * _pass(context, validation, tokens, settings)
    evaluations = settings.updates / settings.evaluate_every
    return Workload(
        update_flop=update,
        training_flop=settings.updates * update + evaluations * evaluation,
        query_flop=members * _pass(context, 1, tokens, settings),
        memory_mb=_memory(settings, size, batch, context) / 1e6,
    )


def _pass(
    context: int,
    others: int,
    tokens: int,
    settings: CompactSettings,
) -> float:
    """Operations of a member that predicts some rows in a context.

    Without others, the rows of the context predict each other.
    """
    queries = others or context
    encoding = _row_encoding(tokens, settings)
    keys_and_values = 2 * _linear(settings.width, settings.width)
    block = _row_block(context, settings)
    blocks = context * keys_and_values + queries * block
    return (context + others) * encoding + settings.layers * blocks


def _row_encoding(tokens: int, settings: CompactSettings) -> float:
    """Operations of encoding a row: embedding, attention between attributes, compression."""
    width = settings.token_width
    functions = 1
    if settings.number_embedding != "linear":
        functions += settings.bins
    embedding = tokens * _linear(functions, width)
    block = tokens * _feed_forward(width)
    if settings.between_attributes:
        block += 4 * tokens * _linear(width, width)
        block += 4 * tokens**2 * width
    compression = _linear(tokens * width, settings.width)
    feed_forward = _feed_forward(settings.width)
    return embedding + block + compression + feed_forward


def _row_block(context: int, settings: CompactSettings) -> float:
    """Operations of a block between datapoints for one row, without keys and values."""
    width = settings.width
    block = _feed_forward(width)
    if settings.between_datapoints:
        block += 2 * _linear(width, width)
        block += 4 * context * width
    return block


def _feed_forward(width: int) -> float:
    return 2 * _linear(width, WIDENING * width)


def _linear(inputs: int, outputs: int) -> float:
    return 2.0 * inputs * outputs


def _memory(
    settings: CompactSettings,
    size: TableSize,
    batch: int,
    context: int,
) -> float:
    """Bytes of weights, activations of updates and of predictions, attention, and the table.

    Predictions are in double precision.
    """
    members = settings.members
    width = settings.width
    layers = settings.layers
    row = size.columns * settings.token_width
    functions = size.columns * settings.bins

    layer = (2 * WIDENING + 3) * width**2
    weights = functions * settings.token_width
    weights += row * width
    weights += layers * layer

    activations = row + layers * width
    activations *= TRAINED_ACTIVATIONS
    activations += 3 * layers * settings.heads * batch
    update = batch * members * activations

    encoded = PREDICTED_ACTIVATIONS * row + 2 * layers * width
    attended = members * settings.heads * context * size.rows
    prediction = context * (functions + members * encoded)
    prediction += 3 * min(PREDICTED_CELLS, attended)

    values = WEIGHT_COPIES * members * weights + update + 2 * prediction
    return FLOAT * values + CELL_BYTES * size.cells
