"""How processes are shown."""

from workflow.studies.processes.figures import completions, training
from workflow.studies.processes.tables import likelihoods
from workflow.studies.view import View

VIEW = View(
    tables=(likelihoods,),
    figures=(training, completions),
    optional={
        "training": lambda study, scoring: "kernels" in study,
        "completions": lambda study, scoring: "tasks" in study,
    },
)
