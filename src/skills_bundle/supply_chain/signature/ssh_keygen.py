"""Edge: `ssh-keygen`, asked who made an SSH signature; started only because somebody asked.

It is looked for in the absolute folders of PATH alone, since a relative one is wherever somebody
stands. It gets copies of everything in a private folder, no standard input but the message, and a
bounded time and output. What it decides, it decides by its exit code; its words are shown to
people.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread, Timer
from typing import IO, TYPE_CHECKING, Final, Literal

from skills_bundle.supply_chain import limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PROGRAM: Final = "ssh-keygen"

Outcome = Literal[
    "trusted", "untrusted", "bad", "signers_unreadable", "no_ssh_keygen", "ssh_keygen_failed"
]
"""What became of a question.

`trusted`: the signature is good and by an allowed signer. `untrusted`: it is good, and nobody in
the file may have made it. `bad`: it is not a signature of this message. `signers_unreadable`: as
`untrusted`, but some lines of the file cannot be read. The last two: nobody could be asked.
"""

_PASSED_ON: Final = ("TZ", "SYSTEMROOT", "SystemRoot", "TMPDIR", "TEMP", "TMP")
"""Variables it needs: its time zone, and what Windows starts no program without."""
_GOOD: Final = re.compile(r'^Good ".*" signature .*?with (\S+) key (\S+)$', re.MULTILINE)
_NOT_GOOD: Final = re.compile(r"Could not verify signature|Couldn't parse signature|sshsig_armor")
_OF_A_LINE: Final = re.compile(r"^signers:(\d+): (.*)$", re.MULTILINE)
_READ_LINE: Final = re.compile(r"expired|not yet valid|namespace|certificate|principal")
"""Words of notes about a line that could be read, and says no."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What `ssh-keygen` is asked.

    Attributes:
        message: The bytes that were signed.
        signature: Armoured, as `ssh-keygen -Y sign` writes it.
        signers: Content of a file in the `allowed_signers` format of ssh-keygen(1).
        namespace: What the signature must have been made for; `git` for commits.
        time: Seconds since 1970 at which a key must have been valid; None for now.
        identity: The one principal who may have signed; None for anybody in the file.
    """

    message: bytes = field(repr=False)
    signature: bytes = field(repr=False)
    signers: bytes = field(repr=False)
    namespace: str
    time: int | None = None
    identity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What it said.

    Attributes:
        outcome: See `Outcome`.
        principal: Who signed, as the file names them; None unless trusted.
        key_type: Kind of the key, such as `ED25519`; None unless the signature is good.
        fingerprint: Of the key; likewise.
        notes: What it said about lines of the file, or why it failed.
    """

    outcome: Outcome
    principal: str | None = None
    key_type: str | None = None
    fingerprint: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ran:
    code: int
    output: str
    words: str


def ask(question: Question, environ: Mapping[str, str]) -> Answer:
    """Ask who made a signature.

    Args:
        question: All about it.
        environ: The environment; PATH says where `ssh-keygen` may be.
    """
    program = find(environ.get("PATH", ""))
    if program is None:
        note = f"There is no {PROGRAM} in an absolute folder of PATH; OpenSSH brings it."
        return Answer(outcome="no_ssh_keygen", notes=(note,))
    with tempfile.TemporaryDirectory(prefix="skills-bundle-") as folder:
        try:
            return _Asking(question, program, Path(folder), environ).answer()
        except (OSError, OverflowError, ValueError) as error:
            return Answer(outcome="ssh_keygen_failed", notes=(str(error),))


def find(path: str) -> str | None:
    """Give the program's absolute path.

    Args:
        path: The variable PATH; folders in it that are relative, or empty, are passed over.
    """
    for folder in path.split(os.pathsep):
        if Path(folder).is_absolute() and (found := shutil.which(str(Path(folder) / PROGRAM))):
            return found
    return None


