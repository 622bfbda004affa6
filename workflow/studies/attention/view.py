"""How a study of attention is shown."""

from workflow.studies.attention.figures import attention as attention_figure
from workflow.studies.attention.tables import attention
from workflow.studies.view import Card, View

VIEW = View(
    tables=(attention,),
    figures=(attention_figure,),
    card=Card(
        "Which rows matter?",
        attention,
        ("By training", "Nearness", "Unrelated queries", "Local", "On own class"),
    ),
)
