"""Record: limits of a skill, with their units and reasons."""

from __future__ import annotations

from typing import Final

from skills_bundle.formats.limits import KIB, MIB

# --- Skills ---------------------------------------------------------------------------------------
SKILL_MAX_FILES: Final = 512
"""Files in one skill: the limit of the MCP skills extension."""
SKILL_MAX_BYTES: Final = 16 * MIB
"""Bytes of all files of one skill together: the limit of the MCP skills extension."""
SKILL_MD_MAX_LINES: Final = 500
"""Lines of SKILL.md before a warning: the Agent Skills specification's advice."""
SKILL_NAME_MAX_CHARACTERS: Final = 64
"""Code points of a skill's name: the Agent Skills specification."""
SKILL_DESCRIPTION_MAX_CHARACTERS: Final = 1024
"""Code points of a description before a warning: the Agent Skills specification."""
SKILL_COMPATIBILITY_MAX_CHARACTERS: Final = 500
"""Code points of `compatibility` before a warning: the Agent Skills specification."""
FRONTMATTER_MAX_BYTES: Final = 256 * KIB
"""Bytes of the YAML head of a SKILL.md."""
FRONTMATTER_MAX_DEPTH: Final = 32
"""Nested collections in frontmatter; well inside `JSON_MAX_DEPTH` once wrapped in the lock."""
FRONTMATTER_MAX_NODES: Final = 50_000
"""Keys, scalars and collections in one frontmatter; about a second of work at most."""
FRONTMATTER_MAX_PROBLEMS: Final = 100
"""Problems reported for one frontmatter; beyond that, only the first of each further code."""
MESSAGE_QUOTE_MAX_CHARACTERS: Final = 80
"""Code points of foreign text that a message quotes."""
