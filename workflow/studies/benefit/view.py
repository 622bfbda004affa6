"""How dependence and benefit are shown."""

from workflow.studies.benefit.figures import benefit as benefit_figure
from workflow.studies.benefit.tables import benefit
from workflow.studies.view import Card, View

VIEW = View(
    tables=(benefit,),
    figures=(benefit_figure,),
    card=Card(
        "Does training with other rows help?",
        benefit,
        ("Source", "Reads", "Control", "Depends", "Benefits"),
    ),
)
