"""From config.yaml to a checked `Config`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from npt.errors import UserError
from npt.validation import validated
from workflow.config.consistency import check
from workflow.config.models import Config

LARGEST = 10**12
WHOLE_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)")


def read(raw: Mapping[str, Any]) -> Config:
    """Check a configuration as parsed from YAML.

    Raises:
        UserError: One line with the key, what was found and what is allowed.
    """
    _require_finite(raw, "", [])
    config = validated(Config, raw, "")
    check(config)
    return config


def _require_finite(value: Any, key: str, parents: list[Any]) -> None:
    """Raise `UserError` for a value that contains itself, and a number that none should be."""
    if isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise UserError(f"{key}: allowed: numbers up to {LARGEST:.0e}")
    if not isinstance(value, Mapping | list):
        return
    if any(value is parent for parent in parents):
        raise UserError(f"{key}: contains itself (`&` and `*`)")
    items = value.items() if isinstance(value, Mapping) else enumerate(value)
    for name, inner in items:
        _require_finite(inner, f"{key}.{name}".removeprefix("."), [*parents, value])


def read_file(path: Path) -> Config:
    """Check the configuration in a YAML file.

    Raises:
        UserError: See `parse` and `read`.
    """
    return read(parse(path))


def parse(path: Path) -> Mapping[str, Any]:
    """Content of a YAML file; empty if it is no mapping.

    Raises:
        UserError: The file is not YAML, a key occurs twice in it, or a whole number is written in
            another way than as decimal digits.
    """
    import yaml

    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), _loader())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not YAML ({' '.join(str(error).split())})") from None
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    if not isinstance(raw, dict):
        return {}
    return raw


def require_plain_numbers(argument: str) -> None:
    """Raise `UserError` for `key=value` whose value YAML reads as another whole number."""
    import yaml

    key, equals, value = argument.partition("=")
    if not (equals and key.isidentifier()):
        return
    try:
        yaml.load(value, _loader())
    except yaml.YAMLError:
        return  # Snakemake tells
    except UserError as error:
        reason = str(error).removeprefix("line 1: ")
        raise UserError(f"{key}: {reason}") from None


@cache
def _loader() -> Any:
    """YAML's safe loader, except that duplicate keys and odd whole numbers are errors."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            seen: set[tuple[str, str]] = set()
            for key, _ in node.value:
                if key.tag == "tag:yaml.org,2002:merge":
                    continue
                name = (key.tag, str(key.value))
                if name in seen:
                    line = key.start_mark.line + 1
                    raise UserError(f"line {line}: duplicate key {key.value!r}")
                seen.add(name)
            return node

        def construct_yaml_int(self, node: Any) -> int:
            value = super().construct_yaml_int(node)
            if not WHOLE_NUMBER.fullmatch(node.value):
                line = node.start_mark.line + 1
                raise UserError(
                    f"line {line}: {node.value} is the number {value} in YAML; put quotes around it"
                )
            return value

    Loader.add_constructor("tag:yaml.org,2002:int", Loader.construct_yaml_int)
    return Loader
