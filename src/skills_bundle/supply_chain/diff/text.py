"""Decision: the lines in which two versions of a text differ, bounded."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING

from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.formats.record_file import DIST_INFO_SUFFIX, RECORD_FILE_NAME
from skills_bundle.supply_chain import limits
from skills_bundle.supply_chain.diff.model import TextDifference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skills_bundle.supply_chain.diff.archives import MemberDifference
    from skills_bundle.supply_chain.diff.model import Item


def text_differences(
    files: Sequence[MemberDifference], before: Mapping[str, Item], after: Mapping[str, Item]
) -> tuple[TextDifference, ...]:
    """Give a unified diff of every changed file that is text on both sides, up to a limit.

    Args:
        files: What differs.
        before: The files of the first side by path.
        after: The files of the second.
    """
    found: list[TextDifference] = []
    left = limits.DIFF_MAX_LINES
    for row in files:
        if "changed" not in row.kinds or left <= 0 or _is_told_otherwise(row.path):
            continue
        one, other = _lines(before[row.path]), _lines(after[row.path])
        if one is None or other is None:
            continue
        lines = unified_diff(one, other, f"a/{row.path}", f"b/{row.path}", lineterm="")
        shown = [*islice(lines, left + 1)]
        found.append(
            TextDifference(path=row.path, lines=tuple(shown[:left]), cut=len(shown) > left)
        )
        left -= len(shown)
    return tuple(found)


def _is_told_otherwise(path: str) -> bool:
    """Tell whether a build makes a file: what it says is compared field by field, or follows."""
    folder, _, name = path.rpartition("/")
    top = folder.partition("/")[0]
    return name in {LOCK_FILE_NAME, RECEIPT_FILE_NAME} or (
        top.endswith(DIST_INFO_SUFFIX) and (name == RECORD_FILE_NAME or folder != top)
    )


def _lines(item: Item) -> list[str] | None:
    """Give a text's lines; None if it is none, or has too many to be compared in time."""
    if item.data is None or item.size > limits.DIFF_TEXT_MAX_BYTES or b"\0" in item.data:
        return None
    try:
        lines = item.data.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        return None
    if len(lines) > limits.DIFF_TEXT_MAX_LINES:
        return None
    if lines[-1]:  # as diff says it
        return [*lines, "\\ No newline at end of file"]
    return lines[:-1]
