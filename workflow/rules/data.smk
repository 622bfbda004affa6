rule prepare:
    input:
        plan.own_file,
    output:
        "results/data/{dataset}.arrow",
    log:
        "results/logs/prepare/{dataset}.log",
    resources:
        mem_mb=plan.prepare_memory,
    params:
        fingerprint=plan.dataset_fingerprint,
        table=plan.custom_dataset,
    shell:
        "python -m workflow.steps.prepare --dataset {wildcards.dataset} --table {params.table:q}"
        " --downloads results/data/raw --output {output} --log {log}"
