"""Write the JSON schema of config.yaml, for editors: `python -m workflow.config`."""

from __future__ import annotations

import json
from pathlib import Path

from workflow.config.models import Config

SCHEMA = Path(__file__).with_name("schema.json")

if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(Config.model_json_schema(), indent=1) + "\n", encoding="utf-8")
