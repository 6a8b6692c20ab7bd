"""Edge: several processes that serve one listening socket, and the one that looks after them.

Processes are forked when everything is imported and nothing runs yet, so they share that memory. A
worker that ends by itself is replaced; workers whose keeper is gone end, too.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from skills_bundle.server import limits
from skills_bundle.server.http.log import say

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

MOST_WORKERS: Final = 1 if sys.platform == "win32" else limits.HTTP_MAX_WORKERS
"""How many processes there can be: Windows cannot fork."""

_STOP: Final = (signal.SIGINT, signal.SIGTERM)
_KILL_SECONDS: Final = limits.HTTP_STOP_GRACE_SECONDS + 2
"""After a signal, seconds until workers that did not end by themselves are killed."""


class Workers:
    """The processes, from their start to their end.

    Args:
        count: How many.
        work: Serves in a worker until the lifeline, a descriptor, ends or SIGTERM comes; gives the
            process's exit code. It begins with stop signals blocked, and unblocks them.
        close: Gives up what only workers shall use any more, once stopping has begun.
    """

    def __init__(self, count: int, work: Callable[[int], int], close: Callable[[], None]) -> None:
        """Prepare."""
        self._count = count
        self._work = work
        self._close = close
        self._started: dict[int, float] = {}
        self._short_lives = 0
        self._stopping = False
        self._exit_code = 0
        self._lifeline, self._life = os.pipe()

    def run(self) -> int:
        """Start the workers, keep their number, and give the exit code when all have ended."""
        for number in _STOP:
            signal.signal(number, self._on_stop)
        signal.signal(signal.SIGALRM, self._on_late)
        for _ in range(self._count):
            self._start()
        while self._started:
            pid, status = os.waitpid(-1, 0)
            began = self._started.pop(pid, None)
            if began is not None:
                self._ended(os.waitstatus_to_exitcode(status), time.monotonic() - began)
        return self._exit_code

    def _start(self) -> None:
        # A signal between the fork and the entry into the table would miss the new process.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
        if not self._stopping:  # which a signal may have begun just before it was blocked
            pid = os.fork()
            if pid == 0:
                self._become_worker()
            self._started[pid] = time.monotonic()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)

    def _become_worker(self) -> None:
        code = 1
        try:
            os.close(self._life)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            code = self._work(self._lifeline)
        finally:
            os._exit(code)

    def _ended(self, code: int, lived: float) -> None:
        if self._stopping:
            self._exit_code = self._exit_code or (1 if code else 0)
            return
        short = lived < limits.HTTP_WORKER_MIN_SECONDS
        self._short_lives = self._short_lives + 1 if short else 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        if self._short_lives >= limits.HTTP_MAX_SHORT_LIVES:
            say(f"workers end as soon as they start ({how}); giving up.")
            self._exit_code = 1
            self._stop()
        else:
            say(f"a worker ended ({how}); starting another.")
            self._start()

    def _stop(self) -> None:
        self._stopping = True
        self._close()
        self._signal(signal.SIGTERM)
        signal.alarm(_KILL_SECONDS)

    def _on_stop(self, _number: int, _frame: FrameType | None) -> None:
        """Stop; at the second signal, at once."""
        if self._stopping:
            self._on_late(_number, _frame)
        else:
            self._stop()

    def _on_late(self, _number: int, _frame: FrameType | None) -> None:
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        for pid in tuple(self._started):
            with suppress(ProcessLookupError):  # ended, and waited for, just now
                os.kill(pid, number)
