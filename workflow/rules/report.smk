rule table:
    input:
        "results/studies/{study}.csv",
    output:
        csv="results/tables/{study}.{table}.csv",
        markdown="results/tables/{study}.{table}.md",
    log:
        "results/logs/table/{study}.{table}.log",
    resources:
        mem_mb=1000,
    params:
        metrics=plan.metrics,
    shell:
        "python -m workflow.steps.table --table {wildcards.table} --metrics {params.metrics:q} --study {input}"
        " --csv {output.csv} --markdown {output.markdown} --log {log}"


rule figure:
    input:
        "results/studies/{study}.csv",
    output:
        svg="results/figures/{study}.{figure}.svg",
        png="results/figures/{study}.{figure}.png",
    log:
        "results/logs/figure/{study}.{figure}.log",
    resources:
        mem_mb=1000,
    params:
        metrics=plan.metrics,
    shell:
        "python -m workflow.steps.figure --figure {wildcards.figure} --metrics {params.metrics:q} --study {input}"
        " --svg {output.svg} --png {output.png} --log {log}"


rule report:
    input:
        results=plan.report_inputs,
        data=plan.data_inputs,
    output:
        "results/report/index.html",
    log:
        "results/logs/report.log",
    resources:
        mem_mb=1000,
    params:
        studies=plan.study_order,
        metrics=plan.metrics,
        preset=plan.preset,
    shell:
        "python -m workflow.steps.report --studies {params.studies:q} --metrics {params.metrics:q}"
        " --preset {params.preset:q} --results results --output {output} {input.data} --log {log}"
