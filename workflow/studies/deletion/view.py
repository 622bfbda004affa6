"""How a study of deletion is shown."""

import pandas as pd

from workflow.report.statistics import LEVEL
from workflow.studies.deletion.figures import deletion as deletion_figure
from workflow.studies.deletion.tables import deletion
from workflow.studies.view import Card, View


def answer(tidy: pd.DataFrame) -> str:
    """For how many models the rows that predictions keep are near."""
    tested = tidy["p_random"].dropna()
    if tested.empty:
        return ""
    near = (tested < LEVEL).sum()
    return (
        f"The rows that predictions keep are nearer than as many random rows for {near} of "
        f"{len(tested)} models, with p below {LEVEL}."
    )


VIEW = View(
    tables=(deletion,),
    figures=(deletion_figure,),
    card=Card(
        "Which rows matter?",
        deletion,
        ("Rows", "Distance, kept", "Distance, random", "p, kept < random", "Context left"),
        answer,
    ),
)
