"""How a study of context is shown."""

from workflow.presentation.sections import View
from workflow.studies.dose_response.view import context_figure, context_table

VIEW = View(tables={"context": context_table}, figures={"context": context_figure})
