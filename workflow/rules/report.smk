# A job shows all of a study; what there is to show depends on its kind.
for kind in plan.kinds:

    rule:
        name:
            f"show_{kind}"
        input:
            "results/studies/{study}.csv",
        output:
            [
                (
                    report(path, **about)
                    if (about := plan.in_report(path, kind))
                    else path
                )
                for path in plan.shown("{study}", kind)
            ],
        log:
            "results/logs/show/{study}.log",
        wildcard_constraints:
            study=plan.pattern(kind),
        resources:
            mem_mb=1000,
        params:
            scoring=plan.scoring,
            kind=kind,
        shell:
            "python -m workflow.steps.show --study {input} --kind {params.kind} --scoring {params.scoring:q}"
            " --tables results/tables --figures results/figures --log {log}"


rule report:
    input:
        results=plan.report_inputs,
        data=plan.data_inputs,
    output:
        report(
            "results/report/index.html",
            caption="../report/captions/page.rst",
            category="Page",
        ),
    log:
        "results/logs/report.log",
    resources:
        mem_mb=1000,
    params:
        studies=plan.study_order,
        scoring=plan.scoring,
        preset=plan.preset,
    shell:
        "python -m workflow.steps.report --studies {params.studies:q} --scoring {params.scoring:q}"
        " --preset {params.preset:q} --results results --output {output} {input.data} --log {log}"
