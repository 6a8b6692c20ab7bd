"""Edge: the wheel with the bundle in its package's `.agents` folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from skills_bundle.archives import canonical
from skills_bundle.archives.canonical import is_script_of
from skills_bundle.archives.model import Member
from skills_bundle.bundle import sbom
from skills_bundle.bundle.lock import LOCK_FILE_NAME
from skills_bundle.bundle.receipt import RECEIPT_FILE_NAME
from skills_bundle.errors import Problem, SettingsError
from skills_bundle.hatch_plugin import archives, generated, names, sdist, selection
from skills_bundle.hatch_plugin.sdist import Made

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hatchling.builders.wheel import WheelBuilder

    from skills_bundle.bundle.receipt import BuildReceipt
    from skills_bundle.hatch_plugin.bundling import Bundling
    from skills_bundle.hatch_plugin.selection import Builder, Candidate
    from skills_bundle.project.settings import Settings

AGENTS: Final = ".agents"
"""The folder of a package in which agents' tools look for skills."""


def rewritten(
    bundling: Bundling, builder: Builder, build_data: dict[str, Any], archive: bytes
) -> Made:
    """Give the wheel in its one form.

    Args:
        bundling: What stood before the build.
        builder: hatchling's builder.
        build_data: What the hooks left in it.
        archive: The wheel that hatchling wrote.

    Raises:
        SettingsError: If the package that receives the bundle is not in the wheel, or has a bundle,
            or the project ships a file where the bill of materials goes.
    """
    members = archives.read_wheel(archive)
    dist_info = f"{cast('WheelBuilder', builder).artifact_project_id}.dist-info"
    _demand_package(members, bundling.settings)
    candidates = selection.of_build(builder, build_data)
    files = sdist.sources(bundling, builder.metadata)
    expected = _generated(bundling, dist_info)
    bundling.world.expect([*candidates, *expected], members)
    admitted: dict[str, Member] = {}
    for name, member in members.items():
        candidate = candidates.get(name)
        if candidate is None:
            admitted[name] = bundling.world.made(name, member, expected)
        elif kept := bundling.world.admit(candidate, member):
            admitted[name] = kept
    shipped = {name: candidates[name] for name in admitted if name in candidates}
    receipt, detail = bundling.receipt(
        files,
        _unlisted(bundling, shipped, admitted, files),
        members.get(f"{dist_info}/{generated.METADATA}", Member(b"")).data,
    )
    bill = _bill(bundling, receipt, dist_info)
    _demand_free(members, bill)
    whole = {**admitted, **_bundle(bundling, receipt), **bill}
    names.demand_plain(whole)
    names.demand_places(whole, dist_info)
    data = canonical.write_wheel(whole, dist_info, bundling.settings.compression)
    return Made(data, receipt, detail)


def _generated(bundling: Bundling, dist_info: str) -> dict[str, bytes | None]:
    """Give what hatchling makes of the project's metadata; None for RECORD, which is renewed."""
    made = generated.of_wheel(str(bundling.root))
    rows = {f"{dist_info}/{name}": data for name, data in made.items()}
    return {**rows, f"{dist_info}/{generated.RECORD}": None}


def _unlisted(
    bundling: Bundling,
    shipped: Mapping[str, Candidate],
    members: Mapping[str, Member],
    files: Mapping[str, Member],
) -> list[str]:
    """Give members of which the sdist's files do not hold these very bytes."""
    found: list[str] = []
    for name, candidate in shipped.items():
        original = files.get(bundling.world.relative(candidate.source) or "")
        data = members[name].data
        same = original is not None and (
            is_script_of(data, original.data) if candidate.rewritten else data == original.data
        )
        found += [] if same else [name]
    return found


def _demand_package(members: Mapping[str, Member], settings: Settings) -> None:
    """Insist on a package to put the bundle into, and that it has none."""
    folder = settings.package.replace(".", "/")
    place = f"{settings.where}.package"
    if f"{folder}/__init__.py" not in members:
        message = f"the wheel holds no {folder}/__init__.py; name the package that it holds"
        problem = Problem(code="no_package", message=message, path=place)
        raise SettingsError("The bundle has no package to go into.", (problem,))
    present = [name for name in members if name.startswith(f"{folder}/{AGENTS}/")]
    if present:
        message = f"already holds {present[0]}; the build makes this folder"
        problem = Problem(code="reserved_name", message=message, path=f"{folder}/{AGENTS}")
        raise SettingsError("The package has a bundle of its own.", (problem,))


def _bundle(bundling: Bundling, receipt: BuildReceipt) -> dict[str, Member]:
    """Give the members that make up the bundle."""
    top = f"{bundling.settings.package.replace('.', '/')}/{AGENTS}"
    skills = bundling.settings.skills
    prefix = "" if skills == "." else f"{skills}/"
    locked = bundling.lock.files()
    return {
        **{f"{top}/skills/{path}": bundling.staged[prefix + path] for path in locked},
        f"{top}/{LOCK_FILE_NAME}": bundling.staged[LOCK_FILE_NAME],
        f"{top}/{RECEIPT_FILE_NAME}": Member(receipt.to_bytes()),
    }


def _bill(bundling: Bundling, receipt: BuildReceipt, dist_info: str) -> dict[str, Member]:
    """Give the bill of materials, if one is wanted."""
    if not bundling.settings.sbom:
        return {}
    place = sbom.path(dist_info, receipt.package.name)
    return {place: Member(sbom.make(bundling.lock, receipt))}


def _demand_free(members: Mapping[str, Member], bill: Mapping[str, Member]) -> None:
    """Insist that no bill of the project's own, which hatchling can ship, is replaced by ours."""
    for name in bill:
        if name in members:
            message = "the build makes a file of this name; give yours another, or set sbom = false"
            problem = Problem(code="reserved_name", message=message, path=name)
            raise SettingsError("The wheel has that bill of materials already.", (problem,))
