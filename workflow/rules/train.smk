rule train:
    input:
        data="results/data/{dataset}.arrow",
    output:
        rows="results/runs/{dataset}/{method}/{variant}/{folds}.jsonl",
        predictions="results/runs/{dataset}/{method}/{variant}/{folds}.predictions.npz",
        weights="results/runs/{dataset}/{method}/{variant}/{folds}.pt",
    log:
        "results/logs/train/{dataset}/{method}/{variant}/{folds}.log",
    benchmark:
        "results/logs/train/{dataset}/{method}/{variant}/{folds}.tsv"
    wildcard_constraints:
        method=plan.pattern("trained"),
    priority: 10
    threads: 1
    resources:
        gpu=1,
        mem_mb=plan.memory,
        runtime=plan.minutes,
    params:
        settings=plan.settings,
        fingerprint=plan.fingerprint,
        preset=plan.preset,
    shell:
        "python -m workflow.steps.run --dataset {wildcards.dataset} --method {wildcards.method}"
        " --variant {wildcards.variant} --folds {wildcards.folds} --settings {params.settings:q}"
        " --fingerprint {params.fingerprint} --preset {params.preset:q} --data {input.data} --rows {output.rows}"
        " --predictions {output.predictions} --weights {output.weights} --threads {threads} --log {log}"


rule fit:
    input:
        data="results/data/{dataset}.arrow",
    output:
        rows="results/runs/{dataset}/{method}/{variant}/{folds}.jsonl",
        predictions="results/runs/{dataset}/{method}/{variant}/{folds}.predictions.npz",
        scores="results/runs/{dataset}/{method}/{variant}/{folds}.scores.parquet",
    log:
        "results/logs/fit/{dataset}/{method}/{variant}/{folds}.log",
    benchmark:
        "results/logs/fit/{dataset}/{method}/{variant}/{folds}.tsv"
    wildcard_constraints:
        method=plan.pattern("fitted"),
    threads: 1
    resources:
        mem_mb=plan.memory,
        runtime=plan.minutes,
        gpu=0,
        device="cpu",
    params:
        settings=plan.settings,
        fingerprint=plan.fingerprint,
        preset=plan.preset,
    shell:
        "python -m workflow.steps.run --dataset {wildcards.dataset} --method {wildcards.method}"
        " --variant {wildcards.variant} --folds {wildcards.folds} --settings {params.settings:q}"
        " --fingerprint {params.fingerprint} --preset {params.preset:q} --data {input.data} --rows {output.rows}"
        " --predictions {output.predictions} --scores {output.scores} --device {resources.device} --threads {threads}"
        " --log {log}"


# A profile can give these a GPU, with `set-resources`.
use rule fit as fit_accelerated with:
    wildcard_constraints:
        method=plan.pattern("accelerated"),
