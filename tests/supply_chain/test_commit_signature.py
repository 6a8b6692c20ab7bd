"""A commit is parted from its signature as git does it, byte for byte."""

from __future__ import annotations

import pytest

from skills_bundle.supply_chain.signature import split_commit

HEAD = b"tree " + b"1" * 40 + b"\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1700000000 +0100\n"
SSH = b"-----BEGIN SSH SIGNATURE-----\n \n U1NIU0lH\n -----END SSH SIGNATURE-----\n"
ARMOUR = b"-----BEGIN SSH SIGNATURE-----\n\nU1NIU0lH\n-----END SSH SIGNATURE-----\n"
MESSAGE = b"\nA change\n\ngpgsig is no header here\n"
MERGED = b"mergetag object " + b"2" * 40 + b"\n type commit\n gpgsig x\n"


def test_the_payload_is_the_commit_without_its_signature() -> None:
    """What git signed; the message stays as it is."""
    found = split_commit(HEAD + b"gpgsig " + SSH + MESSAGE)
    assert (found.payload, found.signature) == (HEAD + MESSAGE, ARMOUR)


def test_headers_around_the_signature_stay() -> None:
    """An encoding after it, a merged tag before it, whose own lines may look like anything."""
    extra = b"encoding ISO-8859-1\n"
    found = split_commit(HEAD + MERGED + b"gpgsig " + SSH + extra + MESSAGE)
    assert (found.payload, found.signature) == (HEAD + MERGED + extra + MESSAGE, ARMOUR)


def test_a_signature_by_another_hash_belongs_to_neither() -> None:
    """Git leaves `gpgsig-sha256` out of what `gpgsig` signs."""
    other = b"gpgsig-sha256 -----BEGIN PGP SIGNATURE-----\n \n iQ==\n"
    found = split_commit(HEAD + other + b"gpgsig " + SSH + MESSAGE)
    assert (found.payload, found.signature) == (HEAD + MESSAGE, ARMOUR)


def test_a_signature_by_another_hash_alone_is_none() -> None:
    """Git calls such a commit unsigned in a SHA-1 repository."""
    found = split_commit(HEAD + b"gpgsig-sha256 " + SSH + MESSAGE)
    assert (found.signature, found.kind) == (None, None)


def test_an_unsigned_commit_is_its_own_payload() -> None:
    """Nothing is lost or added, with a message or without."""
    assert [split_commit(raw).payload for raw in (HEAD + MESSAGE, HEAD)] == [HEAD + MESSAGE, HEAD]


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        (b"-----BEGIN SSH SIGNATURE-----", "ssh"),
        (b"-----BEGIN PGP SIGNATURE-----", "openpgp"),
        (b"-----BEGIN PGP MESSAGE-----", "openpgp"),
        (b"-----BEGIN SIGNED MESSAGE-----", "x509"),
        (b"untrusted comment: signify", "other"),
    ],
)
def test_the_first_line_says_who_can_check_it(first: bytes, kind: str) -> None:
    """As git tells them apart."""
    assert split_commit(HEAD + b"gpgsig " + first + b"\n x\n" + MESSAGE).kind == kind


def test_the_committers_time_is_given() -> None:
    """A key must have been valid then, not when the author wrote it."""
    assert split_commit(HEAD + MESSAGE).committed == 1_700_000_000


@pytest.mark.parametrize("date", [b"", b" x +0000", b" " + b"9" * 30 + b" +0000", b" -1 +0000"])
def test_a_commit_without_a_time_has_none(date: bytes) -> None:
    """No time is made up for it, and none is looked for in the message."""
    head = HEAD.replace(b" 1700000000 +0100", date)
    late = b"\ncommitter A <a@x> 1 +0000\n"
    assert split_commit(head + late).committed is None
