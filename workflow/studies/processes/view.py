"""How processes are shown."""

from workflow.studies.processes.figures import (
    attention,
    completions,
    examples,
    pixel_attention,
    training,
)
from workflow.studies.processes.tables import company, likelihoods
from workflow.studies.processes.tables import completions as completions_table
from workflow.studies.view import View

OF_CURVES = dict.fromkeys(
    ("training", "examples", "attention"), lambda study, scoring: "kernels" in study
)
OF_IMAGES = dict.fromkeys(
    ("completions", "pixel_attention"), lambda study, scoring: "tasks" in study
)
VIEW = View(
    tables=(likelihoods, company, completions_table),
    figures=(training, examples, attention, completions, pixel_attention),
    optional={**OF_CURVES, **OF_IMAGES},
)
