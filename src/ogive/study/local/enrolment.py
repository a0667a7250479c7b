"""Who may report: each participant has a token, and the service knows a digest of it.

A token is written NUMBER-SECRET, with the participant's number, which is public, and 64 random hexadecimal digits. It
is shown to the service of its collection and to nobody else. The service keeps digests in the order of the numbers:

    list = "OGENROL2" | digest of the description 32 | digests, 16 bytes each
"""

from __future__ import annotations

import hmac
from pathlib import Path

from ogive.crypto.domains import HashDomain, digest, number
from ogive.errors import ParameterError, plain
from ogive.local.description import Description
from ogive.study.https.certificates import check_host, issue, make_authority
from ogive.study.https.enrolment import SERVICE, TOKENS
from ogive.study.https.tokens import make_token
from ogive.study.keys import new_folder, write_private
from ogive.study.submissions import NotEnrolledError

LIST = "enrolled"
MOST = 1 << 24
"""Participants of one service."""

_MAGIC = b"OGENROL2"
_FRONT = len(_MAGIC) + 32
_DIGEST_BYTES = 16


class Participants:
    """The participants who may report.

    Args:
        digests: Of their tokens, in the order of their numbers, 16 bytes each.
    """

    def __init__(self, digests: bytes) -> None:
        self._digests = digests

    def __len__(self) -> int:
        """How many there are."""
        return len(self._digests) // _DIGEST_BYTES

    def person(self, token: str) -> int:
        """The number of the participant who has a token.

        Raises:
            NotEnrolledError: nobody has it.
        """
        written, _, secret = token.partition("-")
        if not (written.isascii() and written.isdecimal() and len(written) <= len(str(MOST))):
            raise NotEnrolledError
        found, asked = int(written), _digest(int(written), secret)
        kept = self._digests[found * _DIGEST_BYTES : (found + 1) * _DIGEST_BYTES]
        if not hmac.compare_digest(kept, asked):
            raise NotEnrolledError
        return found

    @staticmethod
    def read(path: Path, description: Description) -> Participants:
        """Read the list that `equip` made.

        Raises:
            ParameterError: the file cannot be read, or is no list of this collection.
        """
        try:
            with path.open("rb") as file:
                data = file.read(_FRONT + MOST * _DIGEST_BYTES + 1)
        except OSError as problem:
            raise ParameterError(
                f"the list of who may report {plain(path)} cannot be read: {problem.strerror}; "
                "ogive local devices makes it"
            ) from None
        front, digests = data[:_FRONT], data[_FRONT:]
        if not front.startswith(_MAGIC) or len(front) < _FRONT or len(digests) % _DIGEST_BYTES:
            raise ParameterError(f"{plain(path)} is no list of who may report; ogive local devices makes one")
        found = Participants(digests)
        if front != _MAGIC + description.digest or len(found) > description.participants:
            raise ParameterError(f"{plain(path)} is the list of another collection")
        return found


def equip(folder: Path, description: Description, *, count: int, hosts: tuple[str, ...]) -> None:
    """Make what a service and its participants need before they meet, in a new folder.

    Args:
        folder: To be made, with the service's certificate, the certificate `ca.pem` of the authority that issued it,
            the file `tokens` with one token a line, and the list of who may report.
        description: Of the collection.
        count: How many may report; they have the numbers from 0 on.
        hosts: Names and addresses under which the service is reached.

    Raises:
        ParameterError: there are too many, a host is none, or the folder is there already or cannot be written.
    """
    if not 1 <= count <= min(description.participants, MOST):
        raise ParameterError(f"`count` must be 1 to {min(description.participants, MOST)}, got {count}")
    for host in hosts:
        check_host(host)
    secrets = [make_token() for _ in range(count)]
    digests = b"".join(_digest(person, secret) for person, secret in enumerate(secrets))
    tokens = "".join(f"{person}-{secret}\n" for person, secret in enumerate(secrets))
    with new_folder(folder):
        make_authority(folder, description.title or description.id)
        issue(folder, SERVICE, hosts=hosts)
        write_private(folder / LIST, _MAGIC + description.digest + digests)
        write_private(folder / TOKENS, tokens.encode())


def _digest(person: int, secret: str) -> bytes:
    return digest(HashDomain.LOCAL_ENROLLED, number(person), secret.encode(), length=_DIGEST_BYTES)
