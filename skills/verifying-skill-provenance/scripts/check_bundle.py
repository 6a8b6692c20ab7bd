#!/usr/bin/env python3
"""Check a bundle of skills against its own lock and receipt, with nothing but Python.

A second reader beside `skills-bundle verify`, which checks the installation it runs from. This one
takes a wheel, or the `.agents` folder of an installed package, needs Python 3.10 or later, imports
none of what it checks and runs none of it. What it looks for:

    1. every file of the lock is there, with the size and SHA-256 of the lock, and no other
    2. the lock's digests of the whole (dir_hash, git_tree) follow from its files
    3. the receipt names this lock
    4. the receipt's proof leads from the commit id over trees to the skills folder's tree

What it says about the repository, the tag and the author is what the receipt ASSERTS.

Examples:
    check_bundle.py acme_skills-1.2.0-py3-none-any.whl
    check_bundle.py .venv/lib/python3.12/site-packages/acme_skills/.agents
    check_bundle.py acme.whl --commit 7c1f... --export-commit commit.raw

Exit codes: 0 everything follows; 1 something does not; 2 wrong usage; 3 cannot tell (no lock, or
no receipt with a commit).
"""

from __future__ import annotations

import argparse
import base64
import binascii
import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOCK, RECEIPT, SKILLS = "catalog.lock.json", "build-receipt.json", "skills/"


@dataclass
class Bundle:
    """The files of one `.agents` folder, wherever it lies."""

    place: str
    names: set[str]
    read: Callable[[str], bytes]


@dataclass
class Result:
    """What followed, what did not, and what nobody can tell from here."""

    good: list[str] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    asserted: list[str] = field(default_factory=list)

    def check(self, holds: bool, good: str, bad: str) -> None:
        """Keep one of two sentences."""
        (self.good if holds else self.bad).append(good if holds else bad)


def open_bundle(path: Path) -> Bundle:
    """Find the `.agents` folder in a wheel, or take a folder; raises ValueError."""
    if path.is_dir():
        files = {p.relative_to(path).as_posix() for p in path.rglob("*") if not p.is_dir()}
        return Bundle(str(path), files, lambda name: plain_bytes(path / name))
    archive = zipfile.ZipFile(path)
    members = archive.namelist()
    if len(set(members)) != len(members):
        raise ValueError("a member occurs twice in the archive")
    locks = [name for name in members if name.endswith(f"/.agents/{LOCK}")]
    if len(locks) != 1:
        raise ValueError(f"{len(locks)} locks in the wheel, where one was expected")
    root = locks[0].removesuffix(LOCK)
    inside = {name.removeprefix(root) for name in members if name.startswith(root)}
    names = {name for name in inside if not name.endswith("/")}
    return Bundle(f"{path}, {root}", names, lambda name: archive.read(root + name))


def plain_bytes(path: Path) -> bytes:
    """Read a file that is no link."""
    if path.is_symlink():
        raise ValueError(f"{path} is a link")
    return path.read_bytes()


def git_id(kind: str, body: bytes) -> str:
    """Give git's object id; SHA-1, as git's are."""
    return hashlib.sha1(f"{kind} {len(body)}\0".encode() + body, usedforsecurity=False).hexdigest()


def tree_id(entries: dict[str, tuple[str, str]]) -> str:
    """Give git's tree id for path -> (mode, object id)."""
    rows: list[tuple[bytes, bytes]] = []
    folders: dict[str, dict[str, tuple[str, str]]] = {}
    for path, (mode, oid) in entries.items():
        head, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(head, {})[rest] = (mode, oid)
        else:
            name = head.encode()
            rows.append((name, f"{mode} ".encode() + name + b"\0" + bytes.fromhex(oid)))
    for head, inner in folders.items():
        name = head.encode()
        rows.append((name + b"/", b"40000 " + name + b"\0" + bytes.fromhex(tree_id(inner))))
    return git_id("tree", b"".join(row for _, row in sorted(rows)))


def check_files(bundle: Bundle, lock: dict[str, Any], result: Result) -> dict[str, bytes]:
    """Compare every file with the lock; give the bytes that are as locked."""
    wanted = {
        f"{SKILLS}{skill['path']}/{file['path']}": file
        for skill in lock["skills"]
        for file in skill["files"]
    }
    found: dict[str, bytes] = {}
    for name, file in sorted(wanted.items()):
        if name not in bundle.names:
            result.bad.append(f"missing: {name}")
            continue
        data = bundle.read(name)
        digest = hashlib.sha256(data).hexdigest()
        if len(data) != file["size"] or digest != file["sha256"]:
            result.bad.append(f"changed: {name}")
            continue
        found[name] = data
    extra = {name for name in bundle.names if name.startswith(SKILLS)} - wanted.keys()
    extra -= {name for name in extra if "__pycache__/" in name}
    result.bad += [f"extra: {name}" for name in sorted(extra)]
    text = f"{len(found)} of {len(wanted)} files of {len(lock['skills'])} skills are as locked"
    result.check(len(found) == len(wanted), text, text)
    return found


def check_lock(lock: dict[str, Any], found: dict[str, bytes], result: Result) -> None:
    """Recompute the lock's digests of the whole from the files."""
    lines, entries = [], {}
    for skill in lock["skills"]:
        for file in skill["files"]:
            path = f"{skill['path']}/{file['path']}"
            lines.append((path.encode(), f"{file['sha256']}  {path}\n"))
            if SKILLS + path in found:
                mode = "100755" if file["executable"] else "100644"
                entries[path] = (mode, git_id("blob", found[SKILLS + path]))
    entries |= {row["path"]: (row["mode"], row["oid"]) for row in lock["unlocked"]}
    whole = hashlib.sha256("".join(line for _, line in sorted(lines)).encode()).hexdigest()
    digests = lock["digests"]
    result.check(whole == digests["dir_hash"], "dir_hash follows", "dir_hash does not follow")
    same = tree_id(entries) == digests["git_tree"]
    result.check(same, f"git tree {digests['git_tree']} follows", "git_tree does not follow")


