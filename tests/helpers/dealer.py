"""Transfers without secrecy: both sides derive keys from a secret that they share, and sessions may be reused."""

import hashlib

from ogive.crypto.wire import Reader


class InsecureDealer:
    """Stands in for `BaseTransfers` where nothing needs to be hidden."""

    def __init__(self, secret):
        self._secret = secret

    def sender(self, session, count):
        return Dealt([(self._key(session, index, 0), self._key(session, index, 1)) for index in range(count)])

    def receiver(self, session, choices):
        return Dealt([self._key(session, index, int(choice)) for index, choice in enumerate(choices)])

    def _key(self, session, index, choice):
        fields = (self._secret, session, index, choice)
        return hashlib.sha256(repr(fields).encode()).digest()[:16]


class Dealt:
    """Either side."""

    message = b""

    def __init__(self, keys):
        self._keys = keys

    def keys(self, message):
        Reader(message, "message of the dealer").finish()
        return self._keys
