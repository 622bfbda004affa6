"""How a study of deletion is shown."""

from workflow.studies.deletion.figures import deletion as deletion_figure
from workflow.studies.deletion.tables import deletion
from workflow.studies.view import View

VIEW = View(tables=(deletion,), figures=(deletion_figure,))
