"""Reports of a collection: the store of a service, who may report, and sending from a device.

The store holds one report of each participant, as it was sent, so it is read by `ogive local aggregate` as a file of
them is.
"""

from __future__ import annotations

import hmac
import re
from concurrent.futures import Future
from pathlib import Path

import numpy as np

from ogive.crypto.domains import HashDomain, digest, number
from ogive.errors import ParameterError, PeerError, RefusalError, plain
from ogive.local.base import HEADER_BYTES, TAG_BYTES, VERSION, read_numbers
from ogive.local.description import Description
from ogive.study.enrolment import (
    SERVICE,
    TOKENS,
    check_host,
    issue,
    make_authority,
    make_token,
    new_folder,
    write_private,
)
from ogive.study.https import Sender
from ogive.study.submissions import DIGEST_BYTES, Listed, NotEnrolledError, Submissions, read_digests


class LocalReports(Submissions):
    """A store of reports to one description."""

    def __init__(self, description: Description, folder: Path, people: int) -> None:
        self._description = description
        self._people = people
        self._front = bytes([VERSION]) + description.tag
        self._scratch = np.zeros(description.oracle.shape, dtype=np.int64)
        super().__init__(folder, people)
        # compiled before anybody waits for it
        description.oracle.add(
            self._scratch, np.zeros(1, np.int64), np.zeros((1, description.oracle.payload_bytes), np.uint8)
        )

    def _owner(self, record: bytes) -> tuple[int, bytes]:
        try:
            return self._number(record), record
        except PeerError:
            raise RefusalError(
                "the store holds reports to another description, or of people who are not in the list of who may "
                "report; name its own store"
            ) from None

    def take(self, person: int, report: bytes) -> Future[None]:
        if self._number(report) != person:
            raise PeerError("the report has the number of another participant than the token")
        payloads = np.frombuffer(report, np.uint8, offset=HEADER_BYTES)[np.newaxis]
        if not self._description.oracle.add(self._scratch, np.array([person]), payloads)[0]:
            raise PeerError("no device sends such a report to this participant's question")
        return self._keep(person, report, report)

    def _number(self, report: bytes) -> int:
        if len(report) != self._description.report_bytes:
            raise PeerError(f"a report of this collection has {self._description.report_bytes} bytes")
        if report[: 1 + TAG_BYTES] != self._front:
            raise PeerError("the report is to another description; read the one that this service gives")
        number = int(read_numbers(np.frombuffer(report, np.uint8)[np.newaxis])[0])
        if number >= self._people:
            raise PeerError(f"participants have the numbers 0 to {self._people - 1}")
        return number


# --- Who may report
#
# Each participant has a token, and the service knows a digest of it. A token is written NUMBER-SECRET, with the
# participant's number, which is public, and 64 random hexadecimal digits. It is shown to the service of its collection
# and to nobody else. The service keeps digests in the order of the numbers:
#
#     list = "OGENROL2" | digest of the description 32 | digests, 16 bytes each

LIST = "enrolled"
MOST = 1 << 24
"""Participants of one service."""

_MAGIC = b"OGENROL2"


class Participants(Listed):
    """The participants who may report, by digests of their tokens in the order of their numbers."""

    def person(self, token: str) -> int:
        written, _, secret = token.partition("-")
        if not (written.isascii() and written.isdecimal() and len(written) <= len(str(MOST))):
            raise NotEnrolledError
        result = int(written)
        if not hmac.compare_digest(self.digest(result), _digest(result, secret)):
            raise NotEnrolledError
        return result

    @staticmethod
    def read(path: Path, description: Description) -> Participants:
        front, which = _MAGIC + description.digest, "list of who may report"
        result = Participants(read_digests(path, front, MOST, what=which, maker="local", other="collection"))
        if len(result) > description.participants:
            raise ParameterError(f"{plain(path)} is the list of another collection")
        return result


def equip(folder: Path, description: Description, *, count: int, hosts: tuple[str, ...]) -> None:
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
    return digest(HashDomain.LOCAL_ENROLLED, number(person), secret.encode(), length=DIGEST_BYTES)


# --- Sending reports that were made on a device

_MOST = 1 << 30
_TOKEN = re.compile(r"[0-9]+-[0-9a-f]{64}", re.ASCII)


def send(
    description: Description, reports: Path, *, tokens: Path, connect: str, authority: Path | None = None
) -> tuple[int, int]:
    """Send the reports in a file, each with its participant's token; how many are new, and how many were stored."""
    data, size = _read(reports), description.report_bytes
    if len(data) > _MOST:
        raise ParameterError(f"{plain(reports)} has more than {_MOST} bytes; send parts of it")
    if not data or len(data) % size:
        raise ParameterError(f"{plain(reports)} holds no reports to this description, of {size} bytes each")
    numbers = read_numbers(np.frombuffer(data, np.uint8).reshape(-1, size)).tolist()
    shown = {each.partition("-")[0]: each for each in _read(tokens).decode("ascii", errors="replace").split()}
    for each in numbers:
        if not _TOKEN.fullmatch(shown.get(str(each), "")):
            raise ParameterError(f"{plain(tokens)} has no token of participant {each}; it begins with {each}-")
    with Sender(description.digest, connect, authority=authority) as sender:
        new = sum(
            sender.send(data[place * size : (place + 1) * size], shown[str(each)]) for place, each in enumerate(numbers)
        )
    return new, len(numbers) - new


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST + 1)
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None
