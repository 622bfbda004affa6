"""How a dose response is shown."""

import pandas as pd

from workflow.report.cells import Cell, scientific, text
from workflow.studies.answers import effects_answer
from workflow.studies.dose_response.figures import dose_response as dose_response_figure
from workflow.studies.dose_response.tables import dose_response
from workflow.studies.view import Card, View


def answer(tidy: pd.DataFrame) -> str:
    """What the largest deletion does to the error."""
    deleted = tidy[tidy["kind"] == "delete"]
    most = deleted[deleted["share"] == deleted["share"].max()]
    return effects_answer(most, f"Deleting {100 * most['share'].max():.0f} % of them")


def controls(tidy: pd.DataFrame) -> list[dict[str, Cell]]:
    """What changes of other rows do to a linear model, which uses none."""
    effects = tidy.loc[tidy["method"] == "linear", "effect"].dropna()
    if effects.empty:
        return []
    row = {
        "Control": text("linear model, which uses no other row, shuffled and deleted"),
        "Expected": text("no effect"),
        "Measured": scientific(effects.abs().max(), 1),
    }
    return [row]


VIEW = View(
    tables=(dose_response,),
    figures=(dose_response_figure,),
    card=Card(
        "Do predictions depend on other rows?",
        dose_response,
        answer=answer,
        figures=("dose_response",),
        controls=controls,
    ),
)
