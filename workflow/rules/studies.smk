rule probe:
    input:
        paths.prepared(),
        jobs.probed_files,
    output:
        paths.probe_rows(),
        paths.probe_predictions(),
    log:
        paths.log("probe", paths.PROBE),
    wildcard_constraints:
        study=patterns.probing_studies(jobs.plan),
    threads: 1
    resources:
        gpu=jobs.probe_gpus,
        mem_mb=jobs.memory,
        runtime=jobs.probe_minutes,
    params:
        run=jobs.stem,
        fingerprint=jobs.probe_fingerprint,
    message:
        "probe {params.run} for {wildcards.study}"
    shell:
        "python -m workflow.steps.probe --study {wildcards.study} --run {params.run} --threads {threads} > {log} 2>&1"


rule collect:
    input:
        jobs.row_files,
        jobs.external_files,
        jobs.study_data,
    output:
        paths.collected(),
    log:
        paths.log("collect", "{study}"),
    resources:
        mem_mb=1000,
    params:
        contents=jobs.contents,
    message:
        "collect {wildcards.study}"
    shell:
        "python -m workflow.steps.collect --study {wildcards.study} > {log} 2>&1"
