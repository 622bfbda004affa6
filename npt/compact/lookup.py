"""The lookup task (paper section 4.2, Appendix B.1) of compact NPT: rows have duplicates.

The context is the duplicates of the predicted rows themselves. In training these are the rows of a
batch, so a row may attend to itself. At prediction they are the rows of the same part, validation
or test. A duplicate shows the label of its row, if the table has it; training shows those of train
rows alone.

m rows of a context, C length of a label.
"""

from __future__ import annotations

from torch import Tensor

from npt.compact.settings import CompactSettings
from npt.errors import UserError
from npt.table import Task


def require_task(settings: CompactSettings, task: Task) -> None:
    """Raise `UserError` if the variant is for other targets."""
    if settings.lookup == "add_one" and task != "regression":
        raise UserError("lookup: add_one is for regression")


def shown_labels(labels: Tensor, settings: CompactSettings) -> Tensor:
    """What rows with labels (m, C) show in the context."""
    if settings.lookup == "add_one":
        return labels + 1.0
    return labels
