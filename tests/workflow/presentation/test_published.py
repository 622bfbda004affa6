import numpy as np
import pandas as pd
import pytest

from workflow.presentation.cells import MISSING, Cell
from workflow.presentation.published import difference_cells, in_standard_errors, is_protein


def test_difference_is_in_standard_errors() -> None:
    """The paper may print no error; folds that are all the same say nothing of others."""
    errors = np.array([0.3, 0.5, np.nan, 0.0])
    published_errors = np.array([0.4, np.nan, 0.4, 0.4])
    differences = in_standard_errors(5.0, errors, 4.0, published_errors)
    assert differences == pytest.approx([2, 2, np.nan, np.nan], nan_ok=True)


def test_differences_beyond_the_t_quantile_are_bold() -> None:
    """It is 4.30 for three folds and 2.26 for ten."""
    frame = pd.DataFrame(
        {"standard_errors": [4.2, -4.4, 2.2, 2.4, np.nan], "folds": [3, 3, 10, 10, 1]}
    )
    assert difference_cells(frame) == [
        Cell("+4.2"),
        Cell("−4.4", bold=True),
        Cell("+2.2"),
        Cell("+2.4", bold=True),
        MISSING,
    ]


def test_a_custom_dataset_is_no_part_of_the_papers() -> None:
    assert is_protein("protein")
    assert not is_protein("protein_mine")
