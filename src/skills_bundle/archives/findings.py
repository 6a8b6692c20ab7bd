"""Record: everything found wrong with an archive while it is read, bounded."""

from __future__ import annotations

from skills_bundle.archives import limits
from skills_bundle.errors import Problem, UnsafeArchiveError
from skills_bundle.files.names import shown


class Findings:
    """Collects problems in the order in which they are found.

    Args:
        file_name: The archive's, without folders.
    """

    def __init__(self, file_name: str) -> None:
        """Begin with none."""
        self.file_name = file_name
        self._problems: list[Problem] = []
        self._unsaid = 0

    def __bool__(self) -> bool:
        """Tell whether anything was found."""
        return bool(self._problems)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Those found so far, as far as the limit."""
        return tuple(self._problems)

    def add(self, code: str, message: str, member: str | None = None) -> None:
        """Note one problem, of a member or of the archive as a whole."""
        if len(self._problems) >= limits.ARCHIVE_MAX_PROBLEMS:
            self._unsaid += 1
            return
        place = self.file_name if member is None else shown(member)
        self._problems.append(Problem(code=code, message=message, path=place))

    def refuse(self) -> None:
        """Refuse the archive if anything was found.

        Raises:
            UnsafeArchiveError: With all of it.
        """
        if not self._problems:
            return
        if self._unsaid:
            more = Problem(
                code="more_problems",
                message=f"and {self._unsaid} more",
                path=self.file_name,
            )
            self._problems.append(more)
        raise UnsafeArchiveError(self.file_name, tuple(self._problems))
