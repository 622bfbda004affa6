"""How a study of corruption is shown."""

from workflow.studies.corruption.figures import corruption as corruption_figure
from workflow.studies.corruption.tables import MOVEMENT, corruption
from workflow.studies.view import Card, View

VIEW = View(
    tables=(corruption,),
    figures=(corruption_figure,),
    card=Card(
        "Do predictions and scores depend on other rows?",
        corruption,
        ("Columns", "Rows", MOVEMENT, "NLL", "Ratio", "Worse folds", "p"),
    ),
)
