"""How processes are shown."""

from workflow.studies.processes.figures import completions, examples, training
from workflow.studies.processes.tables import completions as completions_table
from workflow.studies.processes.tables import likelihoods
from workflow.studies.view import View

VIEW = View(
    tables=(likelihoods, completions_table),
    figures=(training, examples, completions),
    optional={
        "training": lambda study, scoring: "kernels" in study,
        "examples": lambda study, scoring: "kernels" in study,
        "completions": lambda study, scoring: "tasks" in study,
    },
)
