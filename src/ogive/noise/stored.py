"""Noise of the nodes of a release, drawn at first use and kept."""

from __future__ import annotations

import json
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import numpy as np

from ogive.core.arrays import Int64
from ogive.errors import DataError, ParameterError, ReleaseMismatchError, quoted
from ogive.noise.base import Law, RandomSource
from ogive.noise.source import check_nodes, digest_context

_SCHEMA = """
CREATE TABLE release (format TEXT NOT NULL, context BLOB NOT NULL);
CREATE TABLE node (level INTEGER NOT NULL, node INTEGER NOT NULL, law TEXT NOT NULL, value INTEGER NOT NULL,
                   PRIMARY KEY (level, node)) WITHOUT ROWID;
"""
_FORMAT = "ogive nodes 1"


class StoredNodes:
    """Node noise drawn at first use and kept, in memory or in a file.

    With a file, values are committed to it before they are handed out, so that a release resumed after a
    crash gives the same ones, and several processes may share it. The file is as secret as the data.

    Args:
        source: Where new values come from.
        context: Describes the release: data snapshot, grid, strategy, adjacency.
        path: An SQLite file, made if it does not exist; None keeps the values in memory.

    Raises:
        ParameterError: the context is not bytes.
        ReleaseMismatchError: the file belongs to another context.
        DataError: the file is not one of these.
    """

    def __init__(self, source: RandomSource, context: bytes, path: str | Path | None = None) -> None:
        if not isinstance(context, bytes):
            raise ParameterError(f"`context` must be bytes, got {type(context).__name__}")
        self._source = source
        self._lock = threading.RLock()
        name = ":memory:" if path is None else str(path)
        self._name = name
        self._database = sqlite3.connect(name, isolation_level=None, check_same_thread=False, timeout=60.0)
        try:
            self._open(digest_context(context), name)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            self._database.close()
            raise DataError(f"{name} is not a file of node noise: {quoted(str(error))}") from None
        except (ReleaseMismatchError, DataError):
            self._database.close()
            raise

    def _open(self, digest: bytes, name: str) -> None:
        self._database.execute("PRAGMA synchronous = FULL")
        with _Transaction(self._database):
            tables = {row[0] for row in self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    self._database.execute(statement)
                self._database.execute("INSERT INTO release VALUES (?, ?)", (_FORMAT, digest))
            elif tables != {"release", "node"}:
                raise DataError(f"{name} is a database of something else, not a file of node noise")
            if self._database.execute("SELECT format, context FROM release").fetchall() != [(_FORMAT, digest)]:
                raise ReleaseMismatchError(
                    f"the noise in {name} belongs to a release of other data, grid, strategy or adjacency"
                )

    def values(self, law: Law, level: int, nodes: Int64) -> Int64:
        """Noise of the given 0-based nodes of a level, same shape as `nodes`.

        Raises:
            ParameterError: level or a node is negative, or not an integer.
            ReleaseMismatchError: a node was drawn from another law before; nothing is drawn then.
            DataError: the file is damaged, or cannot be written.
        """
        flat = check_nodes(level, nodes)
        wanted, place = np.unique(flat, return_inverse=True)
        label = json.dumps(law.to_dict(), sort_keys=True)
        try:
            with self._lock, _Transaction(self._database):
                kept = self._read(int(level), wanted, label)
                missing = [node for node in wanted.tolist() if node not in kept]
                fresh = law.sample(len(missing), source=self._source).tolist()
                rows = [(int(level), node, label, value) for node, value in zip(missing, fresh, strict=True)]
                self._database.executemany("INSERT INTO node VALUES (?, ?, ?, ?)", rows)
                kept.update(zip(missing, fresh, strict=True))
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise DataError(
                f"the noise in {self._name} is damaged or cannot be written: {quoted(str(error))}"
            ) from None
        drawn = np.array([kept[node] for node in wanted.tolist()], np.int64)
        return drawn[place].reshape(np.shape(nodes))

    def _read(self, level: int, wanted: Int64, label: str) -> dict[int, int]:
        """Stored values of a sorted list of nodes, which must all have the law `label`."""
        kept = {}
        query = "SELECT node, law, value FROM node WHERE level = ? AND node IN ({})"
        for start in range(0, wanted.size, 500):
            part = wanted[start : start + 500].tolist()
            with closing(self._database.execute(query.format(",".join("?" * len(part))), (level, *part))) as rows:
                for node, law, value in rows:
                    if law != label:
                        raise ReleaseMismatchError(
                            f"node {node} of level {level} was drawn from {quoted(law)}, now {label} was asked for"
                        )
                    if not isinstance(value, int):
                        raise DataError(f"the noise of node {node} of level {level} is damaged: it is no whole number")
                    kept[node] = value
        return kept

    def close(self) -> None:
        """Close the file; values in memory are gone."""
        self._database.close()


class _Transaction:
    """A write transaction: others wait at its start, and an error undoes it."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._database.execute("COMMIT" if kind is None else "ROLLBACK")
