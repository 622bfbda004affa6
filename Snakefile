"""Non-Parametric Transformers, benchmarked: from raw tables to a report."""


include: "workflow/Snakefile"


localrules:
    all,


rule all:
    input:
        jobs.targets,
    message:
        f"all results: {paths.REPORT}"
