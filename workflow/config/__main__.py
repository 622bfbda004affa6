"""Write the JSON schema of config.yaml, for editors: `python -m workflow.config`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from baselines import methods
from npt.method import Method
from workflow.config.models import Config
from workflow.studies import kinds

SCHEMA = Path(__file__).with_name("schema.json")
TITLE = "config.yaml of the NPT benchmark"

Schema = dict[str, Any]


def schema() -> Schema:
    """JSON schema of a configuration, with the settings of all methods."""
    content = Config.model_json_schema()
    content["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    content["title"] = TITLE
    definitions = content["$defs"]
    for method in methods().values():
        model = method.settings
        described = model.model_json_schema()
        definitions |= described.pop("$defs", {})
        definitions[model.__name__] = described
    settings = _by_method(_settings_of)
    variants = _by_method(_variants_of)

    properties = content["properties"]
    properties["settings"].update(settings)
    properties["overrides"]["additionalProperties"] = _nullable(settings)
    properties["configurations"]["additionalProperties"] = variants
    properties["budget"] = {
        "description": properties["budget"]["description"],
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "object"}],
    }
    properties["studies"]["additionalProperties"] = _nullable({"$ref": "#/$defs/StudyConfig"})
    properties["studies"].pop("patternProperties", None)
    study = definitions["StudyConfig"]["properties"]
    study["variants"].update(variants)
    study["kind"]["enum"] = list(kinds())
    return content


def _settings_of(method: Method) -> Schema:
    return _nullable({"$ref": f"#/$defs/{method.settings.__name__}"})


def _variants_of(method: Method) -> Schema:
    return {"type": "object", "additionalProperties": _settings_of(method)}


def _by_method(schema_of: Callable[[Method], Schema]) -> Schema:
    """Schema of a mapping from methods."""
    properties = {name: schema_of(method) for name, method in methods().items()}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")
