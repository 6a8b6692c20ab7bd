"""Edge: `python -m skills_bundle`, the same as the command `skills-bundle`."""

from skills_bundle.cli.main import main

if __name__ == "__main__":
    main()
