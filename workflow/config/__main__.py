"""Write the JSON schema of config.yaml, for editors: `python -m workflow.config`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from baselines import methods
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
    settings: Schema = {}
    variants: Schema = {}
    for name, method in methods().items():
        described = method.settings.model_json_schema()
        definitions |= described.pop("$defs", {})
        definitions[method.settings.__name__] = described
        settings[name] = _nullable({"$ref": f"#/$defs/{method.settings.__name__}"})
        variants[name] = {"type": "object", "additionalProperties": settings[name]}
    by_method = {"type": "object", "properties": settings, "additionalProperties": False}
    named = {**by_method, "properties": variants}

    properties = content["properties"]
    properties["settings"].update(by_method)
    properties["overrides"]["additionalProperties"] = _nullable(by_method)
    properties["configurations"]["additionalProperties"] = named
    properties["budget"] = {
        "description": properties["budget"]["description"],
        "anyOf": [{"type": "integer", "minimum": 1}, {"type": "object"}],
    }
    properties["studies"]["additionalProperties"] = _nullable({"$ref": "#/$defs/StudyConfig"})
    properties["studies"].pop("patternProperties", None)
    study = definitions["StudyConfig"]["properties"]
    study["variants"].update(named)
    study["kind"]["enum"] = list(kinds())
    return content


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")
