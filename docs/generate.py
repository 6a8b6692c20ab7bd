"""Render facts of the code into the documentation's marked regions.

`python docs/generate.py` writes the pages; with `--check` it writes nothing and exits 1 if a page
is not what the code says now. A region begins with `<!-- generated: NAME -->` and ends with
`<!-- end of generated -->`; everything else in a page belongs to its writers.
"""
# ruff: noqa: INP001  a script; `docs` is not a package

from __future__ import annotations

import re
import sys
from pathlib import Path

from facts import render

DOCS = Path(__file__).parent
REGION = re.compile(
    r"(?P<open><!-- generated: (?P<name>[a-z-]+) -->\n).*?(?P<close>\n<!-- end of generated -->)",
    re.DOTALL,
)


def rendered(text: str) -> str:
    """Return a page's text with every region rendered anew."""
    return REGION.sub(
        lambda region: f"{region['open']}\n{render(region['name'])}\n{region['close']}",
        text,
    )


def stale() -> dict[Path, str]:
    """Return the pages whose regions are not current, with the text they should have."""
    pages = {page: page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))}
    fresh = {page: rendered(text) for page, text in pages.items()}
    return {page: text for page, text in fresh.items() if text != pages[page]}


def main(arguments: list[str]) -> int:
    """Write stale pages, or with `--check` name them.

    Args:
        arguments: The command line without the program's name.

    Returns:
        0, or 1 if `--check` found a stale page.
    """
    pages = stale()
    for page, text in pages.items():
        if "--check" in arguments:
            sys.stderr.write(f"{page} is not current; run `python docs/generate.py`\n")
        else:
            page.write_text(text, encoding="utf-8", newline="\n")
            sys.stderr.write(f"wrote {page}\n")
    return 1 if pages and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
