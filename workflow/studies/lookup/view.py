"""How a study of the lookup task is shown."""

from workflow.studies.lookup.figures import has_predictions, intervention, predictions
from workflow.studies.lookup.tables import lookup
from workflow.studies.view import Card, View

VIEW = View(
    tables=(lookup,),
    figures=(predictions, intervention),
    card=Card(
        "Can they copy a target from another row?",
        lookup,
        ("Task", "RMSE", "r", "Alone", "1-NN", "Constant"),
    ),
    optional={"predictions": lambda study, scoring: has_predictions(study)},
)
