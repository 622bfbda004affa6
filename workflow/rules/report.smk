rule show:
    input:
        paths.collected(),
    output:
        report(
            directory(paths.tables()),
            patterns=["{table}.csv"],
            category="{study}",
            subcategory="Tables",
        ),
        report(
            directory(paths.figures()),
            patterns=["{figure}.svg"],
            category="{study}",
            subcategory="Figures",
        ),
    log:
        paths.log("show", "{study}"),
    localrule: True
    resources:
        mem_mb=jobs.reading_memory,
    params:
        scoring=jobs.scoring,
    message:
        "show {wildcards.study}"
    shell:
        "python -m workflow.runtime.step show --study {wildcards.study} > {log} 2>&1"


rule report:
    input:
        jobs.report_inputs,
    output:
        report(paths.REPORT, caption="../report/captions/page.rst", category="Page"),
    log:
        paths.log("report", "report"),
    localrule: True
    resources:
        mem_mb=jobs.reading_memory,
    params:
        contents=jobs.page_contents,
    message:
        "write the report"
    shell:
        "python -m workflow.runtime.step report > {log} 2>&1"
