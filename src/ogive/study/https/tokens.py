"""Tokens: the secret by which the service knows a party, kept as a digest."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from pathlib import Path

from ogive.errors import ParameterError, plain
from ogive.study.document import Study

TOKEN_BYTES = 32
_LARGEST = 1 << 20


def make_token() -> str:
    """A fresh token, of letters and digits."""
    return secrets.token_hex(TOKEN_BYTES)


def token_digest(token: str) -> str:
    """SHA-256 of a token, hexadecimal; a token is random and long, so that nothing slower is needed."""
    return hashlib.sha256(b"ogive study token\n" + token.encode()).hexdigest()


class Tokens:
    """The digests of all parties' tokens.

    Args:
        digests: Hexadecimal, by number of the party.
    """

    def __init__(self, digests: Mapping[int, str]) -> None:
        self._digests = dict(digests)

    def party(self, token: str) -> int | None:
        """The party with this token; None if there is none."""
        found = token_digest(token)
        matching = [number for number, kept in self._digests.items() if hmac.compare_digest(kept, found)]
        return matching[0] if matching else None

    def to_text(self, study: Study) -> str:
        """A line for each party: name and digest."""
        return "".join(f"{study.parties[number - 1].name} {each}\n" for number, each in sorted(self._digests.items()))

    @staticmethod
    def read(path: Path, study: Study) -> Tokens:
        """Read what `to_text` wrote.

        Raises:
            ParameterError: the file cannot be read, or lacks a party.
        """
        try:
            with path.open(encoding="utf-8") as file:
                lines = file.read(_LARGEST).split("\n")
        except OSError as problem:
            raise ParameterError(f"the list of tokens {plain(path)} cannot be read: {problem.strerror}") from None
        except UnicodeDecodeError:
            raise ParameterError(f"{plain(path)} is no list of tokens") from None
        found = dict(line.split(" ", 1) for line in lines if line.count(" ") == 1)
        lacking = [party.name for party in study.parties if len(found.get(party.name, "")) != 2 * TOKEN_BYTES]
        if lacking:
            raise ParameterError(f"{plain(path)} has no token of party {plain(lacking[0])}")
        return Tokens({number: found[party.name] for number, party in enumerate(study.parties, 1)})
