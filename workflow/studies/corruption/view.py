"""How a study of corruption is shown."""

import pandas as pd

from workflow.report.cells import Cell, counted, scientific, text
from workflow.report.statistics import MODEL
from workflow.studies.answers import effects_answer
from workflow.studies.corruption.tables import corruption
from workflow.studies.view import Card, View


def answer(tidy: pd.DataFrame) -> str:
    """What the first selection, which is all other rows by default, does to the error."""
    return effects_answer(tidy.drop_duplicates(MODEL), "Shuffling the other rows")


def controls(tidy: pd.DataFrame) -> list[dict[str, Cell]]:
    """What the identity permutation changes, and on how many folds k-NN is worse."""
    rows = []
    models = tidy.drop_duplicates(MODEL)
    identity = models["control"].dropna()
    if len(identity):
        rows.append(
            {
                "Control": text(f"identity permutation, {counted(len(identity), 'model')}"),
                "Expected": text("no effect"),
                "Measured": scientific(identity.max(), 1),
            }
        )
    neighbours = models[(models["method"] == "knn") & models["effect"].notna()]
    if len(neighbours):
        worse = f"{neighbours['worse_folds'].sum():.0f} of {neighbours['folds'].sum():.0f}"
        rows.append(
            {
                "Control": text("k-NN, which predicts from other rows alone, shuffled"),
                "Expected": text("worse on all folds"),
                "Measured": text(worse),
            }
        )
    return rows


VIEW = View(
    tables=(corruption,),
    card=Card(
        "Do predictions depend on other rows?",
        corruption,
        answer=answer,
        controls=controls,
    ),
)
