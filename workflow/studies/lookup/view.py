"""How a study of the lookup task is shown."""

from workflow.studies.lookup.figures import intervention, predictions
from workflow.studies.lookup.tables import lookup
from workflow.studies.view import Card, View

VIEW = View(
    tables=(lookup,),
    figures=(predictions, intervention),
    card=Card(
        "Can they copy a target from another row?",
        lookup,
        figures=("intervention",),
    ),
    optional={  # older rows have no predictions
        "predictions": lambda study, scoring: (
            "looked_up" in study and bool(study["looked_up"].notna().any())
        )
    },
)
