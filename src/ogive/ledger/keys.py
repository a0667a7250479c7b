"""The ledger's key file: what makes its fingerprints meaningless and seals the noise of unfinished releases."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ogive.errors import LedgerError, ParameterError, plain
from ogive.files import write_atomically

KEY_BYTES = 32
KEY_VARIABLE = "OGIVE_LEDGER_KEY"
_NONCE_BYTES = 12


class Keys:
    """What one key file is used for in one ledger; the uses share no key, and neither do ledgers with an identity.

    Args:
        master: Content of the key file, 32 bytes.
        ledger: Identity of the ledger; None for one that was made before ledgers had any.
    """

    def __init__(self, master: bytes, ledger: str | None = None) -> None:
        own = b"" if ledger is None else b"\n" + ledger.encode()
        self._fingerprints = _derive(master, b"fingerprints" + own)
        self._seal = AESGCM(_derive(master, b"seal" + own))
        self.people = _derive(master, b"people" + own)
        """Hashes persons, so that the ledger knows them again."""
        self.check = _derive(master, b"check" + own).hex()
        """Tells whether a ledger was made with this key; reveals nothing about it."""
        self.totals = None if ledger is None else _derive(master, b"totals" + own)
        """Authenticates the totals of a ledger; None for one that libraries change which do not count its changes."""
        self.mark = _derive(master, b"mark")
        """Authenticates the mark file, which all ledgers of the key file share."""

    def fingerprint(self, digest: bytes) -> str:
        """A keyed hash of a digest, as text; it tells nothing without the key file."""
        return hmac.new(self._fingerprints, digest, hashlib.sha256).hexdigest()

    def seal(self, secret: bytes, release_id: str) -> bytes:
        """Encrypt the secret of a release, or of a row of another name."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._seal.encrypt(nonce, secret, release_id.encode())

    def unseal(self, sealed: bytes, release_id: str) -> bytes:
        """Decrypt the secret of a release.

        Raises:
            LedgerError: it was sealed for another release, with another key, or is damaged.
        """
        try:
            return self._seal.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], release_id.encode())
        except (InvalidTag, ValueError):
            raise LedgerError(f"the ledger's entry {release_id} is damaged: its sealed secret cannot be read") from None


def _derive(master: bytes, use: bytes) -> bytes:
    return HKDF(hashes.SHA256(), KEY_BYTES, salt=None, info=b"ogive ledger 1\n" + use).derive(master)


def context_mark(secret: bytes, number: int, context: bytes) -> str:
    """A keyed hash of a measurement's context; it tells nothing without the secret of the release."""
    text = b"ogive bound context 1\n" + number.to_bytes(8, "big") + context
    return hmac.new(secret, text, hashlib.sha256).hexdigest()


def key_path(default: Path) -> Path:
    """Where the key file is: what the environment says, or the default.

    Raises:
        ParameterError: the environment names a file in a folder that is not there, as by a slip of the pen.
    """
    named = os.environ.get(KEY_VARIABLE)
    if not named:
        return default
    path = Path(named).expanduser()
    if not path.parent.is_dir():
        raise ParameterError(
            f"{KEY_VARIABLE} names {plain(path)}, whose folder does not exist; correct the path, or make the folder"
        )
    return path


def config_folder() -> Path:
    """The user's folder for ledger keys that have no file to lie beside."""
    base = os.environ.get("XDG_CONFIG_HOME")
    try:
        return (Path(base) if base else Path.home() / ".config") / "ogive"
    except RuntimeError:  # no HOME, and the system knows none of this user
        raise LedgerError(
            f"this user has no home folder for the ledger's key; name a key file in {KEY_VARIABLE}"
        ) from None


def draft_of(path: Path) -> Path:
    """Where a key file is until its ledger is complete.

    So a key file without a ledger always means that the ledger was lost, and never that its making was cut off.
    """
    return path.with_name(f"{path.name}.new")


def make_key(path: Path, ledger: str | None = None) -> Keys:
    """Make the key of a new ledger as a draft, or read the draft of a maker who was cut off or is faster.

    Where there is a key file, of other ledgers, the new ledger's keys are derived from it.

    Args:
        path: Of the key file.
        ledger: The new ledger's identity.

    Raises:
        LedgerError: it can be neither read nor made.
    """
    if path.exists():
        return read_key(path, ledger)
    draft = draft_of(path)
    if not draft.exists():
        try:
            draft.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(draft, secrets.token_bytes(KEY_BYTES), mode=0o600, replace=False)
            sync_folder(draft.parent)
        except ParameterError as problem:
            # a faster maker's draft may have become the key file this moment
            if not draft.exists() and not path.exists():
                raise LedgerError(f"cannot make the ledger's key file: {problem}") from None
        except OSError as problem:
            raise LedgerError(f"cannot make the ledger's key file {plain(path)}: {problem.strerror}") from None
    try:
        return read_key(draft, ledger)
    except LedgerError:
        if path.exists():  # another process has completed the ledger this moment
            return read_key(path, ledger)
        raise


def settle_key(path: Path, check: str, ledger: str | None = None) -> None:
    """Make the draft that belongs to a complete ledger its key file; where there is one the draft is not needed.

    Args:
        path: Of the key file.
        check: `Keys.check` of the ledger's key.
        ledger: The ledger's identity.
    """
    draft = draft_of(path)
    try:
        if path.exists():
            draft.unlink(missing_ok=True)  # of a maker who came second
        elif draft.exists() and read_key(draft, ledger).check == check:
            draft.replace(path)
            sync_folder(path.parent)
    except OSError as problem:
        if not path.exists():
            raise LedgerError(f"cannot make the ledger's key file {plain(path)}: {problem.strerror}") from None
    except LedgerError:
        return  # another process was faster, or the draft is another's: who reads the key file will tell


def read_key(path: Path, ledger: str | None = None) -> Keys:
    """Read a key file.

    Args:
        path: Of it.
        ledger: Identity of the ledger that it is used for.

    Raises:
        LedgerError: it is missing, unreadable or no key file.
    """
    try:
        with path.open("rb") as file:
            master = file.read(KEY_BYTES + 1)
    except FileNotFoundError:
        raise LedgerError(
            f"the ledger's key file {plain(path)} is missing; copy it from where the ledger was made, "
            f"or name it in {KEY_VARIABLE}"
        ) from None
    except OSError as problem:
        raise LedgerError(f"cannot read the ledger's key file {plain(path)}: {problem.strerror}") from None
    if len(master) != KEY_BYTES:
        raise LedgerError(f"{plain(path)} is not a ledger's key file: it must hold {KEY_BYTES} bytes")
    return Keys(master, ledger)


def sync_folder(folder: Path) -> None:
    """Make new and renamed files of a folder outlive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
