"""Write the JSON schema of config.yaml, for editors: `python -m workflow.config`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from baselines import methods
from workflow.config.models import Config
from workflow.studies import kinds

SCHEMA = Path(__file__).with_name("schema.json")
TITLE = "config.yaml of the NPT benchmark"

Schema = dict[str, Any]


def schema() -> Schema:
    """JSON schema with the settings of all methods and the options of all study kinds."""
    content = Config.model_json_schema()
    content["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    content["title"] = TITLE
    properties = content["properties"]
    for name, method in methods().items():
        _define(content, f"settings_{name}", method.settings)
    settings = _by_method("")
    properties["settings"]["additionalProperties"] = False
    properties["settings"] |= settings
    properties["overrides"]["additionalProperties"] = _nullable({"type": "object", **settings})
    variants = _by_method("variants")
    study = content["$defs"]["StudyConfig"]["properties"]
    study["variants"] |= variants
    study["kind"]["enum"] = list(kinds())
    properties["configurations"]["additionalProperties"] = {"type": "object", **variants}
    properties["budget"] = {
        "description": properties["budget"]["description"],
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "object"}],
    }
    properties["studies"]["additionalProperties"] = _nullable({"$ref": "#/$defs/StudyConfig"})
    properties["studies"].pop("patternProperties", None)
    return content


def _define(content: Schema, name: str, model: type) -> None:
    """Add the schema of a model; it must have no nested models."""
    if issubclass(model, BaseModel):
        content["$defs"][name] = model.model_json_schema()
    else:
        content["$defs"][name] = {"type": "object"}


def _by_method(what: str) -> Schema:
    """Properties with settings, or with named variants of settings, of every method."""
    properties: Schema = {}
    for name in methods():
        settings = _nullable({"$ref": f"#/$defs/settings_{name}"})
        properties[name] = settings
        if what == "variants":
            properties[name] = {"type": "object", "additionalProperties": settings}
    return {"properties": properties, "additionalProperties": False}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")
