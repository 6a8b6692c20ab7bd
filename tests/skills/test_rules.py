"""Which skills get in: what one folder says, and what shows when they are seen together."""

from __future__ import annotations

import pytest

from skills_bundle.skills import rules
from skills_bundle.skills.codes import diagnose
from skills_bundle.skills.model import SkillFile
from skills_bundle.skills.rules import Candidate, Policy
from tests.builders import codes, skill_md


def candidate(path: str, text: str | None = None, *others: str) -> Candidate:
    """Give a skill folder with a SKILL.md and further empty files."""
    text = skill_md(path.rsplit("/", 1)[-1]) if text is None else text
    files = [("SKILL.md", text.encode()), *((other, b"") for other in others)]
    return Candidate(
        path=path,
        files=tuple(
            SkillFile(path=name, data=data, executable=False) for name, data in sorted(files)
        ),
    )


def found(text: str) -> list[tuple[str, int | None]]:
    """Give code and line of everything said about a skill `x` with this SKILL.md."""
    return [(row.code, row.line) for row in rules.check(candidate("x", text))]


def body(text: str) -> str:
    """Give a valid SKILL.md of a skill `x` with this body, which starts on line 5."""
    return f"---\nname: x\ndescription: Does x.\n---\n{text}"


def test_a_valid_skill_gets_in() -> None:
    """With what its frontmatter says."""
    text = skill_md("x", description=">-\n  Two\n  lines.", more="metadata:\n  tags: b, a\n")
    (skill,), refused = rules.judge([candidate("group/x", text)])
    assert refused == ()
    assert (skill.name, skill.path, skill.description) == ("x", "group/x", "Two lines.")
    assert (skill.tags, skill.parse_mode, skill.diagnostics) == (("a", "b"), "strict", ())


def test_frontmatter_is_kept_verbatim() -> None:
    """The description there keeps its line end."""
    (skill,), _ = rules.judge([candidate("x", skill_md("x", description="|\n  Text.\n"))])
    assert skill.frontmatter == {"name": "x", "description": "Text.\n"}


def test_diagnostics_name_file_and_line() -> None:
    """Below the skills folder."""
    (row,) = rules.check(candidate("a/x", skill_md("z")))
    assert (row.code, row.path, row.line) == ("name_mismatch", "a/x/SKILL.md", 2)


def test_a_field_that_is_missing_is_told_on_the_first_line() -> None:
    """There is no better one."""
    assert found("---\nname: x\n---\n") == [("no_description", 1)]


def test_a_broken_head_is_not_judged_further() -> None:
    """Its fields are not to be relied on: no word about name or description."""
    assert found("---\nname: 'x\n---\n") == [("yaml_syntax", 2)]


def test_warnings_let_a_skill_in() -> None:
    """And stay with it."""
    (skill,), _ = rules.judge([candidate("x", skill_md("x", more="model: fast\n"))])
    assert codes(skill) == ["unknown_field"]


def test_strict_refuses_for_a_warning() -> None:
    """The same diagnostic."""
    skills, (refused,) = rules.judge(
        [candidate("x", skill_md("x", more="model: fast\n"))], Policy(strict=True)
    )
    assert (skills, codes(refused)) == ((), ["unknown_field"])


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (LFS, "lfs_pointer"),
        (b"\0GITCRYPT\0\x8f\x01", "filtered_content"),
        (b"/annex/objects/SHA256E-s12345--4d7a.png\n", "filtered_content"),
        (b"See " + LFS, None),
    ],
)
def test_what_git_stores_in_a_files_place_is_a_warning(data: bytes, code: str | None) -> None:
    """The file ships as it is, and with `strict` it does not."""
    valid = candidate("x")
    logo = SkillFile(path="assets/logo.png", data=data, executable=False)
    case = Candidate(path="x", files=(*valid.files, logo))
    (skill,), _ = rules.judge([case])
    rows = [(row.code, row.path) for row in skill.diagnostics]
    assert rows == ([] if code is None else [(code, "x/assets/logo.png")])
    accepted, refused = rules.judge([case], Policy(strict=True))
    assert (len(accepted), len(refused)) == ((1, 0) if code is None else (0, 1))


