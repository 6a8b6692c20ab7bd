"""Record: every code of a skill's diagnostics, with its level, its rule and who made the rule.

The codes are stable: locks, reports and users' scripts hold them. The meaning of a code never
changes; a new cause gets a new code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from skills_bundle.skills import limits
from skills_bundle.skills.model import Diagnostic, Level

SPECIFICATION: Final = "Agent Skills specification"
YAML: Final = "YAML 1.2.2"
EXTENSION: Final = "MCP skills extension"
OURS: Final = "skills-bundle"


ALLOWABLE: Final = ("name_mismatch",)
"""Codes of level refuse that the setting `allow` makes warnings."""


@dataclass(frozen=True, slots=True)
class Code:
    """The meaning of a code.

    Attributes:
        level: What it means for the skill.
        sentence: The rule that the skill breaks.
        source: Who made the rule.
        in_lock: Whether a lock may hold it. A code about files that do not ship may not: an sdist
            has no such file, and has to give the same lock.
    """

    level: Level
    sentence: str
    source: str
    in_lock: bool = True


def _refuse(sentence: str, source: str = OURS) -> Code:
    return Code(Level.REFUSE, sentence, source)


def _warn(sentence: str, source: str = OURS) -> Code:
    return Code(Level.WARN, sentence, source)


def _report(sentence: str, source: str = OURS) -> Code:
    return Code(Level.WARN, sentence, source, in_lock=False)


CODES: Final[dict[str, Code]] = {
    # --- the SKILL.md as text ---
    "no_frontmatter": _refuse("SKILL.md starts with a line `---`.", SPECIFICATION),
    "frontmatter_unclosed": _refuse("A second line `---` closes the frontmatter.", SPECIFICATION),
    "fence_blanks": _warn("The lines `---` contain nothing else; some readers do not allow trailing spaces."),
    "frontmatter_too_large": _refuse("Frontmatter is no larger than FRONTMATTER_MAX_BYTES."),
    "not_utf8": _refuse("SKILL.md is UTF-8.", SPECIFICATION),
    "control_character": _refuse("SKILL.md contains no control characters except tab and line endings."),
    "lone_surrogate": _refuse("No escape writes a lone surrogate.", YAML),
    "bom": _warn("SKILL.md starts without a byte order mark; some hosts do not list it."),
    "hidden_characters": _warn("Frontmatter contains no characters that hide or reorder text, escaped or not."),
    # --- frontmatter as YAML ---
    "yaml_syntax": _refuse("Frontmatter is YAML.", YAML),
    "yaml_not_mapping": _refuse("Frontmatter is a mapping of fields.", SPECIFICATION),
    "yaml_duplicate_key": _refuse("No key appears twice in a mapping.", YAML),
    "yaml_key_not_text": _refuse("Every key is text: JSON has no other."),
    "yaml_merge_key": _refuse("No key is `<<`: some readers merge it and others keep it."),
    "yaml_anchor": _refuse("No anchors and aliases: JSON has none, and aliases can expand without limit."),
    "yaml_tag": _refuse("No tags: the value of a tagged node depends on the reader."),
    "yaml_multiple_documents": _refuse("Frontmatter is one YAML document.", SPECIFICATION),
    "yaml_number_not_json": _refuse("Every number is finite and exact in JSON (RFC 8259, 6)."),
    "yaml_too_deep": _refuse("Collections nest no deeper than FRONTMATTER_MAX_DEPTH."),
    "yaml_too_many_nodes": _refuse("Frontmatter has at most FRONTMATTER_MAX_NODES nodes."),
    "yaml_repaired": _warn("A plain value contains no `: `; other readers refuse it. Quote it.", YAML),
    "yaml_ambiguous": _warn(
        "Readers of YAML 1.1 and 1.2 read the same values. Quote what they read differently.", YAML
    ),
    "final_line_break": _warn(
        "No value ends in a line break, which some clients cut: `>-` and `|-`, not `>` and `|`."
    ),
    # --- fields ---
    "no_name": _refuse("`name` is set and not empty.", SPECIFICATION),
    "name_not_text": _refuse("`name` is text.", SPECIFICATION),
    "name_mismatch": _refuse("`name` equals the name of the skill's folder.", SPECIFICATION),
    "name_form": _warn(
        "`name` has only lower-case letters, digits and single hyphens.", SPECIFICATION
    ),
    "name_too_long": _warn("`name` is no longer than SKILL_NAME_MAX_CHARACTERS.", SPECIFICATION),
    "name_not_ascii": _warn("`name` is ASCII; some hosts refuse others.", SPECIFICATION),
    "duplicate_name": _warn("Every `name` is unique; skills that share one are read by path."),
    "no_description": _refuse("`description` is set and not empty.", SPECIFICATION),
    "description_not_text": _refuse("`description` is text.", SPECIFICATION),
    "description_too_long": _warn(
        "`description` is no longer than SKILL_DESCRIPTION_MAX_CHARACTERS.", SPECIFICATION
    ),
    "description_comment": _warn(
        "No `#` cuts an unquoted `description`: after a space, it starts a comment.", YAML
    ),
    "description_tag": _warn(
        "`description` contains no XML-like tags; hosts put it into prompts that use such tags."
    ),
    "compatibility_too_long": _warn(
        "`compatibility` is no longer than SKILL_COMPATIBILITY_MAX_CHARACTERS.", SPECIFICATION
    ),
    "field_type": _warn("Every field has the type the specification gives it.", SPECIFICATION),
    "unknown_field": _warn("Every field is in the specification.", SPECIFICATION),
    "too_many_lines": _warn("SKILL.md has at most SKILL_MD_MAX_LINES lines.", SPECIFICATION),
    "broken_link": _warn(
        "Every Markdown link into references/, scripts/ or assets/ points to a file."
    ),
    # --- files ---
    "skill_at_top": _refuse("A skill has its own folder below the skills folder."),
    "skill_md_case": _refuse(
        "The file is called SKILL.md, in exactly these letters.", SPECIFICATION
    ),
    "link": _refuse("A skill contains no symbolic links: they can lead to any file."),
    "special_file": _refuse("A skill contains regular files only: no pipes, sockets, devices."),
    "submodule": _refuse("A skill contains no git submodule: its files are not in this repository."),
    "nested_repository": _refuse(
        "The skills folder contains no git repository: git would add a link, without its files."
    ),
    "not_checked_out": _refuse(
        "Every file that git tracks in the skills folder is checked out (no sparse checkout)."
    ),
    "tracked_junk": _report("Git tracks no by-products in a skill; they do not ship."),
    "line_ends_converted": _report("Files have the same line endings in git and on disk."),
    "junk_not_ignored": _warn("Git ignores by-products; `git add --all` would commit them."),
    "skill_in_junk": _warn("No SKILL.md is in a folder that is named like a by-product."),
    "lock_in_skills": _warn("A project's lock is next to its skills folder, not in it."),
    "unreadable": _refuse("Every file and folder can be read."),
    "lfs_pointer": _warn(
        "Every file has its content, not a Git LFS pointer; `git lfs pull` before `lock`."
    ),
    "filtered_content": _warn(
        "Every file has its content, not what git-crypt or git-annex keeps in its place."
    ),
    "changed_while_read": _refuse("No file changes while it is read."),
    "too_many_files": _refuse("A skill has at most SKILL_MAX_FILES files.", EXTENSION),
    "too_large": _refuse("A skill's files have at most SKILL_MAX_BYTES bytes.", EXTENSION),
    "scan_too_deep": _refuse("Folders nest no deeper than SCAN_MAX_DEPTH."),
    "scan_too_many_entries": _refuse("A scan looks at no more than SCAN_MAX_ENTRIES entries."),
    "link_not_followed": _warn("A symbolic link outside every skill is not followed."),
    "exclude_unused": _warn("Every folder in `exclude` exists, outside every skill."),
    "name_not_nfc": _warn("File and folder names are in Unicode NFC; they are locked in NFC."),
    # --- paths, as `files.paths` names them ---
    "path_collision": _refuse("No two paths are equal after NFKC and case folding."),
    "path_too_long": _refuse("A path is no longer than PATH_MAX_CHARACTERS and PATH_COMPONENT_MAX_BYTES."),
    "path_too_deep": _refuse("A path has at most PATH_MAX_COMPONENTS components."),
    "path_empty_component": _refuse("No component of a path is empty."),
    "path_dot_component": _refuse("No component of a path is `.` or `..`."),
    "path_backslash": _refuse("No path contains a backslash."),
    "path_reserved_character": _refuse("No path contains a character that Windows reserves."),
    "path_control_character": _refuse("No path contains control or reordering characters."),
    "path_not_utf8": _refuse("Every path is UTF-8."),
    "path_not_nfc": _refuse("Git stores every path, or would add it, in Unicode NFC."),
    "path_trailing_dot_or_space": _refuse("No component ends in a dot or a space."),
    "path_device_name": _refuse("No component is the name of a Windows device."),
}
"""Code to level, sentence and source, grouped by what is looked at."""


def diagnose(code: str, path: str, message: str, line: int | None = None) -> Diagnostic:
    """Return a diagnostic with the level of its code.

    Raises:
        KeyError: If `CODES` does not have the code.
    """
    return Diagnostic(code=code, level=CODES[code].level, message=message, path=path, line=line)


def clip(text: str) -> str:
    """Shorten a quoted value; it can be as long as the frontmatter."""
    limit = limits.MESSAGE_QUOTE_MAX_CHARACTERS
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
