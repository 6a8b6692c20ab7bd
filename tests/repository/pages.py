"""Read the README and the documentation as data: fenced blocks, commands, links, headings.

How a page tells its commands:

* A `console` block holds commands on lines that begin with `$ `; a command goes on over lines that
  end in a backslash. Other lines are expected output, standard output before standard error:
  they must appear in this order, and `...` stands for anything.
* A comment right before a block gives a directive:
  `<!-- run: exit 1 -->` each command of the block exits with this status;
  `<!-- run: file PATH -->` the block is the content of PATH, written when its turn comes;
  `<!-- run: new folder -->` independent of what came before: another copy of the folder;
  `<!-- run: afresh -->` an alternative to what came before: a new folder and a new home;
  `<!-- run: elsewhere, FILE -->` FILE, which continuous integration runs, runs this command;
  `<!-- run: skip, REASON -->` a true impossibility, for example a program with windows.
* Every other comment is prose to us.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"

_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^`\n]*)$")
_COMMENT = re.compile(r"^ *<!-- (?P<text>.*?) -->$")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_CODE_SPAN = re.compile(r"`[^`\n]+`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One command of a `console` block and the output lines the page shows for it."""

    command: str
    expected: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A fenced block: its language, its text, the directive before it, its first line."""

    language: str
    text: str
    directive: str
    line: int

    def steps(self) -> tuple[Step, ...]:
        """Return the commands of a `console` block, in order."""
        rows: list[Step] = []
        text = self.text.replace("\\\n", "\\\r")  # keep a continued command on one line for now
        number = self.line
        for raw in text.split("\n"):
            number += 1
            line = raw.replace("\r", "\n")
            if line.startswith("$ "):
                rows.append(Step(command=line[2:], expected=(), line=number))
            elif rows and line.strip():
                rows[-1] = replace(rows[-1], expected=(*rows[-1].expected, line))
            number += line.count("\n")
        return tuple(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One Markdown file of the repository; `name` is its path below the root."""

    name: str
    text: str

    def blocks(self) -> tuple[Block, ...]:
        """Return every fenced block with the directive before it."""
        return tuple(_blocks(self.text.splitlines()))

    def prose(self) -> str:
        """Return the text with fenced blocks and code spans blanked out, line numbers kept."""
        lines: list[str] = []
        inside = False
        for line in self.text.splitlines():
            fence = _FENCE.match(line) is not None
            lines.append("" if inside or fence else _CODE_SPAN.sub("", line))
            inside ^= fence
        return "\n".join(lines)

    def links(self) -> tuple[str, ...]:
        """Return the targets of all inline links outside code."""
        return tuple(match["target"] for match in _LINK.finditer(self.prose()))

    def anchors(self) -> frozenset[str]:
        """Return the anchors of the headings, as GitHub and MyST make them."""
        return frozenset(_slug(line) for line in _headings(self.text.splitlines()))


def pages() -> tuple[Page, ...]:
    """Return the README and every page of the documentation, sorted by name."""
    files = [ROOT / "README.md", *(ROOT / "build").glob("*.md")]
    files += [file for file in DOCS.rglob("*.md") if "_build" not in file.parts]
    return tuple(
        Page(name=file.relative_to(ROOT).as_posix(), text=file.read_text(encoding="utf-8"))
        for file in sorted(files)
    )


def page(name: str) -> Page:
    """Return one page by its path below the root."""
    return next(each for each in pages() if each.name == name)


def _blocks(lines: list[str]) -> list[Block]:
    rows: list[Block] = []
    directive, opened, info = "", 0, ""
    for number, line in enumerate(lines, start=1):
        fence, comment = _FENCE.match(line), _COMMENT.match(line)
        if opened and fence:
            text = "".join(f"{row}\n" for row in lines[opened : number - 1])
            rows.append(Block(language=info, text=text, directive=directive, line=opened))
            directive, opened = "", 0
        elif opened:
            continue
        elif fence:
            opened, info = number, fence["info"].strip()
        elif comment and comment["text"] == "tests":  # `.ci/run` reads the block by this mark
            directive = "elsewhere, .ci/run"
        elif comment and comment["text"].startswith("run: "):
            directive = comment["text"].removeprefix("run: ")
        elif line.strip():
            directive = ""
    return rows


def _headings(lines: list[str]) -> list[str]:
    rows: list[str] = []
    inside = False
    for line in lines:
        inside ^= _FENCE.match(line) is not None
        if not inside and re.match(r"#{1,4} ", line):
            rows.append(line.lstrip("#").strip())
    return rows


def _slug(heading: str) -> str:
    text = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return text.replace(" ", "-")
