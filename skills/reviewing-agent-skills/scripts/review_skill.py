#!/usr/bin/env python3
"""Look through skill folders for what a reviewer would ask about, and say where it is.

Needs Python 3.10 or later and nothing else. It reads files; it runs none of them.

Three kinds of lines:
    FAULT   breaks a rule, or will make some host drop or misread the skill
    REMARK  is allowed, and usually a weakness
    LOOK    may be harmless or harmful: a person has to read that place

Examples:
    review_skill.py skills/my-skill
    review_skill.py --json skills/*

Exit codes: 0 no fault; 1 at least one fault; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
MAX_LINES = 500
MAX_DESCRIPTION = 1024
SHORT_DESCRIPTION = 80
LONG_REFERENCE = 40_000
"""Characters; a host may cut a longer answer (about 10,000 tokens of English)."""
BIGGEST_READ = 2_000_000
LEFT_OUT = {".git", "__pycache__", ".ruff_cache", ".mypy_cache", ".pytest_cache"}
HIDDEN = {
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
    *range(0xE0000, 0xE0080),
    0x00AD,
    0xFEFF,
}
"""Zero-width, direction and tag characters: text that a model reads and a person does not see."""

MEDIA = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".ttf", ".otf", ".woff", ".woff2"}
MAPPING = "\0"
"""Stands before the lines of a field that holds other fields."""

LOOK_AT: dict[str, str] = {
    "pipes a download into a shell": r"(curl|wget|iwr|irm)[^\n|]*\|\s*(sudo\s+)?(ba|z|da)?sh\b|"
    r"\biex\b",
    "deletes recursively": r"\brm\s+-[a-z]*r[a-z]*f?|\brmtree\b|Remove-Item[^\n]*-Recurse",
    "asks for more rights": r"\bsudo\b|chmod\s+(-R\s+)?777|--privileged|setuid",
    "decodes or evaluates hidden text": r"base64\s+(-d|--decode)|b64decode|\beval\b\s*[(\"'$]|"
    r"\bexec\(",
    "touches keys or credentials": r"\.ssh/|\.netrc|\.aws/|id_(rsa|ed25519)|AWS_SECRET|"
    r"(API|SECRET|ACCESS)_?(KEY|TOKEN)|Keychain|/etc/shadow",
    "sends something out": r"requests\.(post|put)|curl[^\n]*(\s-d\b|--data|-F\b|--upload-file)|"
    r"\bnc\s+-|ngrok|webhook",
    "switches a safety off": r"--no-verify|--dangerously|--yolo|--insecure|verify\s*=\s*False|"
    r"StrictHostKeyChecking[ =]no|--break-system-packages|bypass",
    "speaks to the model above its task": r"(ignore|disregard|forget)\s+(all\s+|any\s+)?"
    r"(previous|prior|above|other)|do not (tell|mention|show)[^\n]{0,30}user|without asking|"
    r"always use this skill|override (the )?(system|user)",
    "writes into configuration of the host": r"\.claude/settings|\.bashrc|\.zshrc|crontab|"
    r"authorized_keys|git config --global|launchctl|systemctl enable",
}


@dataclass(frozen=True)
class Finding:
    """One line of the review."""

    level: str
    skill: str
    path: str
    line: int | None
    text: str

    def __str__(self) -> str:
        """Render as editors can jump to it."""
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{self.level:<6} {place}: {self.text}"


class Review:
    """Everything found in one skill folder."""

    def __init__(self, folder: Path) -> None:
        """Read the folder's list of files; nothing is followed out of it."""
        self.folder = folder
        self.findings: list[Finding] = []
        self.files = sorted(self._walk())

    def _walk(self) -> Iterator[Path]:
        for root, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if name not in LEFT_OUT]
            for name in names + [n for n in folders if Path(root, n).is_symlink()]:
                yield Path(root, name)

    def add(self, level: str, path: Path, text: str, line: int | None = None) -> None:
        """Keep one finding."""
        self.findings.append(Finding(level, self.folder.name, str(path), line, text))

    def run(self) -> list[Finding]:
        """Do every check that can be done; one that fails hides none of the others."""
        skill_md = self.folder / "SKILL.md"
        if not skill_md.is_file():
            near = [path.name for path in self.files if path.name.lower() == "skill.md"]
            hint = f", but there is {near[0]}" if near else ""
            self.add("FAULT", skill_md, f"there is no SKILL.md{hint}")
        else:
            self.check_skill_md(skill_md)
        for path in self.files:
            self.check_file(path)
        return self.findings

    def check_skill_md(self, path: Path) -> None:
        """Check the head, the size and the links."""
        raw = path.read_bytes()
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            self.add("FAULT", path, f"not UTF-8 at byte {error.start}")
            return
        if raw.startswith(b"\xef\xbb\xbf"):
            self.add("FAULT", path, "starts with a byte order mark: some hosts do not list it", 1)
            text = text[1:]
        if b"\r" in raw:
            self.add("REMARK", path, "CRLF line ends: digests differ from an LF checkout")
        lines = text.splitlines()
        fields = self.check_frontmatter(path, lines)
        if fields is not None:
            self.check_name(path, fields)
            self.check_description(path, fields)
        if len(lines) > MAX_LINES:
            self.add("REMARK", path, f"{len(lines)} lines, more than {MAX_LINES}: move detail out")
        self.check_mentions(path, text)

    def check_frontmatter(self, path: Path, lines: list[str]) -> dict[str, tuple[str, int]] | None:
        """Read the fields with a reader that knows plain, quoted, folded and literal text."""
        if not lines or lines[0].rstrip() != "---":
            self.add("FAULT", path, "the first line is not ---: no frontmatter", 1)
            return None
        end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
        if end is None:
            self.add("FAULT", path, "the frontmatter is not closed by a second ---", 1)
            return None
        fields = read_fields(lines[1:end])
        for key, (value, line) in fields.items():
            if key not in FIELDS:
                self.add("REMARK", path, f"field {key} is not in the specification", line)
            plain = value[:1] not in {'"', "'", "|", ">", "[", "{", MAPPING}
            if plain and re.search(r":\s", value + " "):
                self.add(
                    "FAULT", path, f"{key}: a colon in unquoted text breaks YAML: quote it", line
                )
            if plain and " #" in value:
                self.add("FAULT", path, f"{key}: ' #' in unquoted text starts a comment", line)
        return fields

    def check_name(self, path: Path, fields: dict[str, tuple[str, int]]) -> None:
        """Compare the name with the rules and with the folder."""
        if "name" not in fields:
            self.add("FAULT", path, "no name")
            return
        value, line = fields["name"]
        name = unquoted(value)
        folder = unicodedata.normalize("NFC", self.folder.resolve().name)
        if unicodedata.normalize("NFC", name) != folder:
            self.add("FAULT", path, f"name {name!r} is not the folder's name {folder!r}", line)
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) or len(name) > 64:
            self.add("FAULT", path, "name: a-z, 0-9, single hyphens, at most 64 characters", line)

    def check_description(self, path: Path, fields: dict[str, tuple[str, int]]) -> None:
        """Look at the only text a host shows before the skill is loaded."""
        if "description" not in fields:
            self.add("FAULT", path, "no description: no host will offer the skill")
            return
        value, line = fields["description"]
        text = unquoted(value)
        if not text.strip():
            self.add("FAULT", path, "the description is empty", line)
        if len(text) > MAX_DESCRIPTION:
            self.add("FAULT", path, f"description of {len(text)} characters, limit 1024", line)
        elif len(text) < SHORT_DESCRIPTION:
            self.add("REMARK", path, f"description of {len(text)} characters says little", line)
        low = text.lower()
        if not re.search(r"\b(use|used|when|whenever|if the user|triggers?)\b", low):
            self.add("REMARK", path, "the description does not say when to use the skill", line)
        if not re.search(r"\b(not for|do not use|don't use|not when|instead)\b", low):
            self.add("REMARK", path, "the description does not say when not to use it", line)
        if re.match(r"(i|you|we|my|your)\b", low):
            self.add("REMARK", path, "write the description about the skill, not as I or you", line)

    def check_mentions(self, path: Path, text: str) -> None:
        """Find links that lead nowhere, and files that nothing leads to."""
        reachable = text
        for number, target in links(text):
            aim = Path(os.path.normpath(self.folder / target))
            if not aim.is_relative_to(Path(os.path.normpath(self.folder))):
                self.add("FAULT", path, f"link leaves the skill: {target}", number)
            elif not aim.exists():
                self.add("FAULT", path, f"link leads nowhere: {target}", number)
            elif aim.suffix == ".md" and aim.is_file():
                reachable += aim.read_text(encoding="utf-8", errors="replace")
        for file in self.files:
            name = file.relative_to(self.folder).as_posix()
            folder = name.rpartition("/")[0]
            mentioned = file.name in reachable or bool(folder) and f"{folder}/" in reachable
            if file.name != "SKILL.md" and not mentioned:
                self.add("REMARK", file, "nothing in SKILL.md leads to this file")

    def check_file(self, path: Path) -> None:
        """Check one file: kind, mode, hidden text, places to look at."""
        if path.is_symlink():
            self.add("FAULT", path, f"a link, to {os.readlink(path)}: it can lead to any file")
            return
        if not path.is_file() or path.stat().st_size > BIGGEST_READ:
            self.add("LOOK", path, "not a regular file, or too big to be looked through")
            return
        data = path.read_bytes()
        if b"\0" in data:
            if path.suffix.lower() not in MEDIA:
                self.add("LOOK", path, f"not text ({len(data)} bytes): what is it for?")
            return
        text = data.decode("utf-8", "replace")
        shebang = data.startswith(b"#!")
        if shebang and os.name == "posix" and not os.access(path, os.X_OK):
            self.add("REMARK", path, "starts with #! but is not executable: git add --chmod=+x", 1)
        if (
            shebang
            and "--help" not in text
            and "argparse" not in text
            and "usage" not in text.lower()
        ):
            self.add("REMARK", path, "a script that does not explain itself with --help", 1)
        if path.suffix == ".md" and len(text) > LONG_REFERENCE:
            self.add("REMARK", path, f"{len(text)} characters: hosts may cut it; split by topic")
        self.check_text(path, text)

    def check_text(self, path: Path, text: str) -> None:
        """Go through the lines once; what repeats is told once a file, with its number."""
        found: dict[tuple[str, str], list[int]] = {}
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
            for level, what in line_findings(line, markdown=path.suffix == ".md"):
                found.setdefault((level, what), []).append(number)
        lines = text.splitlines()
        for (level, what), numbers in found.items():
            more = f" (and {len(numbers) - 1} more lines)" if len(numbers) > 1 else ""
            shown = lines[numbers[0] - 1].strip()[:80] if level == "LOOK" else ""
            self.add(level, path, f"{what}{': ' if shown else ''}{shown}{more}", numbers[0])


