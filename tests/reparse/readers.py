"""YAML readers as hosts use them: each splits a SKILL.md by itself and gives its frontmatter."""

from __future__ import annotations

import importlib
import io
import json
import re
from typing import TYPE_CHECKING, Any, Final, cast

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

SPLIT: Final = re.compile(r"---\r?\n(.*?\r?\n)---(?:\r?\n|\Z)", re.DOTALL)
"""The lines between two lines of dashes, the strictest that hosts are about those two."""


def split(data: bytes) -> str:
    """Return the YAML of a SKILL.md as a host finds it.

    Raises:
        ValueError: If it finds none.
    """
    found = SPLIT.match(data.decode())
    if found is None:
        raise ValueError("no frontmatter")
    return found[1]


class _Core(yaml.SafeLoader):
    """PyYAML with the plain scalars of YAML 1.2's core schema."""


_Core.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", list("tTfF")),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", list("-+0123456789")),
    (
        "float",
        (
            r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list("-+.0123456789"),
    ),
):
    cast("Any", _Core).add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), _first
    )


def _core_int(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


def _core_float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(str(loader.construct_scalar(node)))


_Core.add_constructor("tag:yaml.org,2002:int", _core_int)
_Core.add_constructor("tag:yaml.org,2002:float", _core_float)


def pyyaml_core(data: bytes) -> Any:
    """Read with PyYAML by YAML 1.2's core schema."""
    return yaml.load(split(data), Loader=_Core)  # noqa: S506 - a safe loader with fewer types


def pyyaml(data: bytes) -> Any:
    """Read with PyYAML as it is, which follows YAML 1.1."""
    return yaml.safe_load(split(data))


def ruamel(data: bytes) -> Any:
    """Read with ruamel.yaml, which follows YAML 1.2."""
    # Imported by name: its stubs cannot be found, since `ruamel` is a namespace without code.
    reader: Any = importlib.import_module("ruamel.yaml").YAML(typ="safe", pure=True)
    return reader.load(io.StringIO(split(data), newline=""))


READERS: Final[dict[str, Callable[[bytes], Any]]] = {
    "PyYAML, YAML 1.2 core": pyyaml_core,
    "PyYAML, YAML 1.1": pyyaml,
    "ruamel.yaml": ruamel,
}


def outcome(read: Callable[[bytes], Any], data: bytes) -> Any:
    """Return what a reader finds, or the name of the error it raises; both can be compared."""
    try:
        return read(data)
    except (
        ValueError,
        yaml.YAMLError,
        importlib.import_module("ruamel.yaml").error.YAMLError,
    ) as error:
        return f"<{type(error).__name__}>"


def same(ours: Any, theirs: Any) -> bool:
    """Compare as a host does that compares JSON: by value, 1 and 1.0 alike, true and 1 not."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        one, other = cast("dict[str, Any]", ours), cast("dict[str, Any]", theirs)
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(ours, list) and isinstance(theirs, list):
        rows, others = cast("list[Any]", ours), cast("list[Any]", theirs)
        return len(rows) == len(others) and all(map(same, rows, others))
    if isinstance(ours, bool) or isinstance(theirs, bool):
        return ours is theirs
    return bool(ours == theirs)


def ends_in_a_line_break(value: Any) -> bool:
    """Return whether the last value is text that ends its line, as a block scalar at the end does.

    Hosts that cut off the line end before the closing dashes lose it.
    """
    if isinstance(value, dict | list) and value:
        items = cast("dict[str, Any] | list[Any]", value)
        last = items[-1] if isinstance(items, list) else next(reversed(items.values()))
        return ends_in_a_line_break(last)
    return isinstance(value, str) and value.endswith("\n")


def through_the_wire(value: Any) -> Any:
    """Return a value after a round trip through JSON."""
    return json.loads(json.dumps(value))
