"""Non-Parametric Transformers, benchmarked: from raw tables to a report."""

from snakemake.utils import min_version

min_version("9.0")

from baselines import methods
from workflow.planning import paths, patterns
from workflow.planning.resources import growing_minutes
from workflow.runtime import hooks

jobs = hooks.plan_jobs(config, workflow)


report: "workflow/report/captions/workflow.rst"


container: "docker://python:3.11-slim"


wildcard_constraints:
    dataset=patterns.any_of(jobs.plan.datasets),
    method=patterns.any_of(methods()),
    variant=r"[A-Za-z0-9_.]+",
    seed=r"[0-9]+",
    folds=r"[0-9_-]+",
    study=patterns.any_of(jobs.plan.studies),


localrules:
    all,


rule all:
    input:
        jobs.targets,
    message:
        "all results: " + paths.REPORT


include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/studies.smk"
include: "workflow/rules/report.smk"


onstart:
    hooks.started(jobs, config, workflow)


onsuccess:
    hooks.finished()


onerror:
    hooks.failed(log)
