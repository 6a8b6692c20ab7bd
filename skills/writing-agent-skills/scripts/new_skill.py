#!/usr/bin/env python3
"""Start a skill: a folder with a valid SKILL.md that says what is still to be written.

Needs Python 3.10 or later and nothing else. It never overwrites anything.

Examples:
    new_skill.py skills/rotating-api-keys --description "Rotate a service's API keys without
        downtime. Use when a key leaked or expires. Not for user passwords."
    new_skill.py skills/rotating-api-keys --description "..." --script rotate.py --tags "keys, ops"

Exit codes: 0 written; 1 the name or the description breaks a rule, or the folder exists; 2 usage.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

BODY = """\
# {title}

WRITE: one paragraph. What is true at the end that was not true before, and the one idea behind it.

## Steps

1. WRITE: the first thing to do, as an order, with the exact command.
2. WRITE: how to see that it worked, and what to do when it did not.
{script_step}
## Example

WRITE: one real run, from request to result, with what was printed.

## When it fails

| you see | cause | do |
| --- | --- | --- |
| WRITE: a message, word for word | | |

## Done when

- [ ] WRITE: something that can be checked
"""
SCRIPT = '''\
#!/usr/bin/env python3
"""WRITE: what it does, in one line.

WRITE: what it needs, what it reads and writes, and its exit codes.
"""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(description="WRITE: what it does")
    parser.parse_args(arguments)
    print("WRITE: not written yet", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
'''


def name_problems(name: str) -> list[str]:
    """Say what is wrong with a skill's name, by the Agent Skills specification."""
    problems = []
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name):
        problems.append(f"name {name!r}: only a-z, 0-9 and single hyphens between them")
    if len(name) > 64:
        problems.append(f"name of {len(name)} characters: at most 64")
    return problems


def description_problems(text: str) -> list[str]:
    """Say what is wrong with a description."""
    problems = []
    if not text.strip():
        problems.append("the description is empty")
    if len(text) > 1024:
        problems.append(f"description of {len(text)} characters: at most 1024")
    if not all(character.isprintable() for character in text):
        problems.append("the description holds a line break or a control character")
    return problems


def quoted(text: str) -> str:
    """Write text so that every YAML reader reads it back unchanged."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def skill_md(name: str, description: str, tags: str, script: str | None) -> str:
    """Give the whole SKILL.md."""
    step = "" if script is None else f"3. Run [scripts/{script}](scripts/{script}) (`--help`).\n"
    head = ["---", f"name: {name}", f"description: {quoted(description)}", "license: MIT"]
    if tags:
        head += ["metadata:", f"  tags: {quoted(tags)}"]
    title = name.replace("-", " ").capitalize()
    return "\n".join([*head, "---", "", BODY.format(title=title, script_step=step)])


def write(folder: Path, text: str, script: str | None) -> None:
    """Create the folder and its files; raises FileExistsError."""
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text, encoding="utf-8", newline="\n")
    if script is not None:
        (folder / "scripts").mkdir()
        path = folder / "scripts" / script
        path.write_text(SCRIPT, encoding="utf-8", newline="\n")
        path.chmod(0o755)


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(
        description="Start a skill: a folder with a valid SKILL.md that says what to write."
    )
    parser.add_argument("folder", type=Path, help="where; its last part becomes the name")
    parser.add_argument("--description", required=True, help="for what, when, and when not")
    parser.add_argument("--tags", default="", help="comma-separated")
    parser.add_argument("--script", metavar="NAME", help="also start scripts/NAME")
    options = parser.parse_args(arguments)
    description = " ".join(options.description.split())
    problems = [*name_problems(options.folder.name), *description_problems(description)]
    if options.script and not re.fullmatch(r"[A-Za-z0-9_.-]+", options.script):
        problems.append(f"script name {options.script!r}: a plain file name")
    if options.folder.exists():
        problems.append(f"{options.folder} exists already")
    if problems:
        print("\n".join(problems), file=sys.stderr)
        return 1
    text = skill_md(options.folder.name, description, options.tags, options.script)
    write(options.folder, text, options.script)
    print(f"wrote {options.folder / 'SKILL.md'}; search it for WRITE")
    return 0


if __name__ == "__main__":
    sys.exit(main())
