"""How certificates are shown."""

from workflow.studies.certificates.figures import influence as influence_figure
from workflow.studies.certificates.tables import influence
from workflow.studies.view import View

VIEW = View(tables=(influence,), figures=(influence_figure,))