def check_receipt(
    raw: bytes, lock_raw: bytes, lock: dict[str, Any], result: Result
) -> bytes | None:
    """Compare receipt and lock, follow the proof; give the raw commit if there is one."""
    receipt = json.loads(raw)
    catalog, source = receipt["catalog"], receipt["source"]
    same = catalog["sha256"] == hashlib.sha256(lock_raw).hexdigest()
    result.check(same, "the receipt names this lock", "the receipt names another lock")
    same = catalog["git_tree"] == lock["digests"]["git_tree"]
    result.check(same, "the receipt names this git tree", "the receipt names another git tree")
    package = receipt["package"]
    result.asserted.append(f"package     {package['name']} {package['version']}")
    result.asserted += [f"{key:<11} {value}" for key, value in receipt["asserted"].items()]
    if source["commit"] is None:
        result.unknown.append(f"no commit: source is {source['state']} ({source['reason']})")
        return None
    result.asserted.append(f"commit      {source['commit']}")
    same = source["skills_tree"] == lock["digests"]["git_tree"]
    result.check(same, "the commit's skills tree is this tree", "another tree in the commit")
    if source["proof"] is None:
        result.unknown.append("no proof: the commit id stands alone; look it up in the repository")
        return None
    return follow(source, result)


def follow(source: dict[str, Any], result: Result) -> bytes | None:
    """Hash commit and trees again; each must be named by the one before."""
    try:
        objects = [base64.b64decode(text, validate=True) for text in source["proof"]]
    except binascii.Error:
        result.bad.append("the proof is not base64")
        return None
    commit, *trees = objects
    if git_id("commit", commit) != source["commit"]:
        result.bad.append("the proof's first object is not the commit")
        return None
    match = re.match(rb"tree ([0-9a-f]{40})\n", commit)
    wanted = {match[1].decode()} if match else set()
    for tree in trees:
        if git_id("tree", tree) not in wanted:
            result.bad.append("a tree of the proof is named by nothing before it")
            return None
        wanted = children(tree)
    holds = source["skills_tree"] in wanted
    text = f"commit {source['commit']} leads to this tree over {len(trees)} raw trees"
    result.check(holds, text, "the proof does not lead to the skills tree")
    return commit if holds else None


def children(tree: bytes) -> set[str]:
    """Give the ids of the folders in a raw tree."""
    found = re.findall(rb"(\d+) [^\0]+\0(.{20})", tree, re.DOTALL)
    return {oid.hex() for mode, oid in found if mode == b"40000"}


def report(bundle: Bundle, result: Result, commit: bytes | None) -> int:
    """Print it, most important last; give the exit code."""
    print(bundle.place)
    for title, lines in (
        ("recomputed here", result.good),
        ("asserted, not checked by anybody here", result.asserted),
        ("cannot tell", result.unknown),
        ("WRONG", result.bad),
    ):
        if lines:
            print(f"\n{title}:")
            print("\n".join(f"  {line}" for line in lines))
    if commit is not None:
        head = commit.decode("utf-8", "replace").split("\n\n")[0]
        shown = [line for line in head.splitlines() if line.startswith(("author ", "committer "))]
        signed = "yes, check it with git" if "\ngpgsig" in head else "no"
        print("\nthe commit says:\n" + "\n".join(f"  {line}" for line in shown))
        print(f"  signed: {signed}")
    return 1 if result.bad else 3 if result.unknown else 0


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(
        description="Check a bundle of skills against its own lock and receipt.",
        epilog="Exit codes: 0 all follows; 1 something does not; 2 usage; 3 cannot tell.",
    )
    parser.add_argument("bundle", type=Path, help="a wheel, or an installed .agents folder")
    parser.add_argument("--commit", metavar="ID", help="fail unless the receipt names this commit")
    parser.add_argument("--lock-sha256", metavar="HEX", help="fail unless the lock has this digest")
    parser.add_argument("--export-commit", type=Path, metavar="FILE", help="write the raw commit")
    options = parser.parse_args(arguments)
    result, commit = Result(), None
    try:
        bundle = open_bundle(options.bundle)
        if LOCK not in bundle.names:
            raise ValueError(f"there is no {LOCK}")
        lock_raw = bundle.read(LOCK)
        lock = json.loads(lock_raw)
        check_lock(lock, check_files(bundle, lock, result), result)
        if RECEIPT in bundle.names:
            receipt_raw = bundle.read(RECEIPT)
            commit = check_receipt(receipt_raw, lock_raw, lock, result)
            named = json.loads(receipt_raw)["source"]["commit"]
        else:
            result.unknown.append("no receipt: nothing says where the files come from")
            named = None
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        print(f"cannot tell: {options.bundle}: {error!r}", file=sys.stderr)
        return 3
    digest = hashlib.sha256(lock_raw).hexdigest()
    result.good.append(f"SHA-256 of the lock: {digest}")
    if options.commit and options.commit != named:
        result.bad.append(f"the receipt names {named}, not {options.commit}")
    if options.lock_sha256 and options.lock_sha256.lower() != digest:
        result.bad.append(f"the lock is not the expected one, {options.lock_sha256}")
    if options.export_commit and commit is not None:
        options.export_commit.write_bytes(commit)
    return report(bundle, result, commit)


if __name__ == "__main__":
    sys.exit(main())
