"""How a dose response is shown."""

from workflow.studies.dose_response.figures import dose_response as dose_response_figure
from workflow.studies.dose_response.tables import dose_response
from workflow.studies.view import View

VIEW = View(tables=(dose_response,), figures=(dose_response_figure,))
