rule prepare:
    output:
        "results/data/{dataset}.arrow",
    log:
        "results/logs/prepare/{dataset}.log",
    resources:
        mem_mb=2000,
    params:
        fingerprint=plan.dataset_fingerprint,
    shell:
        "python -m workflow.steps.prepare --dataset {wildcards.dataset} --downloads results/data/raw"
        " --output {output} --facts {log}"
