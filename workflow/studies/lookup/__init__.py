"""Lookup and intervention: does a model read targets off other rows?

Paper section 4.2, Table 3, Figure 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from baselines.grids import BaselineSettings
from npt.errors import UserError, unknown
from workflow.studies.study_kind import Options, StudyKind

Compared = dict[str, BaselineSettings]  # by baseline
ENCODING = ("native_categories", "native_missing", "transductive")  # here as in the probed NPT


class LookupOptions(Options):
    """Options of the lookup task.

    Attributes:
        compare_with: Baselines that know the duplicates and predict the originals, with their
            settings; those of a list have their quick grids.
        posed: Variant of the task for probed methods that were not trained on it: their stored
            rows become the duplicates.
    """

    compare_with: Compared = Field(default={})
    posed: Literal["original", "add_one"] = "original"

    @field_validator("compare_with", mode="before")
    @classmethod
    def _with_quick_grids(cls, names: Any) -> Any:
        if not isinstance(names, list):
            return names
        return {str(name): {"grid": "quick"} for name in names}

    @field_validator("compare_with")
    @classmethod
    def _known_baselines(cls, compared: Compared) -> Compared:
        from baselines import baselines
        from workflow.config.resolution import check_grid

        for name, settings in compared.items():
            if name not in baselines():
                raise ValueError(unknown(name, baselines()))
            try:
                check_grid(name, settings)
            except UserError as error:
                raise ValueError(str(error)) from None
            for key in ENCODING:
                if getattr(settings, key) != BaselineSettings.model_fields[key].default:
                    raise ValueError(f"{name}.{key}: not allowed; features are encoded as for NPT")
        return compared


class Lookup(StudyKind):
    """A kind for models that were trained on the lookup task, or predict from stored rows."""

    def refuse(self, settings: Mapping[str, Any], options: Any) -> str | None:
        """Refuses an NPT that was trained without the lookup task."""
        if settings.get("lookup") == "off":
            return "not trained on the lookup task; add a variant that sets `lookup`"
        return None


KIND = Lookup(
    name="lookup",
    title="Can they copy a target from another row?",
    order=3,
    options=LookupOptions,
    probes=True,
    needs_rows=True,
    only_task="regression",
)
