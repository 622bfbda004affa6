rule probe:
    input:
        data="results/data/{dataset}.arrow",
        model=plan.probed_model,
    output:
        rows="results/probes/{study}/{dataset}/{method}/{variant}/{folds}.jsonl",
        predictions="results/probes/{study}/{dataset}/{method}/{variant}/{folds}.predictions.npz",
    log:
        "results/logs/probe/{study}/{dataset}/{method}/{variant}/{folds}.log",
    wildcard_constraints:
        study=plan.pattern("probed"),
    threads: 1
    resources:
        gpu=plan.probe_gpus,
        mem_mb=plan.memory,
        runtime=1440,
    params:
        settings=plan.settings,
        fingerprint=plan.fingerprint,
        preset=plan.preset,
        cap=plan.probe_rows,
        probe=plan.probe,
        options=plan.probe_options,
    shell:
        "python -m workflow.steps.probe --probe {params.probe} --dataset {wildcards.dataset} --method {wildcards.method}"
        " --variant {wildcards.variant} --folds {wildcards.folds} --settings {params.settings:q}"
        " --fingerprint {params.fingerprint} --preset {params.preset:q} --cap {params.cap} --data {input.data}"
        " --model {input.model} --options {params.options:q} --rows {output.rows} --predictions {output.predictions} --threads {threads}"
        " --log {log}"


rule collect:
    input:
        rows=plan.collect_inputs,
        data=plan.collect_data,
    output:
        "results/studies/{study}.csv",
    log:
        "results/logs/collect/{study}.log",
    resources:
        mem_mb=1000,
    params:
        contents=plan.contents,
        config=CONFIG,
    shell:
        "python -m workflow.steps.collect --study {wildcards.study} --configfile {params.config}"
        " --contents {params.contents} --output {output} --log {log}"
