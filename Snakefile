"""Non-Parametric Transformers, benchmarked: from raw tables to one page of results."""

from snakemake.utils import min_version

min_version("9.0")

if not workflow.overwrite_configfiles:

    configfile: "config.yaml"


from workflow.runtime.announce import failed, finished
from workflow.planning.paths import CONFIG
from workflow.runtime.start import keep, planned

plan = planned(config, workflow)


report: "workflow/report/captions/workflow.rst"


container: "docker://python:3.11-slim"


wildcard_constraints:
    dataset="|".join(plan.datasets),
    method=plan.pattern("method"),
    variant=r"[A-Za-z0-9_.]+",
    folds=r"[0-9_-]+",
    study="|".join(plan.studies),


localrules:
    all,


rule all:
    input:
        plan.targets,


include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/studies.smk"
include: "workflow/rules/report.smk"


onstart:
    keep(config)


onsuccess:
    finished()


onerror:
    failed(log)
