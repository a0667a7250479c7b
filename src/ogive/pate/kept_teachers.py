"""A folder that keeps trained teachers: one file for each, and a description of the terms they were trained on.

Files appear whole or not at all, so that whatever is there after an interruption is a trained teacher. Terms cover the
learner, the rows, their labels, the partition and the seed, as a digest; teachers of other terms are never mixed.
"""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ogive.arrays import Int64
from ogive.errors import DataError, ParameterError, plain
from ogive.files import OWNER_ONLY, write_atomically
from ogive.pate.partitioning import Partition
from ogive.statistics.plain_json import is_text, is_whole

SCHEMA = "ogive.teachers/1"
DESCRIPTION = "teachers.json"


@dataclass(frozen=True)
class Terms:
    """What teachers were trained on.

    Fields:
        teachers: Number of teachers.
        classes: How many they vote for.
        learner: Its name, for people.
        digest: Of the learner with its parameters, the rows, their labels, the partition, the classes and the seed.
            As private as the rows: whoever can guess them can check the guess.
    """

    teachers: int
    classes: int
    learner: str
    digest: str


def terms_of(learner: Any, features: Any, labels: Int64, partition: Partition, *, classes: int, seed: int) -> Terms:
    """The terms of a training.

    Raises:
        ParameterError: the learner cannot be stored, for it was made in place.
    """
    import joblib

    name = getattr(learner, "__qualname__", type(learner).__qualname__)
    terms = [SCHEMA, learner, features, labels, partition.parts, partition.teachers, classes, seed]
    try:
        digest = joblib.hash(terms, hash_name="sha1")
    except Exception as problem:
        raise ParameterError(
            f"a folder can keep only what can be pickled, and {name} cannot be: use named functions of a module"
        ) from problem
    return Terms(partition.teachers, classes, str(name), str(digest))


def open_folder(folder: Path, terms: Terms) -> tuple[Path, frozenset[int]]:
    """Make the folder or take it up again.

    Returns:
        The folder, and the teachers that it keeps already.

    Raises:
        ParameterError: it cannot be made or written.
        DataError: it keeps teachers of other terms, or its description is damaged or missing.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        present = [path.name for path in folder.iterdir()]
    except OSError as problem:
        reason = (problem.strerror or "unknown reason").lower()
        raise ParameterError(f"cannot keep teachers in {plain(folder)}: {reason}") from None
    if DESCRIPTION not in present:
        if any(name.startswith("teacher-") for name in present):
            raise DataError(f"{plain(folder)} keeps teachers, without a record of the settings; use another folder")
        content = json.dumps({"schema": SCHEMA, **asdict(terms)}, indent=1) + "\n"
        write_atomically(folder / DESCRIPTION, content.encode(), mode=OWNER_ONLY)
        return folder, frozenset()
    kept = kept_terms(folder)
    if kept != terms:
        raise DataError(
            f"{plain(folder)} keeps {kept.teachers} teachers ({kept.learner}) trained with other settings; use "
            "another folder, or the same learner, rows, labels, partition and seed"
        )
    wanted = {model_path(folder, teacher).name: teacher for teacher in range(terms.teachers)}
    return folder, frozenset(wanted[name] for name in present if name in wanted)


def kept_terms(folder: Path) -> Terms:
    """The terms of the teachers that a folder keeps.

    Raises:
        DataError: it keeps none, or the description is damaged.
    """
    path = folder / DESCRIPTION
    try:
        content = json.loads(path.read_text())
        if content.pop("schema") != SCHEMA:
            raise ValueError
        terms = Terms(**content)
        whole = all(is_whole(value) and value >= 2 for value in (terms.teachers, terms.classes))
        if not whole or not all(map(is_text, (terms.learner, terms.digest))):
            raise ValueError
    except FileNotFoundError:
        raise DataError(f"{plain(folder)} keeps no teachers: it has no {DESCRIPTION}") from None
    except OSError as problem:
        raise DataError(f"{plain(path)} cannot be read: {(problem.strerror or 'unknown reason').lower()}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(f"{plain(path)} is damaged, or of another version of ogive") from None
    return terms


def model_path(folder: Path, teacher: int) -> Path:
    """The file of one teacher."""
    return folder / f"teacher-{teacher:05}.pickle"


def keep(model: Any, path: Path) -> None:
    """Write a model.

    Raises:
        ParameterError: it cannot be pickled, or the file cannot be written.
    """
    import cloudpickle  # a learner may be of a script, which worker processes know by value only

    try:
        content = cloudpickle.dumps(model)
    except Exception as problem:
        raise ParameterError(
            f"a folder can keep only what can be pickled, and {type(model).__qualname__} cannot be: use named functions"
        ) from problem
    write_atomically(path, content, mode=OWNER_ONLY)


def read_model(path: Path) -> Any:
    """Read a model; runs what the file says, so only files that `keep` wrote here are for this.

    Raises:
        DataError: the file is missing or damaged.
    """
    try:
        return pickle.loads(path.read_bytes())
    except OSError as problem:
        raise DataError(f"{plain(path)} cannot be read: {(problem.strerror or 'unknown reason').lower()}") from None
    except Exception:
        raise DataError(f"{plain(path)} is damaged; remove it, and train again") from None
