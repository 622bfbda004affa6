"""How a study of context is shown."""

from workflow.studies.dose_response.view import context_figure, context_table
from workflow.studies.view import View

VIEW = View(tables={"context": context_table}, figures={"context": context_figure})
