"""Decision: why a rebuilt archive is another one, in words and with what to do about it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.supply_chain.rebuild.report import Cause
from skills_bundle.supply_chain.source.generated import generator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.supply_chain.archive.contents import ArchiveContents
    from skills_bundle.supply_chain.diff import ArchiveDiff, Change, FileChange

SHOWN: Final = 3
"""Files that a sentence names before it counts the others."""
PACKED_SIZE: Final = "packed size"
"""What an archive's reader calls the bytes that a member takes up; follows from its compression."""
COMPRESSED: Final = Cause(
    code="compression",
    message="both are compressed, by versions of zlib, or at levels, that give other bytes",
)
MADE: Final = ("WHEEL", "METADATA", "PKG-INFO", "RECORD", "entry_points.txt", RECEIPT_FILE_NAME)


def of(given: ArchiveContents, rebuilt: ArchiveContents, diff: ArchiveDiff) -> tuple[Cause, ...]:
    """Give the causes of a difference.

    Args:
        given: What the archive carries.
        rebuilt: What the one that was made anew carries.
        diff: Their difference; they are not identical.
    """
    if not diff.members:
        named = tuple(_names(given, rebuilt))
        return (*named, *_packing(given, rebuilt, diff)) or (COMPRESSED,)
    found = [*_names(given, rebuilt), *_generator(given, rebuilt)]
    changed = {posixpath.basename(row.path): row for row in diff.members}
    found += _metadata(given, rebuilt, changed)
    found += _receipt(given.receipt.value, rebuilt.receipt.value, changed)
    found += _files(diff)
    if not found:
        found.append(Cause(code="record", message=f"only {_listed(list(changed))} differ"))
    return tuple(found)


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(paths[:SHOWN]) + more


def _packing(
    given: ArchiveContents, rebuilt: ArchiveContents, diff: ArchiveDiff
) -> Iterator[Cause]:
    """Say how two archives of the same files are packed otherwise."""
    if given.archive.top != rebuilt.archive.top:
        text = f"the top folder is {given.archive.top}, and {rebuilt.archive.top} in the rebuild"
        yield Cause(code="file_name", message=text)
    if rebuilt.archive.canonical == "yes" and given.archive.canonical != "yes":
        text = (
            "the rebuild has the one form that the build hook writes, and the given archive has "
            "not: it was packed again after its build, or built by another version of the hook"
        )
        yield Cause(code="packed_again", message=text)
    for change in diff.wrapping:
        if change.name not in {"size", "kind", "file name", "top folder"}:
            text = f"{change.name}: {change.before or 'none'}, and {change.after or 'none'} rebuilt"
            yield Cause(code="packing", message=text)
    yield from _keeping(diff)


def _keeping(diff: ArchiveDiff) -> Iterator[Cause]:
    """Say what is kept otherwise beside the bytes, each thing once, with an example."""
    facts = [(row.path, change) for row in diff.entries for change in row.changes]
    found = {name: [row for row in facts if row[1].name == name] for name in _named(facts)}
    sizes = found.pop(PACKED_SIZE, [])
    for name, rows in found.items():
        path, first = rows[0]
        text = (
            f"{name} of {len(rows)} of its entries: {first.before or 'none'} of {path}, "
            f"and {first.after or 'none'} rebuilt"
        )
        yield Cause(code="packing", message=text)
    if sizes and "compression" not in found:
        yield COMPRESSED


def _named(facts: list[tuple[str, Change]]) -> list[str]:
    return list(dict.fromkeys(change.name for _, change in facts))


def _names(given: ArchiveContents, rebuilt: ArchiveContents) -> Iterator[Cause]:
    one, other = given.archive.file_name, rebuilt.archive.file_name
    if one != other:
        text = f"the archive is called {one}, and {other} in the rebuild"
        yield Cause(code="file_name", message=text)


def _member(contents: ArchiveContents, name: str) -> bytes:
    path = f"{contents.dist_info}/{name}" if contents.dist_info else name
    member = contents.archive.members.get(path)
    return b"" if member is None else member.data


def _generator(given: ArchiveContents, rebuilt: ArchiveContents) -> Iterator[Cause]:
    one, other = (generator(_member(each, "WHEEL")) for each in (given, rebuilt))
    if one != other:
        pin = one.replace(" ", "==")
        text = (
            f"it was made by {one or 'an unnamed tool'}, and the rebuild by {other or 'another'}; "
            f"the project should pin it in build-system.requires, and meanwhile a file with "
            f"{pin} for --build-constraint does"
        )
        yield Cause(code="generator", message=text)


def _metadata(
    given: ArchiveContents, rebuilt: ArchiveContents, changed: dict[str, FileChange]
) -> Iterator[Cause]:
    for name in {"METADATA", "PKG-INFO"} & changed.keys():
        rows = [_lines(_member(each, name)) for each in (given, rebuilt)]
        fields = sorted({row.partition(":")[0] for row in rows[0] ^ rows[1]})
        text = f"{name} differs in {_listed(fields) or 'its description'}"
        receipt = given.receipt.value
        if receipt is not None and receipt.package.computed:
            text += f"; at each build code gives {', '.join(receipt.package.computed)}"
        yield Cause(code="metadata", message=text)


def _lines(data: bytes) -> set[str]:
    """Give the fields of a head; what follows it is the description."""
    return set(data.decode(errors="replace").partition("\n\n")[0].splitlines())


def _receipt(
    given: BuildReceipt | None, rebuilt: BuildReceipt | None, changed: dict[str, FileChange]
) -> Iterator[Cause]:
    if RECEIPT_FILE_NAME not in changed or given is None or rebuilt is None:
        return
    if rebuilt.source.state != given.source.state:
        text = f"the rebuild's receipt names no commit: {rebuilt.source.reason}"
        yield Cause(code="receipt", message=text)
        return
    parts: dict[str, Callable[[BuildReceipt], object]] = {
        "package": lambda one: one.package,
        "catalog": lambda one: one.catalog,
        "inputs": lambda one: one.inputs,
        "asserted": lambda one: one.asserted,
        "source": lambda one: one.source,
    }
    differing = [name for name, get in parts.items() if get(given) != get(rebuilt)]
    yield Cause(code="receipt", message=f"the receipts differ in {', '.join(differing)}")


def _files(diff: ArchiveDiff) -> Iterator[Cause]:
    """Name the files that no build makes and that are not the same."""
    words = {
        "removed": ("only_given", "only the given archive holds"),
        "added": ("only_rebuilt", "only the rebuild holds"),
        "changed": ("files", "other bytes have"),
        "executable": ("modes", "the executable bit differs of"),
    }
    rows = [row for row in diff.members if posixpath.basename(row.path) not in MADE]
    for kind, (code, text) in words.items():
        paths = [row.path for row in rows if kind in row.kinds]
        if paths:
            yield Cause(code=code, message=f"{text} {_listed(paths)}")
