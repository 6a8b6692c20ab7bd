#!/usr/bin/env python3
"""Rewrite an sdist so that its bytes depend on its files alone.

Needs Python 3.10 or later and nothing else. For backends that write the clock, the umask or
the builder's user into a tar.gz and offer no setting against it. Contents and names stay;
order, dates, owners, modes and the gzip header become fixed.

Examples:
    normalize_sdist.py dist/demo-1.0.tar.gz --epoch "$(git show -s --format=%ct)"
    normalize_sdist.py dist/demo-1.0.tar.gz --epoch 0 --output clean.tar.gz

Exit codes: 0 written; 2 wrong usage, unreadable, or an entry that is neither file nor folder.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import sys
import tarfile
from pathlib import Path


def normalized(data: bytes, epoch: int) -> bytes:
    """Give the same files in a canonical archive.

    Raises:
        ValueError: A link or a special file is inside, or a name occurs twice.
    """
    entries: dict[str, tuple[tarfile.TarInfo, bytes]] = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for info in archive.getmembers():
            if not (info.isfile() or info.isdir()):
                raise ValueError(f"{info.name} is neither a file nor a folder")
            if info.name in entries:
                raise ValueError(f"{info.name} occurs twice")
            handle = archive.extractfile(info) if info.isfile() else None
            entries[info.name] = (info, b"" if handle is None else handle.read())
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(entries):
            info, content = entries[name]
            archive.addfile(clean(info, len(content), epoch), io.BytesIO(content))
    outer = io.BytesIO()
    with gzip.GzipFile(
        filename="", fileobj=outer, mode="wb", mtime=epoch, compresslevel=9
    ) as packed:
        packed.write(inner.getvalue())
    return outer.getvalue()


def clean(info: tarfile.TarInfo, size: int, epoch: int) -> tarfile.TarInfo:
    """Keep the name, the kind and the owner's x bit; fix everything else."""
    result = tarfile.TarInfo(info.name)
    result.type = info.type if info.isdir() else tarfile.REGTYPE
    result.size = size
    result.mtime = epoch
    result.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run as a command."""
    parser = argparse.ArgumentParser(
        description="Rewrite an sdist so that its bytes depend on its files alone."
    )
    parser.add_argument("sdist", type=Path)
    parser.add_argument("--epoch", type=int, required=True, help="seconds; the commit's time")
    parser.add_argument("--output", type=Path, help="write here (default: replace the file)")
    options = parser.parse_args(arguments)
    target: Path = options.output or options.sdist
    part = target.with_name(target.name + ".part")
    try:
        part.write_bytes(normalized(options.sdist.read_bytes(), options.epoch))
        os.replace(part, target)
    except (OSError, ValueError, tarfile.TarError) as error:
        print(f"cannot rewrite {options.sdist}: {error}", file=sys.stderr)
        return 2
    print(f"wrote {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
