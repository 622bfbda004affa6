"""The README beside rows: tables of the studies, as the module writes them now."""

import pytest

from npt.errors import UserError
from workflow.report.summary import CONFIG, README, REFERENCE, folder_summary


@pytest.mark.parametrize("name", ["quick", "mechanisms", "paper_tenth", "solved", "lookup_cpu"])
def test_readmes_of_the_reference_are_current(name: str) -> None:
    folder = REFERENCE / name
    assert folder_summary(folder) == (folder / README).read_text(encoding="utf-8")


def test_every_reference_has_a_readme() -> None:
    for path in REFERENCE.glob(f"*/{CONFIG}"):
        assert path.with_name(README).exists(), path


def test_a_folder_without_configuration_is_refused() -> None:
    with pytest.raises(UserError, match=CONFIG):
        folder_summary(REFERENCE / "defaults")
