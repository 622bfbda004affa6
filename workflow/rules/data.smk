rule prepare:
    output:
        "results/data/{dataset}.npz",
    params:
        fingerprint=plan.dataset_fingerprint,
    log:
        "results/logs/prepare/{dataset}.log",
    resources:
        mem_mb=2000,
    shell:
        "python -m workflow.steps.prepare --dataset {wildcards.dataset} --downloads results/data/raw"
        " --output {output} --log {log}"