def line_findings(line: str, *, markdown: bool) -> Iterator[tuple[str, str]]:
    """Give level and words for everything that is conspicuous in one line."""
    hidden = sorted({f"U+{ord(char):04X}" for char in line if ord(char) in HIDDEN})
    if hidden:
        yield "FAULT", f"hidden characters {', '.join(hidden)}"
    if markdown and "<!--" in line:
        yield "LOOK", "HTML comment, read by the model and not shown to people"
    if re.search(r"(/Users/|/home/|C:\\Users\\)\w+", line):
        yield "REMARK", "an absolute path of somebody's machine?"
    if re.search(r"\b(TODO|FIXME|XXX|lorem ipsum)\b", line):
        yield "REMARK", "unfinished text?"
    for what, pattern in LOOK_AT.items():
        if re.search(pattern, line, re.IGNORECASE):
            yield "LOOK", what


def read_fields(lines: list[str]) -> dict[str, tuple[str, int]]:
    """Collect top-level fields with their line; deeper lines belong to the field above."""
    fields: dict[str, tuple[str, int]] = {}
    current: str | None = None
    for number, line in enumerate(lines, 2):
        match = re.match(r"([^\s#:][^:]*):(?:\s+(.*)|$)", line)
        if match and not line[0].isspace():
            current = match[1].strip()
            fields[current] = ((match[2] or "").strip(), number)
        elif current is not None and line.strip():
            value, first = fields[current]
            nested = not value and re.match(r"\s*(- |[^\s\"'][^:]*:(\s|$))", line)
            value = MAPPING if nested else value
            fields[current] = (f"{value} {line.strip()}".strip(), first)
    return fields


