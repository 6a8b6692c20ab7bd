"""Decision: what a tool is: closed arguments in, a record or a coded "no" out, its schemas derived.

A tool's arguments and results are declared once, as records; both JSON Schemas come from them.
Hosts pay for schemas on every step, so what pydantic adds for people (titles, docstrings,
definitions) is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

from pydantic import ValidationError

from skills_bundle.catalog.errors import refusal
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
        name: As hosts call it.
        description: For a model; the first line says everything needed to choose the tool, within
            `limits.TOOL_SUMMARY_MAX_CHARACTERS`.
        arguments: Closed record of what may be passed.
        result: Record of what a success gives.
        answer: Does the work; says no by raising `ToolError`.
        changes_state: Whether a call leaves something behind.
        open_world: Whether a call reaches beyond this machine.
    """

    name: str
    description: str
    arguments: type[ArgumentsT]
    result: type[Record]
    answer: Callable[[ArgumentsT], Record]
    changes_state: bool = False
    open_world: bool = False

    @property
    def input_schema(self) -> JsonObject:
        """Give the closed JSON Schema (2020-12) of the arguments."""
        return input_schema(self.arguments)

    @property
    def output_schema(self) -> JsonObject:
        """Give the JSON Schema of what a call answers: the result, or the error.

        The error is part of it because some clients validate errors against it too and raise.
        """
        return output_schema(self.result)

    @property
    def annotations(self) -> dict[str, bool]:
        """Give MCP's hints about what a call does; repeating one of ours changes nothing more."""
        hints = {"readOnlyHint": not self.changes_state, "idempotentHint": True}
        if self.changes_state:
            hints["destructiveHint"] = False
        return {**hints, "openWorldHint": self.open_world}

    def call(self, arguments: JsonObject) -> JsonObject:
        """Answer one call with a `tools/call` result, success or failure.

        Args:
            arguments: As they came over the wire.
        """
        try:
            result = self.answer(self._parse(arguments))
        except ToolError as error:
            return tool_failure(error)
        value: JsonObject = result.model_dump(mode="json")
        return {
            "content": [{"type": "text", "text": strict_json.compact(value).decode()}],
            "structuredContent": value,
        }

    def _parse(self, arguments: JsonObject) -> ArgumentsT:
        """Check twice: by the schema that we publish, and by the record that it was made from."""
        if not _validator(self.arguments)(arguments):
            raise refusal("invalid_input")
        try:
            # From JSON, not from objects: strict Python mode would refuse a list for a tuple.
            return self.arguments.model_validate_json(strict_json.compact(arguments))
        except ValidationError:
            raise refusal("invalid_input") from None


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
        """Give every tool."""
        return tuple(self._tools.values())

    def call(self, name: str, arguments: JsonObject) -> JsonObject:
        """Answer `tools/call`; an unknown name is a tool's error, so that a model sees it."""
        tool = self._tools.get(name)
        if tool is None:
            return tool_failure(refusal("unknown_tool"))
        return tool.call(arguments)


@cache
def input_schema(arguments: type[Record]) -> JsonObject:
    """Derive the JSON Schema of a record of arguments."""
    return _slim(arguments.model_json_schema())


@cache
def output_schema(result: type[Record]) -> JsonObject:
    """Derive the JSON Schema of a record of results, joined with that of an error."""
    success = _slim(result.model_json_schema(mode="serialization"))
    return {"type": "object", "anyOf": [success, ERROR_SCHEMA]}


@cache
def _validator(arguments: type[Record]) -> Callable[[JsonObject], bool]:
    import jsonschema  # noqa: PLC0415 - 30 ms that neither the handshake nor the tool list needs

    validator: Any = jsonschema.Draft202012Validator(input_schema(arguments))
    return lambda value: bool(validator.is_valid(value))


_DROPPED: Final = frozenset({"title", "$defs", "$ref"})
_MAPS: Final = frozenset({"properties", "patternProperties"})


def _slim(schema: JsonObject) -> JsonObject:
    """Resolve references (several hosts do not) and drop what only people read."""
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
            slim.pop("description", None)  # a class's docstring: the tool's description says it
        return {name: part for name, part in slim.items() if name not in _DROPPED}

    def member(name: str, part: JsonValue) -> JsonValue:
        if name in _MAPS and isinstance(part, dict):  # here the keys are names, not keywords
            return {key: walk(child) for key, child in part.items()}
        return part if name in {"default", "enum", "const", "required", *_DROPPED} else walk(part)

    return cast("JsonObject", walk(schema))
