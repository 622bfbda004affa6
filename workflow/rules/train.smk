rule train:
    input:
        paths.prepared(),
    output:
        paths.run_rows(),
        paths.run_predictions(),
        paths.run_weights(),
    log:
        paths.log("run", paths.RUN),
    wildcard_constraints:
        method=methods_of("train"),
    priority: 10
    threads: 1
    resources:
        gpu=1,
        mem_mb=jobs.memory,
        runtime=growing_minutes(720),
    params:
        run=paths.RUN,
        fingerprint=jobs.fingerprint,
    message:
        "train {params.run}"
    shell:
        "python -m workflow.runtime.step run --run {params.run} --threads {threads} > {log} 2>&1"


rule fit:
    input:
        paths.prepared(),
    output:
        paths.run_rows(),
        paths.run_predictions(),
        paths.run_trials(),
    log:
        paths.log("run", paths.RUN),
    wildcard_constraints:
        method=methods_of("fit"),
    threads: 1
    resources:
        gpu=0,
        device="cpu",
        mem_mb=jobs.memory,
        runtime=growing_minutes(720),
    params:
        run=paths.RUN,
        fingerprint=jobs.fingerprint,
    message:
        "fit {params.run}"
    shell:
        "python -m workflow.runtime.step run --run {params.run} --device {resources.device} --threads {threads} > {log} 2>&1"


# A profile can give these a GPU, with `set-resources`.
use rule fit as fit_accelerated with:
    wildcard_constraints:
        method=methods_of("fit_accelerated"),