def unquoted(value: str) -> str:
    """Give the text of a quoted, folded, literal or plain value, well enough for a review."""
    if re.match(r"[|>][+-]?\d?\s", value):
        return value.split(None, 1)[1]
    if value[:1] == '"' and value[-1:] == '"':
        return value[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    if value[:1] == "'" and value[-1:] == "'":
        return value[1:-1].replace("''", "'")
    return value


def links(text: str) -> Iterator[tuple[int, str]]:
    """Give line and target of every relative Markdown link outside code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(```|~~~)", line):
            fenced = not fenced
        if fenced:
            continue
        for match in re.finditer(r"\]\(([^)\s]+)[^)]*\)", re.sub(r"`[^`]*`", "", line)):
            target = match[1].split("#")[0]
            if target and not re.match(r"[a-z][a-z0-9+.-]*:|/", target, re.IGNORECASE):
                yield number, target


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(
        description="Look through skill folders for what a reviewer would ask about.",
        epilog="Exit codes: 0 no fault; 1 at least one fault; 2 wrong usage.",
    )
    parser.add_argument("folder", nargs="+", type=Path, help="a folder that holds a SKILL.md")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    options = parser.parse_args(arguments)
    for folder in options.folder:
        if not folder.is_dir():
            parser.error(f"{folder} is not a folder")
    findings = [finding for folder in options.folder for finding in Review(folder).run()]
    faults = sum(finding.level == "FAULT" for finding in findings)
    if options.json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        print("\n".join(str(finding) for finding in findings))
        counted = {level: sum(f.level == level for f in findings) for level in ("REMARK", "LOOK")}
        rest = f"{counted['REMARK']} remarks, {counted['LOOK']} places to look at"
        print(f"{len(options.folder)} skills: {faults} faults, {rest}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