def test_one_bad_skill_hides_no_other() -> None:
    """Each candidate ends up in exactly one place, sorted."""
    skills, refused = rules.judge([candidate("c"), candidate("b", "no"), candidate("a")])
    assert [row.path for row in skills] == ["a", "c"]
    assert [row.path for row in refused] == ["b"]


def test_a_candidate_without_skill_md_is_refused_with_the_scans_reason() -> None:
    """It could not be read, and the scan said why."""
    row = diagnose("link", "x/SKILL.md", "is a link")
    _, (refused,) = rules.judge([Candidate(path="x", diagnostics=(row,))])
    assert refused.diagnostics == (row,)


@pytest.mark.parametrize(("lines", "told"), [(500, []), (501, ["too_many_lines"])])
def test_lines_are_counted_over_the_whole_file(lines: int, told: list[str]) -> None:
    """The frontmatter's too."""
    assert [code for code, _ in found(body("x\n" * (lines - 4)))] == told


def test_a_link_to_a_missing_reference_is_told_with_its_line() -> None:
    """Line 4 closes the frontmatter."""
    assert found(body("\n[a](references/a.md)\n")) == [("broken_link", 6)]


@pytest.mark.parametrize(
    "text",
    [
        "[a](references/there.md)",
        "[a](./references/there.md#part)",
        "[a](references/)",
        "[a](https://example.org/references/x.md)",
        "[a](other.md)",
        "[a](../y/references/x.md)",
        "`[a](references/x.md)`",
        "```\n[a](references/x.md)\n```",
        "~~~md\n[a](references/x.md)\n",
        "[a](references/{name}.md)",
        "[a](references/...)",
        "[a](references/x y.md)",
    ],
)
def test_links_that_work_or_are_examples_are_not_told(text: str) -> None:
    """Code blocks, placeholders, other sites."""
    rows = rules.check(candidate("x", body(text), "references/there.md"))
    assert [row.code for row in rows] == []


def test_a_name_used_twice_is_told_in_both_places() -> None:
    """Both get in; each names the other."""
    skills, _ = rules.judge([candidate("b/x"), candidate("a/x"), candidate("z")])
    assert [(row.path, codes(row)) for row in skills] == [
        ("a/x", ["duplicate_name"]),
        ("b/x", ["duplicate_name"]),
        ("z", []),
    ]
    assert "b/x" in skills[0].diagnostics[0].message


def test_a_name_used_very_often_does_not_fill_the_report() -> None:
    """Three others are named, the rest counted."""
    skills, _ = rules.judge([candidate(f"{i:03}/x") for i in range(50)])
    assert skills[0].diagnostics[0].message.count("/x") == 3


def test_folders_that_differ_in_case_are_both_refused() -> None:
    """On some systems they would be one."""
    skills, refused = rules.judge([candidate("Ab"), candidate("aB"), candidate("c")])
    assert [row.path for row in skills] == ["c"]
    assert [set(codes(row)) & {"path_collision"} for row in refused] == [{"path_collision"}] * 2


def test_group_folders_that_differ_in_case_refuse_what_is_in_them() -> None:
    """Though no two skills have the same path."""
    _, refused = rules.judge([candidate("G/a"), candidate("g/b")])
    assert [row.path for row in refused] == ["G/a", "g/b"]


def test_files_of_one_skill_can_collide() -> None:
    """Then that skill alone is refused."""
    skills, (refused,) = rules.judge([candidate("x", None, "a.md", "A.md"), candidate("z")])
    assert ([row.path for row in skills], codes(refused)) == (["z"], ["path_collision"])


def test_a_folder_no_lock_can_hold_is_told_once() -> None:
    """Not once a file."""
    rows = rules.check(candidate("con", None, "a", "b"))
    assert [(row.code, row.path) for row in rows] == [("path_device_name", "con")]


