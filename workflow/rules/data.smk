# A custom file is no input: its content is in the fingerprint, and its time tells nothing.
rule prepare:
    output:
        paths.prepared(),
    log:
        paths.log("prepare", "{dataset}"),
    resources:
        mem_mb=jobs.memory,
    params:
        fingerprint=jobs.dataset_fingerprint,
    message:
        "prepare {wildcards.dataset}"
    shell:
        "python -m workflow.steps.prepare --dataset {wildcards.dataset} > {log} 2>&1"
