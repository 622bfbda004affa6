"""How a study of context is shown."""

from workflow.studies.dose_response.figures import context as context_figure
from workflow.studies.dose_response.tables import context
from workflow.studies.view import View

VIEW = View(tables=(context,), figures=(context_figure,))
