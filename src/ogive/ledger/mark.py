"""The key file, and the high-water mark beside it: what a ledger is known to hold, so that an older copy is noticed.

A ledger that is put back from a backup has its budget back. The mark is a list, beside the key file, of every change
of every account: its new revision and, of a spend, the charge. A line is written after the change is committed in the
ledger and before any noise is drawn for it. So

- whoever is killed between the two leaves a ledger that is ahead of its mark, which is always accepted;
- a ledger that lacks what the mark has was put back, since the mark has nothing that was not committed;
- a spend that is lost without a line has met no noise.

The mark is a lower bound. Several machines may spend from one PostgreSQL ledger: whoever locks an account and finds
changes of others notes them, too.

Each line carries an HMAC, under a key from the ledger's key file, of all the text up to its end. A last line that is
not complete was cut off before it counted and is overwritten.

Who can put back the ledger and the mark together is not noticed.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ogive.core.files import locked, write_atomically
from ogive.errors import LedgerError, ParameterError, plain
from ogive.ledger.entries import KEY_BYTES, Keys

# --- The key file: it keys fingerprints and seals the noise of unfinished releases

KEY_VARIABLE = "OGIVE_LEDGER_KEY"


def key_path(default: Path) -> Path:
    """Where the key file is: what the environment says, or the default."""
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
    """Make the draft that belongs to a complete ledger its key file; where there is one the draft is not needed."""
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
    """Read a key file."""
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


# --- The high-water mark

MARK_VARIABLE = "OGIVE_LEDGER_MARK"
SCHEMA = "ogive.mark/1"
_DIGITS = 32  # of a line's HMAC
_BEGIN = b'{"'


def _charged(spend: dict[str, str]) -> tuple[str, str, str]:
    return spend["part"], spend["first_charge"], spend["charge"]


@dataclass
class Noted:
    """What is known of one account.

    Fields:
        revision: The highest that was noted; everything up to it was.
        settings: Unit, limit and fingerprints as the ledger keeps them, texts.
        spends: By release id, the fields of a spend that composition and messages need, texts.
        counted: By part, first charge and charge, how many spends have them.
        log: Release ids of the spends, in the order in which they and their raised charges were noted.
        newest: Release ids of the spends that changed last, all those of one revision.
    """

    revision: int = 0
    settings: dict[str, str | None] = field(default_factory=dict)
    settled: int = 0
    spends: dict[str, dict[str, str]] = field(default_factory=dict)
    charges: dict[str, str] = field(default_factory=dict)
    counted: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    log: list[str] = field(default_factory=list)
    newest: tuple[str, ...] = ()
    changed: int = 0
    _charged: dict[str, int] = field(default_factory=dict)

    def add(self, revision: int, settings: dict[str, str | None], spends: dict[str, dict[str, str]]) -> None:
        """Add a line of the mark; lines of concurrent processes may come in any order."""
        self.revision = max(self.revision, revision)
        if settings and revision >= self.settled:
            self.settings, self.settled = settings, revision
        changed = list(spends)
        if self.spends.keys().isdisjoint(spends):  # nearly always, and most of what opening a ledger takes
            self.spends.update(spends)
            self._charged.update(dict.fromkeys(spends, revision))
            self.charges.update({release_id: spend["charge"] for release_id, spend in spends.items()})
            self.counted.update(map(_charged, spends.values()))
        else:
            changed = [each for each in spends if revision >= self._charged.get(each, 0)]
            for release_id in changed:
                before, spend = self.spends.get(release_id), spends[release_id]
                if before is not None:
                    self.counted[_charged(before)] -= 1
                self.spends[release_id], self._charged[release_id] = spend, revision
                self.charges[release_id] = spend["charge"]
                self.counted[_charged(spend)] += 1
        self.log += changed
        if changed and revision > self.changed:
            self.newest, self.changed = tuple(changed), revision
        elif changed and revision == self.changed:
            self.newest = (*self.newest, *(each for each in changed if each not in self.newest))


@dataclass(frozen=True)
class Line:
    """One change of an account, and all before it that the mark lacked.

    Fields:
        settings: As in `Noted`, where they changed.
        spends: As in `Noted`, those that changed.
    """

    account: str
    revision: int
    settings: dict[str, str | None] = field(default_factory=dict)
    spends: dict[str, dict[str, str]] = field(default_factory=dict)


class Mark:
    """The mark file of one key file, as far as one ledger is concerned."""

    def __init__(self, path: Path, key: bytes) -> None:
        self.path = path
        self._key = key
        self._lock = threading.Lock()
        self._clear()

    def _clear(self) -> None:
        self._inode, self._offset = 0, 0
        self._running = hmac.new(self._key, digestmod=hashlib.sha256)
        self._ledgers: dict[str, dict[str, Noted]] = {}
        self._places: dict[str, str] = {}
        self._unnamed: set[str] = set()

    # --- what is noted

    def accounts(self, ledger: str) -> dict[str, Noted]:
        """What is known of a ledger's accounts, by name; as of the last `refresh`."""
        return self._ledgers.get(ledger, {})

    def place(self, ledger: str) -> str | None:
        """Where a ledger was last."""
        return self._places.get(ledger)

    @property
    def places(self) -> set[str]:
        """Where ledgers of this key were last."""
        return set(self._places.values())

    @property
    def unnamed(self) -> list[str]:
        """Ledgers that had no identity before they had a mark, and whose accounts are noted."""
        return [each for each in sorted(self._unnamed) if self.accounts(each)]

    def refresh(self) -> None:
        """Read what other processes noted since."""
        with self._lock:
            self._read()

    def _read(self) -> None:
        try:
            with self.path.open("rb") as file:
                result = os.fstat(file.fileno())
                if result.st_ino != self._inode or result.st_size < self._offset:
                    self._clear()
                    self._inode = result.st_ino
                if result.st_size == self._offset:
                    return
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            self._clear()
            return
        except OSError as problem:
            raise LedgerError(f"cannot read the ledger's mark {plain(self.path)}: {problem.strerror}") from None
        complete = content[: content.rfind(b"\n") + 1]
        if not complete and not self._offset and not content.startswith(_BEGIN) and content.strip(b"\0"):
            raise LedgerError(f"{plain(self.path)} is not a ledger's mark; name another file in {MARK_VARIABLE}")
        if not complete:
            return
        lines = complete.split(b"\n")[:-1]
        try:
            for line in lines:
                self._running.update(line[: -_DIGITS - 1] + b"\n")
            sealed = self._running.hexdigest()[:_DIGITS].encode()
            if not hmac.compare_digest(sealed, lines[-1][-_DIGITS:]):
                raise ValueError("an HMAC differs")
            for line in lines:
                self._take(json.loads(line[: -_DIGITS - 1]))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._clear()
            raise LedgerError(
                f"the ledger's mark {plain(self.path)} is damaged, or of another key file; restore the right one, or "
                "move it away; without it an older copy of the ledger cannot be detected"
            ) from None
        self._offset += len(complete)

    def _take(self, line: dict[str, Any]) -> None:
        ledger = line["ledger"]
        if "place" in line:
            self._places[ledger] = line["place"]
            if line.get("unnamed"):
                self._unnamed.add(ledger)
            return
        accounts = self._ledgers.setdefault(ledger, {})
        accounts.setdefault(line["account"], Noted()).add(
            line["revision"], line.get("settings", {}), line.get("spends", {})
        )

    # --- noting

    def begin(self, ledger: str, place: str, *, unnamed: bool) -> None:
        """Note where a ledger is."""
        line: dict[str, Any] = {"ledger": ledger, "place": place}
        self._append([line | {"unnamed": True} if unnamed else line], durable=True)

    def note(self, ledger: str, lines: Iterable[Line], *, durable: bool = True) -> None:
        """Note changes that are committed."""
        results = []
        for line in lines:
            plain: dict[str, Any] = {"ledger": ledger, "account": line.account, "revision": line.revision}
            plain |= {"settings": line.settings} if line.settings else {}
            plain |= {"spends": line.spends} if line.spends else {}
            results.append(plain)
        if results:
            self._append(results, durable=durable)

    def _append(self, lines: list[dict[str, Any]], *, durable: bool) -> None:
        try:
            with self._lock:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                with locked(self.path):
                    self._read()
                    self._write(lines, durable=durable)
        except (OSError, ParameterError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else problem
            raise LedgerError(
                f"the ledger's mark {plain(self.path)} cannot be written: {reason}; name a place for it in "
                f"{MARK_VARIABLE}. What was paid stays paid: ask again"
            ) from None

    def _write(self, lines: list[dict[str, Any]], *, durable: bool) -> None:
        running, text = self._running.copy(), b""
        for line in lines:
            plain = json.dumps(line, sort_keys=True, separators=(",", ":")).encode()
            running.update(plain + b"\n")
            text += plain + b" " + running.hexdigest()[:_DIGITS].encode() + b"\n"
        new = not self.path.exists()
        handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            os.ftruncate(handle, self._offset)  # a line that was cut off
            os.lseek(handle, self._offset, os.SEEK_SET)
            written = 0
            while written < len(text):
                written += os.write(handle, text[written:])
            if durable:
                os.fsync(handle)
            self._inode = os.fstat(handle).st_ino
        finally:
            os.close(handle)
        if new:
            sync_folder(self.path.parent)
        self._offset += len(text)
        self._running = running
        for line in lines:
            self._take(line)


def set_aside(path: Path, key: bytes) -> None:
    """Rename the mark of an earlier key file, which tells nothing about the ledger that is about to be made."""
    try:
        Mark(path, key).refresh()
    except LedgerError:
        try:
            path.replace(path.with_name(f"{path.name}.old"))
        except OSError as problem:
            raise LedgerError(f"cannot rename {plain(path)}, of an earlier key file: {problem.strerror}") from None


def mark_path(key: Path) -> Path:
    """Where the mark of a key file is: what the environment says, or beside it."""
    named = os.environ.get(MARK_VARIABLE)
    if named:
        return Path(named).expanduser()
    key = key.resolve()  # a link's mark is that of the key file it points to
    return key.with_name(f"{key.name}.mark")
