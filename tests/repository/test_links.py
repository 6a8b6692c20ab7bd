"""Every local link and every path that the documentation names leads somewhere."""

from __future__ import annotations

import re

from tests.repository.pages import ROOT, Page, page, pages

SOURCE_PATH = re.compile(r"`((?:src/skills_bundle|tests|docs|build|benchmarks|\.ci)/[\w./\-]+)`")


def _broken(each: Page, target: str) -> bool:
    path, _, anchor = target.partition("#")
    file = ((ROOT / each.name).parent / path).resolve() if path else ROOT / each.name
    if not file.exists():
        return True
    if not anchor:
        return False
    return anchor not in page(file.relative_to(ROOT).as_posix()).anchors()


def test_every_local_link_resolves() -> None:
    """A link names an existing file, and its anchor an existing heading of that page."""
    broken = [
        f"{each.name}: {target}"
        for each in pages()
        for target in each.links()
        if not re.match(r"[a-z]+:", target) and _broken(each, target)
    ]
    assert broken == []


def test_every_path_named_in_code_spans_exists() -> None:
    """Prose that points into the source tree points at something."""
    broken = [
        f"{each.name}: {path}"
        for each in pages()
        for path in SOURCE_PATH.findall(each.text)
        if not (ROOT / path).exists()
    ]
    assert broken == []


def test_every_page_is_reachable_from_the_index() -> None:
    """Nobody has to know a page's address to find it."""
    reached, waiting = {"README.md", "build/README.md"}, ["docs/index.md"]
    while waiting:
        name = waiting.pop()
        reached.add(name)
        each = page(name)
        for target in each.links():
            file = ((ROOT / name).parent / target.partition("#")[0]).resolve()
            if file.suffix == ".md" and file.is_file():
                linked = file.relative_to(ROOT).as_posix()
                if linked not in reached and linked not in waiting and linked.startswith("docs/"):
                    waiting.append(linked)
    assert sorted({each.name for each in pages()} - reached) == []