class _Asking:
    """One question, its files in a private folder."""

    def __init__(
        self, question: Question, program: str, folder: Path, environ: Mapping[str, str]
    ) -> None:
        self._question = question
        self._program = program
        self._folder = folder
        self._environ = {name: environ[name] for name in _PASSED_ON if name in environ}
        for name in ("message", "signature", "signers"):
            (folder / name).write_bytes(getattr(question, name))
        self._time = [] if question.time is None else [f"-Overify-time={_local(question.time)}"]

    def answer(self) -> Answer:
        """Go the way git goes: find principals, try each, else look at the signature alone."""
        about_lines: list[str] = []
        for principal in self._principals(about_lines):
            ran = self._run(
                "verify", "-n", self._question.namespace, *self._signers, "-I", principal
            )
            if ran.code == 0:
                return replace(_good("trusted", ran), principal=principal)
            about_lines.append(ran.words)
        ran = self._run("check-novalidate", "-n", self._question.namespace)
        if ran.code == 0:
            found = _not_allowed(_good("untrusted", ran), "\n".join(about_lines))
            return replace(found, notes=(*found.notes, *self._others()))
        if _NOT_GOOD.search(f"{ran.output}\n{ran.words}"):
            return Answer(outcome="bad", notes=_lines(ran.words))
        return Answer(outcome="ssh_keygen_failed", notes=_lines(ran.words) or ("It said nothing.",))

    def _principals(self, about_lines: list[str]) -> Iterator[str]:
        if self._question.identity is not None:
            yield self._question.identity
            return
        ran = self._run("find-principals", *self._signers)
        about_lines.append(ran.words)
        yield from (_lines(ran.output) if ran.code == 0 else ())

    def _others(self) -> tuple[str, ...]:
        """Say whose key it is, if it had to be somebody else's."""
        if self._question.identity is None:
            return ()
        ran = self._run("find-principals", *self._signers)
        names = ", ".join(_lines(ran.output)) if ran.code == 0 else "nobody"
        wanted = f"It had to be {self._question.identity}'s key"
        return (f"{wanted}; the allowed signers give it to {names}.",)

    @property
    def _signers(self) -> tuple[str, str]:
        return "-f", str(self._folder / "signers")

    def _run(self, operation: str, *arguments: str) -> _Ran:
        signature = ("-s", str(self._folder / "signature"))
        command = [self._program, "-Y", operation, *arguments, *signature, *self._time]
        with (self._folder / "message").open("rb") as message:
            return _run(command, message, self._folder, {"LC_ALL": "C", **self._environ})


def _local(seconds: int) -> str:
    """Write a time as ssh-keygen reads it, and git gives it: in the local time zone.

    Raises:
        ValueError: If it has no year of four digits.
    """
    text = time.strftime("%Y%m%d%H%M%S", time.localtime(seconds))
    if seconds < 0 or len(text) != len("YYYYMMDDHHMMSS"):
        raise ValueError("The commit's time is none that ssh-keygen can be asked about.")
    return text


def _run(command: list[str], message: IO[bytes], folder: Path, environ: dict[str, str]) -> _Ran:
    """Run a program to its end, or until it takes too long.

    Raises:
        OSError: If it cannot be started, or had to be ended.
    """
    with subprocess.Popen(  # noqa: S603 - an absolute path, a list of arguments, no shell
        command,
        stdin=message,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environ,
        start_new_session=True,
    ) as process:
        slow: list[bool] = []
        timer = Timer(limits.SSH_KEYGEN_SECONDS, lambda: (slow.append(True), _end(process)))
        timer.start()
        try:
            output, words = _bounded(process.stdout, process.stderr)
            code = process.wait()
        finally:
            timer.cancel()
            if process.returncode is None:
                _end(process)
    if slow:
        raise OSError(f"{PROGRAM} was ended after {limits.SSH_KEYGEN_SECONDS:g} seconds.")
    return _Ran(code, output, words.replace(f"{folder}{os.sep}", ""))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and whatever it started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _bounded(*streams: IO[bytes] | None) -> tuple[str, ...]:
    """Read streams side by side, none of them beyond the limit; closing one ends its writer."""
    read: dict[int, bytes] = {}

    def take(place: int, stream: IO[bytes]) -> None:
        with stream:
            read[place] = stream.read(limits.SSH_KEYGEN_MAX_OUTPUT_BYTES)

    threads = [
        Thread(target=take, args=(place, stream), daemon=True)
        for place, stream in enumerate(streams)
        if stream is not None
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = (read[place].decode("utf-8", "replace") for place in sorted(read))
    return tuple(text.replace("\r\n", "\n") for text in texts)


def _good(outcome: Outcome, ran: _Ran) -> Answer:
    """Give the key that a good signature was made with, as the program names it."""
    told = _GOOD.search(ran.output)
    key_type, fingerprint = told.groups() if told else (None, None)
    return Answer(outcome=outcome, key_type=key_type, fingerprint=fingerprint)


def _not_allowed(answer: Answer, words: str) -> Answer:
    """Say what the file has against the key, and whether all of the file could be read."""
    rows = list(dict.fromkeys(_OF_A_LINE.findall(words)))
    notes = tuple(f"line {number} of the allowed signers: {text}" for number, text in rows)
    unread = any(not _READ_LINE.search(text) for _, text in rows)
    return replace(answer, outcome="signers_unreadable" if unread else answer.outcome, notes=notes)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())
