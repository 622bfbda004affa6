"""From config.yaml to a checked `Config`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import yaml

from npt.errors import UserError
from npt.validation import validated
from workflow.config.consistency import check
from workflow.config.models import Config

LARGEST = 10**12
INTEGER = "tag:yaml.org,2002:int"
FLOAT = "tag:yaml.org,2002:float"
WHOLE_NUMBER = re.compile(r"[-+]?(0|[1-9][0-9]*)$")
NUMBER = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")


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
        UserError: The file cannot be read, is not YAML, or has a key twice.
    """
    try:
        raw = load(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not YAML ({error})") from None
    if not isinstance(raw, dict):
        return {}
    return raw


def load(text: str, where: str) -> Any:
    """Content of a YAML text; `where` names it in errors.

    Raises:
        UserError: It is not YAML, or has a key twice.
    """
    try:
        return yaml.load(text, _Loader)
    except UserError as error:
        raise UserError(f"{where}: {error}") from None
    except Exception as error:  # values such as `!!int abc` are whatever their type raises
        raise UserError(f"{where}: not YAML ({' '.join(str(error).split())})") from None


class _Loader(yaml.SafeLoader):
    """YAML's safe loader, except that duplicate keys are errors, and numbers those of JSON.

    So `0_2` and `010` are text, which YAML 1.1 reads as 2 and 8, and `5e-4` is a number.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        letter: [(tag, pattern) for tag, pattern in resolvers if tag not in (INTEGER, FLOAT)]
        for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

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


def as_yaml(config: Mapping[str, Any]) -> str:
    """A configuration as YAML that `parse` and Snakemake read alike."""
    return yaml.dump(config, Dumper=_Dumper, sort_keys=False)


class _Dumper(yaml.SafeDumper):
    """YAML's safe dumper, which quotes text such as `1e5`, too."""


_Dumper.add_implicit_resolver(FLOAT, NUMBER, list("-+.0123456789"))
_Loader.add_implicit_resolver(INTEGER, WHOLE_NUMBER, list("-+0123456789"))
_Loader.add_implicit_resolver(FLOAT, NUMBER, list("-+.0123456789"))
