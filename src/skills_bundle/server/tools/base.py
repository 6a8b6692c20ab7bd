"""Decision: a tool: closed arguments in, a record or a coded refusal out, its schemas derived.

A tool's arguments and results are declared once, as records; both JSON Schemas are derived from
them. Hosts pay for schemas on every step, so what pydantic adds for people (titles, docstrings,
definitions) is dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from pydantic import ValidationError

from skills_bundle.catalog.model import hidden, invalid, refusal, sometimes, wire
from skills_bundle.errors import ToolError
from skills_bundle.formats import strict_json
from skills_bundle.formats.record import Record
from skills_bundle.server.stdio.framing import JsonObject, tool_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pydantic import JsonValue

ArgumentsT = TypeVar("ArgumentsT", bound=Record)

ERROR_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
            "required": ["code", "message"],
            "additionalProperties": False,
        }
    },
    "required": ["error"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Tool(Generic[ArgumentsT]):
    """One tool.

    Attributes:
        name: The name in calls.
        description: For a model; the first line is enough to choose the tool, within
            `limits.TOOL_SUMMARY_MAX_CHARACTERS`.
        arguments: Closed record of the arguments.
        result: Record of a successful answer.
        answer: Does the work; refuses by raising `ToolError`.
        several: Whether fields for several collections are on the wire; see `catalog.model`.
        changes_state: Whether a call leaves something behind.
        open_world: Whether a call reaches beyond this machine.
        title: A name for people.
        max_result_characters: Characters an answer may have if a caller asks for long pages, for
            hosts that cut results; None for their default.
    """

    name: str
    description: str
    arguments: type[ArgumentsT]
    result: type[Record]
    answer: Callable[[ArgumentsT], Record]
    several: bool = False
    changes_state: bool = False
    open_world: bool = False
    title: str = ""
    max_result_characters: int | None = None

    @property
    def input_schema(self) -> JsonObject:
        """The closed JSON Schema (2020-12) of the arguments."""
        return input_schema(self.arguments, several=self.several)

    @property
    def output_schema(self) -> JsonObject:
        """The JSON Schema of an answer: the result or the error.

        The error is part of it because some clients validate errors as well.
        """
        return output_schema(self.result, several=self.several)

    @property
    def annotations(self) -> JsonObject:
        """MCP's hints about a call; no call of ours destroys, and repeating one has no effect."""
        return {
            "title": self.title,
            "readOnlyHint": not self.changes_state,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": self.open_world,
        }

    @property
    def meta(self) -> JsonObject | None:
        """What `_meta` of the listed tool has."""
        most = self.max_result_characters
        return None if most is None else {"anthropic/maxResultSizeChars": most}

    def call(self, arguments: JsonObject) -> JsonObject:
        """Return the `tools/call` result of one call, success or failure.

        Args:
            arguments: As received.
        """
        try:
            result = self.answer(self._parse(arguments))
        except ToolError as error:
            return tool_failure(error)
        value: JsonObject = wire(result, several=self.several)
        return {
            "content": [{"type": "text", "text": strict_json.compact(value).decode()}],
            "structuredContent": value,
        }

    def _parse(self, arguments: JsonObject) -> ArgumentsT:
        """Validate twice: against the record, whose errors teach, and the published schema."""
        try:
            # From JSON: strict validation of Python objects would refuse a list for a tuple.
            parsed = self.arguments.model_validate_json(strict_json.compact(arguments))
        except ValidationError as error:
            raise invalid(self.arguments, error, several=self.several) from None
        if not _validator(self.arguments, several=self.several)(arguments):
            raise refusal("invalid_input")
        return parsed


class Toolbox:
    """The tools of one server, in the order in which they are listed.

    Args:
        tools: In order; of two with one name (a tool can be in two groups) the first stays.
    """

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        """Index the tools by name."""
        self._tools: dict[str, Tool[Any]] = {}
        for tool in tools:
            self._tools.setdefault(tool.name, tool)

    @property
    def tools(self) -> tuple[Tool[Any], ...]:
        """Every tool."""
        return tuple(self._tools.values())

    def call(self, name: str, arguments: JsonObject) -> JsonObject:
        """Return the result of `tools/call`. An unknown name is a tool error, which models see."""
        tool = self._tools.get(name)
        if tool is None:
            return tool_failure(refusal("unknown_tool"))
        return tool.call(arguments)


@cache
def input_schema(arguments: type[Record], *, several: bool = False) -> JsonObject:
    """Return the JSON Schema of a record of arguments.

    Args:
        arguments: The record.
        several: Whether fields for several collections are part of it.
    """
    return _visible(_slim(arguments.model_json_schema()), hidden(arguments, several=several))


@cache
def output_schema(result: type[Record], *, several: bool = False) -> JsonObject:
    """Return the JSON Schema of a record of results, or of an error.

    Args:
        result: The record.
        several: Whether fields for several collections are part of it.
    """
    schema = _slim(result.model_json_schema(mode="serialization"))
    success = _visible(schema, hidden(result, several=several))
    required = cast("list[str]", success["required"])
    success["required"] = [name for name in required if name not in sometimes(result)]
    return {"type": "object", "anyOf": [success, ERROR_SCHEMA]}


def _visible(schema: JsonObject, fields: Mapping[str, Any]) -> JsonObject:
    """Return the schema of an object without its hidden fields, or those of its rows."""
    kept: dict[str, JsonValue] = {}
    for name, part in cast("dict[str, dict[str, Any]]", schema["properties"]).items():
        if name not in fields:
            kept[name] = part
        elif fields[name] is not True:
            kept[name] = {**part, "items": _visible(part["items"], fields[name]["__all__"])}
    visible: JsonObject = {**schema, "properties": kept}
    if "required" in schema:
        visible["required"] = [
            name for name in cast("list[str]", schema["required"]) if name in kept
        ]
    return visible


@cache
def _validator(arguments: type[Record], *, several: bool) -> Callable[[JsonObject], bool]:
    import jsonschema  # noqa: PLC0415 - 30 ms that neither the handshake nor the tool list needs

    validator: Any = jsonschema.Draft202012Validator(input_schema(arguments, several=several))
    return lambda value: bool(validator.is_valid(value))


_DROPPED: Final = frozenset({"title", "$defs", "$ref"})
_MAPS: Final = frozenset({"properties", "patternProperties"})


def _slim(schema: JsonObject) -> JsonObject:
    """Return a schema with references resolved, for hosts that do not, and without prose."""
    definitions = cast("Mapping[str, JsonObject]", schema.get("$defs", {}))

    def walk(value: JsonValue) -> JsonValue:
        if isinstance(value, list):
            return [walk(item) for item in value]
        if not isinstance(value, dict):
            return value
        reference = value.get("$ref")
        target = definitions[reference.rpartition("/")[2]] if isinstance(reference, str) else {}
        slim = {name: member(name, part) for name, part in {**target, **value}.items()}
        if slim.get("type") == "object":
            slim.pop("description", None)  # a class's docstring: the tool's description covers it
        return {name: part for name, part in slim.items() if name not in _DROPPED}

    def member(name: str, part: JsonValue) -> JsonValue:
        if name in _MAPS and isinstance(part, dict):  # these keys are names, not keywords
            return {key: walk(child) for key, child in part.items()}
        return part if name in {"default", "enum", "const", "required", *_DROPPED} else walk(part)

    return cast("JsonObject", walk(schema))
