"""Decision: what git's library raises, told as ours, with the receipt's reason code."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from skills_bundle.errors import CheckoutError

if TYPE_CHECKING:
    from collections.abc import Generator

    from skills_bundle.bundle.receipt import Reason


@contextmanager
def translated() -> Generator[None]:
    """Turn what pygit2 raises (GitError, KeyError, ValueError, OSError) into CheckoutError.

    Raises:
        CheckoutError: With the reason code. An error that is neither git's nor the system's passes.
    """
    try:
        yield
    except ImportError as error:
        message = f"pygit2 cannot be imported: {error}"
        raise CheckoutError(message, reason="git_unavailable") from error
    except CheckoutError:
        raise
    except Exception as error:
        if not isinstance(error, OSError | ValueError | KeyError) and not _is_git_error(error):
            raise
        raise CheckoutError(str(error), reason=reason_of(str(error))) from error


def _is_git_error(error: Exception) -> bool:
    return type(error).__module__.partition(".")[0] in {"pygit2", "_pygit2"}


def reason_of(message: str) -> Reason:
    """Tell libgit2's refusals apart; its error codes do not."""
    if "not owned by current user" in message:
        return "not_owner"
    if "object format" in message:
        return "unsupported_object_format"
    return "git_unavailable"
