"""How a study of few labels is shown."""

from workflow.studies.few_labels.figures import errors_by_labels, value_of_unlabelled_rows
from workflow.studies.few_labels.tables import few_labels
from workflow.studies.view import View

VIEW = View(tables=(few_labels,), figures=(value_of_unlabelled_rows, errors_by_labels))