def test_a_file_no_lock_can_hold_is_told_at_its_path() -> None:
    """Where to rename it."""
    rows = rules.check(candidate("x", None, "references/a?.md"))
    assert [(row.code, row.path) for row in rows] == [
        ("path_reserved_character", "x/references/a?.md")
    ]


def test_the_order_of_candidates_does_not_matter() -> None:
    """A walk may find them in any."""
    some = [candidate("b/x"), candidate("a/x"), candidate("A/y"), candidate("z", "no")]
    assert rules.judge(some) == rules.judge(some[::-1])


def test_the_name_is_given_in_nfc() -> None:
    """As the folder is spelled in the lock."""
    (skill,), _ = rules.judge([candidate("café", skill_md("cafe\u0301"))])
    assert (skill.name, codes(skill)) == ("café", ["name_not_ascii"])


@pytest.mark.parametrize("escape", ["\\u202e", "\\U000e0041", "\\u200b", "\\U000e0100", "\\u3164"])
def test_strict_refuses_a_hidden_character_written_as_an_escape(escape: str) -> None:
    """The file looks harmless; what an agent gets does not."""
    text = f'---\nname: x\ndescription: "a{escape}b"\n---\n'
    _, (refused,) = rules.judge([candidate("x", text)], Policy(strict=True))
    assert codes(refused) == ["hidden_characters"]


@pytest.mark.parametrize("tag", ["<system>", "</skill>", "<a href=x>", "<!DOCTYPE x>", "<br/>"])
def test_a_tag_in_a_description_is_a_warning(tag: str) -> None:
    """Hosts put descriptions into prompts that use tags."""
    assert found(f"---\nname: x\ndescription: Does x. {tag}\n---\n") == [("description_tag", 3)]


@pytest.mark.parametrize("text", ["a < b and c > d", "x <-> y", "if 1<2", "->", "<3"])
def test_a_comparison_in_a_description_is_no_tag(text: str) -> None:
    """Ordinary text."""
    assert found(f"---\nname: x\ndescription: Does x {text}\n---\n") == []


def test_a_hash_that_cuts_a_description_is_a_warning() -> None:
    """Also where it leaves nothing."""
    assert found("---\nname: x\ndescription: Use C #and F.\n---\n") == [("description_comment", 3)]
    assert ("description_comment", 3) in found("---\nname: x\ndescription: #topics\n---\n")
    assert found("---\nname: x\ndescription: 'C #and F.'  # ours\n---\n") == []


@pytest.mark.parametrize("style", ["|", ">", "|+", ">2"])
def test_a_final_line_break_is_a_warning_with_the_fix(style: str) -> None:
    """Some clients cut it, so their value is not the locked one."""
    (row,) = rules.check(
        candidate("x", f"---\nname: x\ndescription: {style}\n  Text.\n---\n")
    )
    assert (row.code, row.line) == ("final_line_break", 3)
    assert f"`{style[0]}-`" in row.message
    assert found(f"---\nname: x\ndescription: {style[0]}-\n  Text.\n---\n") == []


@pytest.mark.parametrize("strict", [False, True])
def test_a_name_mismatch_that_is_allowed_is_a_warning(strict: bool) -> None:  # noqa: FBT001
    """The lock records it, also if other warnings refuse."""
    rows = [candidate("a/x", skill_md("z"))]
    (skill,), refused = rules.judge(rows, Policy(strict=strict, allow=("name_mismatch",)))
    assert (refused, skill.name, codes(skill)) == ((), "z", ["name_mismatch"])
    assert rules.judge(rows)[0] == ()


def test_allowing_a_name_mismatch_allows_nothing_else() -> None:
    """Another problem of the same skill still refuses it."""
    rows = [candidate("x", "---\nname: z\n---\n")]
    assert rules.judge(rows, Policy(allow=("name_mismatch",)))[0] == ()
