"""A project that ships its skills: made from nothing, or an existing one given what it lacks.

Knows: pyproject.toml as text that belongs to somebody, where packages and skills of a project lie,
and what the build hook demands. May use the bundle and all below it. Must never import hatchling or
the server, and writes nothing before all of it is decided.
"""
