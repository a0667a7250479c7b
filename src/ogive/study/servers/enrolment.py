"""Who may upload: each person has a token, and each server knows a digest of what follows from it.

A token is random and is sent to nobody. What a person shows to a server, the credential, is the HMAC of the token over
study and server, so that no server, and nobody who relays an upload, can show it to another one. A server keeps the
digests of all credentials, sorted:

    list = "OGENROL1" | digest of the study 32 | number of the server u32 | digests, 16 bytes each
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path

from ogive.crypto.domains import HashDomain, digest, number
from ogive.errors import ParameterError, plain
from ogive.study.enrolment import new_folder, write_private
from ogive.study.servers.document import ServersStudy

TOKEN_BYTES = 32
CREDENTIAL_BYTES = 32

_MAGIC = b"OGENROL1"
_FRONT = len(_MAGIC) + 32 + 4
DIGEST_BYTES = 16
_MOST = 1 << 28
"""Bytes of a list, for some 16 million people."""


def make_tokens(count: int) -> list[str]:
    """Fresh tokens, of 64 hexadecimal digits."""
    return [secrets.token_hex(TOKEN_BYTES) for _ in range(count)]


def credential(token: str, *, study: bytes, server: int) -> bytes:
    """What the owner of a token shows to a server, 32 bytes."""
    try:
        key = bytes.fromhex(token)
    except ValueError:
        key = b""
    if len(key) != TOKEN_BYTES:
        raise ParameterError(f"a token has {2 * TOKEN_BYTES} hexadecimal digits, as ogive study devices makes them")
    shown = digest(HashDomain.UPLOAD_CREDENTIAL, study, number(server))
    return hmac.new(key, shown, hashlib.sha256).digest()


def enrolled(tokens: Iterable[str], study: ServersStudy, server: int) -> bytes:
    """The list of a server, for the owners of these tokens."""
    found = sorted({_digest(credential(token, study=study.digest, server=server)) for token in tokens})
    return _MAGIC + study.digest + number(server)[:4] + b"".join(found)


class Enrolled:
    """The list of one server, of digests of credentials in increasing order: it numbers those who are enrolled."""

    def __init__(self, digests: bytes) -> None:
        self._digests = digests

    def __len__(self) -> int:
        """How many are enrolled."""
        return len(self._digests) // DIGEST_BYTES

    def number(self, shown: bytes) -> int | None:
        """The number of whose credential this is, from 0; None if there is nobody.

        A search takes time that depends on the digest of what was shown, from which nobody finds another credential.
        """
        return self.place(_digest(shown))

    def place(self, wanted: bytes) -> int | None:
        """The number of whose credential has this digest; None if there is nobody."""
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self.digest(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low if self.digest(low) == wanted else None

    def digest(self, place: int) -> bytes:
        """The digest of the credential of the person of this number, 16 bytes; empty beyond the last."""
        return self._digests[place * DIGEST_BYTES : (place + 1) * DIGEST_BYTES]

    @staticmethod
    def read(paths: Sequence[Path], study: ServersStudy, server: int) -> Enrolled:
        """Read lists that `enrolled` made, of different people."""
        found = b"".join(_read(path, study, server) for path in paths)
        each = {found[start : start + DIGEST_BYTES] for start in range(0, len(found), DIGEST_BYTES)}
        return Enrolled(b"".join(sorted(each)))


def _read(path: Path, study: ServersStudy, server: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST + 1)
    except OSError as problem:
        raise ParameterError(f"the list of who may upload {plain(path)} cannot be read: {problem.strerror}") from None
    front, digests = data[:_FRONT], data[_FRONT:]
    if len(front) < _FRONT or not front.startswith(_MAGIC) or len(digests) % DIGEST_BYTES or len(data) > _MOST:
        raise ParameterError(f"{plain(path)} is no list of who may upload; ogive study devices makes one")
    if front != _MAGIC + study.digest + number(server)[:4]:
        raise ParameterError(f"{plain(path)} is the list of another server or another study")
    return digests


def list_name(server: str) -> str:
    """What the file of the list of a server is called."""
    return f"{server}.enrolled"


def enrol(folder: Path, study: ServersStudy, count: int) -> None:
    """Make tokens for so many people, and the list of each server, in a new folder."""
    tokens = make_tokens(count)
    with new_folder(folder):
        for number_of, server in enumerate(study.servers):
            write_private(folder / list_name(server.name), enrolled(tokens, study, number_of))
        write_private(folder / "tokens", "".join(f"{token}\n" for token in tokens).encode())


def read_tokens(path: Path) -> list[str]:
    """The tokens in a file, one a line."""
    try:
        with path.open(encoding="ascii") as file:
            tokens = file.read(_MOST).split()
    except OSError as problem:
        raise ParameterError(f"the file of tokens {plain(path)} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        tokens = []
    if not tokens or any(len(token) != 2 * TOKEN_BYTES for token in tokens):
        raise ParameterError(f"{plain(path)} holds no tokens; ogive study devices makes them")
    return tokens


def _digest(shown: bytes) -> bytes:
    return digest(HashDomain.UPLOAD_ENROLLED, shown, length=DIGEST_BYTES)
