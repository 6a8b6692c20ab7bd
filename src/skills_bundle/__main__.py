"""Edge: `python -m skills_bundle`, the same as the command `skills-bundle`."""

import os
import sys


def _forget_working_folder() -> None:
    """Import nothing from wherever a host happens to start us: there may be a `json.py`.

    `python -m` puts the working folder first; the command `skills-bundle` and `python -P -m` do
    not. Only modules that are loaded already may be used here, so no pathlib.
    """
    try:
        working = os.getcwd()  # noqa: PTH109 - see above
    except OSError:  # it is gone
        working = ""
    package = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - see above
    added = not sys.flags.safe_path and sys.path[0] in {"", working}
    if added and os.path.dirname(package) != working:  # noqa: PTH120 - see above
        del sys.path[0]


if __name__ == "__main__":
    _forget_working_folder()

    from skills_bundle.cli.main import main

    main()
