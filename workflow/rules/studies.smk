rule probe:
    input:
        paths.prepared(),
        jobs.probed_files,
    output:
        directory(paths.probes()),
    log:
        paths.log("probe", paths.RUN),
    wildcard_constraints:
        method=methods_of("train"),
    threads: 1
    resources:
        gpu=1,
        mem_mb=jobs.memory,
        runtime=growing_minutes(240),
    params:
        run=paths.RUN,
        fingerprint=jobs.probe_fingerprint,
    message:
        "probe {params.run}"
    shell:
        "python -m workflow.runtime.step probe --run {params.run} --threads {threads} > {log} 2>&1"


# Of models without weights, on the device of their fits; a rule of its own, so that a profile can name its partition.
use rule probe as probe_baseline with:
    wildcard_constraints:
        method=methods_of("fit"),
    resources:
        gpu=0,
        mem_mb=jobs.memory,
        runtime=growing_minutes(240),


use rule probe_baseline as probe_accelerated with:
    wildcard_constraints:
        method=methods_of("fit_accelerated"),


# What takes seconds runs where Snakemake does, without a queue.
rule collect:
    input:
        jobs.study_files,
    output:
        paths.collected(),
    log:
        paths.log("collect", "{study}"),
    localrule: True
    resources:
        mem_mb=jobs.reading_memory,
    params:
        contents=jobs.contents,
    message:
        "collect {wildcards.study}"
    shell:
        "python -m workflow.runtime.step collect --study {wildcards.study} > {log} 2>&1"
