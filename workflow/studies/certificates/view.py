"""How certificates are shown."""

from workflow.studies.certificates.figures import influence as influence_figure
from workflow.studies.certificates.figures import inversion, tightness
from workflow.studies.certificates.tables import bounds, influence
from workflow.studies.view import View

VIEW = View(
    tables=(influence, bounds),
    figures=(influence_figure, tightness, inversion),
    optional={
        "influence": lambda study, scoring: "largest_influence" in study,
        "tightness": lambda study, scoring: "tightness" in study,
        "inversion": lambda study, scoring: "inversions" in study,
    },
)
