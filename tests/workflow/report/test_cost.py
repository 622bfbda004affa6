from __future__ import annotations

from tests.workflow.report.toy import SCORING, benchmark_study
from workflow.report.cost import cost


def test_a_custom_table_has_its_rows_in_the_heading() -> None:
    study = benchmark_study(train_rows=1200, validation_rows=34, test_rows=100)
    study["dataset"] = study["dataset"].replace("yacht", "houses")
    titles = [section.title for section in cost(study, SCORING).sections]
    assert titles[1] == "Cost on houses* (1,334 rows), per fold"


def test_rows_of_another_program_may_lack_their_number() -> None:
    titles = [section.title for section in cost(benchmark_study(), SCORING).sections]
    assert titles == [
        "Cost on Breast Cancer (569 rows), per fold",
        "Cost on Yacht (308 rows), per fold",
    ]
