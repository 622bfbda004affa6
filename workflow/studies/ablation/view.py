"""How an ablation is shown."""

from workflow.report.cost import cost
from workflow.studies.ablation.figures import ablation as ablation_figure
from workflow.studies.ablation.tables import ablation, validation_ranks
from workflow.studies.view import View

VIEW = View(tables=(ablation, validation_ranks, cost), figures=(ablation_figure,))
