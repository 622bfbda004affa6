# A job shows all of a study; the tables and figures depend on its kind.
for kind in jobs.kinds:

    rule:
        name:
            f"show_{kind}"
        input:
            paths.collected(),
        output:
            jobs.marked_for_report(kind, report),
        log:
            paths.log("show", "{study}"),
        wildcard_constraints:
            study=patterns.studies_of_kind(jobs.plan, kind),
        localrule: True
        resources:
            mem_mb=jobs.study_memory,
        params:
            scoring=jobs.scoring,
        message:
            "show {wildcards.study}"
        shell:
            "python -m workflow.runtime.step matplotlib show --study {wildcards.study} > {log} 2>&1"


rule report:
    input:
        jobs.collected_studies,
        jobs.page_figures,
        jobs.prepared_datasets,
    output:
        report(paths.REPORT, caption="../report/captions/page.rst", category="Page"),
    log:
        paths.log("report", "report"),
    localrule: True
    resources:
        mem_mb=jobs.report_memory,
    params:
        contents=jobs.page_contents,
    message:
        "write the report"
    shell:
        "python -m workflow.runtime.step matplotlib report > {log} 2>&1"
