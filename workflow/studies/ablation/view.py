"""How an ablation is shown."""

from workflow.report.cost import cost
from workflow.studies.ablation.figures import ablation as ablation_figure
from workflow.studies.ablation.tables import ablation
from workflow.studies.view import View

VIEW = View(tables=(ablation, cost), figures=(ablation_figure,))
