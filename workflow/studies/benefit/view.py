"""How dependence and benefit are shown."""

import pandas as pd

from workflow.studies.answers import effects_answer
from workflow.studies.benefit.figures import benefit as benefit_figure
from workflow.studies.benefit.tables import benefit
from workflow.studies.view import Card, View


def answer(tidy: pd.DataFrame) -> str:
    """What training without other rows costs."""
    without_rows = tidy[tidy["source"] == "other rows"]
    return effects_answer(without_rows, "Retraining without other rows", "benefits")


VIEW = View(
    tables=(benefit,),
    figures=(benefit_figure,),
    card=Card(
        "Does training with them help?",
        benefit,
        answer=answer,
        figures=("benefit",),
    ),
)
