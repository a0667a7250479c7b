"""Teachers: one model for each part of private data, trained in parallel, stored in a folder, and their votes.

Models are as private as the records they learned from: only what an aggregator answers may leave. Where a folder keeps
them, training that was interrupted goes on where it was; the folder's files are readable by their owner alone.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Iterator, Sized
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ogive.core.arrays import Int16, Int64, UInt64
from ogive.core.checks import Progress, any_whole
from ogive.core.compiling import njit
from ogive.core.files import OWNER_ONLY, remove_leftovers, write_atomically
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.pate.learners import (
    check_jobs,
    check_labels,
    check_learning,
    check_seed,
    fitted,
    number_of_rows,
    predicted,
    rows_of,
)
from ogive.records.missing_words import USUAL
from ogive.records.persons import PersonCodes, are_named, check_person_type, siphash
from ogive.records.sources import memory_source
from ogive.statistics.plain_json import is_text, is_whole

# --- Private rows dealt to teachers, so that one person reaches one teacher only
#
# Adjacent data sets differ in one person. For one vote to move per query, that person's rows must lie with one teacher,
# and nobody else's may move when they change. So the teacher of a row depends on public facts alone:
#
# * where every row is a person, on the row's place: a permutation of the places, drawn from the seed, is dealt round.
#   Parts differ by one row at most. A replaced row stays where it was; how many rows there are is public.
# * where rows belong to persons, on the person's name: a keyed hash of it, the key made from the seed. Adding or
#   removing a person moves nobody else; so parts are equal on average only. Persons dealt in the order of their hashes
#   would come out even, and one person less would move many others to another teacher.
#
# To replace a person by one of another name is to remove one and to add one: two teachers, unless names are public and
# stay, as those of all customers or patients of a list do. `docs/teachers.md` says which you have.

MOST_TEACHERS = 1 << 16


@dataclass(frozen=True, eq=False)
class Partition:
    """Assignment of rows to teachers.

    Fields:
        teachers: Number of teachers.
        parts: The 0-based teacher of each row, shape (rows,).
    """

    teachers: int
    parts: Int64

    @property
    def sizes(self) -> Int64:
        """Number of rows of each teacher, shape (teachers,); private if the rows belong to persons."""
        return np.bincount(self.parts, minlength=self.teachers)

    def rows(self, teacher: int) -> Int64:
        """Indices of one teacher's rows, ascending."""
        return np.flatnonzero(self.parts == teacher)


def partition(records: Any, teachers: int, *, person: Any = None, seed: int) -> Partition:
    """Assign rows to teachers.

    Args:
        records: The table (an array, a data frame or a dict of columns), or its number of rows.
        teachers: Number of teachers, from 2 to 65,536.
        person: Identifier of the person of each row: the name of a column of `records`, or numbers or texts, one for
            each row. None if every row is a person.
        seed: A whole number from 0, which may be public; it determines the partition.

    Raises:
        ParameterError: the number of teachers is out of range, the seed is invalid, or there is no such column.
        DataError: there are more teachers than rows, or the person of a row is unknown.

    Privacy:
        Replacing one row, or all rows of one person under the same identifier, or adding or removing a person, changes
        the rows of one teacher. Votes are priced for this change, "replace one teacher".

    Example:
        >>> sorted(partition(10, 3, seed=1).sizes.tolist())
        [3, 3, 4]
    """
    drawn = check_seed(seed)
    any_whole(teachers, "teachers", 2, MOST_TEACHERS)
    if person is None:
        rows = _rows(records)
        if rows < teachers:
            raise DataError(f"{rows} rows are too few for {teachers} teachers; each needs at least one")
        places = np.random.default_rng(drawn).permutation(rows)
        parts = np.empty(rows, dtype=np.int64)
        parts[places] = np.arange(rows) % teachers
        return Partition(int(teachers), parts)
    column = person if isinstance(person, str) else "person"
    source = memory_source(records if isinstance(person, str) else {column: person}, column)
    if column not in source.columns:
        raise ParameterError(
            f"the records have no column {quoted(column)}; give a column's name, or the persons themselves"
        )
    if not isinstance(person, str) and source.rows() != _rows(records):
        raise DataError(f"there are {source.rows()} persons for {_rows(records)} rows; each row needs one")
    if source.is_empty():
        raise DataError("there are no rows to deal")
    check_person_type(column, source.type(column))
    codes = PersonCodes(column, source.type(column))
    for (names,) in source.batches((column,), identifiers={column}):
        if not are_named(names, USUAL).all():
            raise DataError(
                f"person column {quoted(column)} has missing values, or words for them such as NA; every row needs an "
                "identifier, so leave out the others before the rows are dealt"
            )
        codes.add(names)
    persons = codes.finish()
    if persons.number < teachers:
        raise DataError(f"{persons.number} persons are too few for {teachers} teachers")
    words = persons.words(np.ones(persons.number, dtype=np.bool_))
    return Partition(int(teachers), _hashed(words, _key(drawn), int(teachers))[persons.codes])


def _rows(records: Any) -> int:
    if isinstance(records, int | np.integer) and not isinstance(records, bool):
        return int(records)
    if isinstance(records, dict):
        return memory_source(records, "").rows()
    if not hasattr(records, "shape") and not isinstance(records, Sized):
        raise ParameterError(f"`records` must be a table or a number of rows, got {type(records).__name__}")
    return number_of_rows(records)


def _key(seed: int) -> tuple[int, int]:
    digest = hashlib.sha256(b"ogive teachers 1\n" + str(seed).encode()).digest()
    # 63 bits each, since compiled code takes whole numbers as signed
    return int.from_bytes(digest[:8], "little") >> 1, int.from_bytes(digest[8:16], "little") >> 1


@njit(nogil=True)
def _hashed(words: UInt64, key: tuple[int, int], teachers: int) -> Int64:
    result = np.empty(len(words), dtype=np.int64)
    for person in range(len(words)):
        result[person] = ((siphash(words[person], key) >> np.uint64(32)) * np.uint64(teachers)) >> np.uint64(32)
    return result


# --- A folder that keeps trained teachers: one file for each, and a description of the terms they were trained on
#
# Files appear whole or not at all, so that whatever is there after an interruption is a trained teacher. Terms cover
# the learner, the rows, their labels, the partition and the seed, as a digest; teachers of other terms are never mixed.

SCHEMA = "ogive.teachers/1"
DESCRIPTION = "teachers.json"


@dataclass(frozen=True)
class Terms:
    """What teachers were trained on.

    Fields:
        digest: Of the learner with its parameters, the rows, their labels, the partition, the classes and the seed.
            As private as the rows: whoever can guess them can check the guess.
    """

    teachers: int
    classes: int
    learner: str
    digest: str


def terms_of(learner: Any, features: Any, labels: Int64, partition: Partition, *, classes: int, seed: int) -> Terms:
    """The terms of a training."""
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
    """Make the folder or take it up again."""
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
    stored = stored_terms(folder)
    if stored != terms:
        raise DataError(
            f"{plain(folder)} keeps {stored.teachers} teachers ({stored.learner}) trained with other settings; use "
            "another folder, or the same learner, rows, labels, partition and seed"
        )
    wanted = {model_path(folder, teacher).name: teacher for teacher in range(terms.teachers)}
    return folder, frozenset(wanted[name] for name in present if name in wanted)


def stored_terms(folder: Path) -> Terms:
    """The terms of the teachers that a folder keeps."""
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
        raise _unreadable(path, problem) from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError(f"{plain(path)} is damaged, or of another version of ogive") from None
    return terms


def _unreadable(path: Path, problem: OSError) -> DataError:
    return DataError(f"{plain(path)} cannot be read: {(problem.strerror or 'unknown reason').lower()}")


def model_path(folder: Path, teacher: int) -> Path:
    """The file of one teacher."""
    return folder / f"teacher-{teacher:05}.pickle"


def keep(model: Any, path: Path) -> None:
    """Write a model."""
    import cloudpickle  # a learner may be of a script, which worker processes know by value only

    try:
        content = cloudpickle.dumps(model)
    except Exception as problem:
        raise ParameterError(
            f"a folder can keep only what can be pickled, and {type(model).__qualname__} cannot be: use named functions"
        ) from problem
    write_atomically(path, content, mode=OWNER_ONLY)


def read_model(path: Path) -> Any:
    """Read a model; runs what the file says, so only files that `keep` wrote here are for this."""
    try:
        return pickle.loads(path.read_bytes())
    except OSError as problem:
        raise _unreadable(path, problem) from None
    except Exception:
        raise DataError(f"{plain(path)} is damaged; remove it, and train again") from None


# --- Teachers, and their votes


@dataclass(frozen=True, eq=False)
class Teachers:
    """Trained teachers.

    Fields:
        models: One model for each teacher, or the file where it is stored.
        classes: Number of classes.
    """

    models: tuple[Any, ...]
    classes: int

    @property
    def number(self) -> int:
        """Number of teachers."""
        return len(self.models)


def train_teachers(
    learner: Any,
    features: Any,
    labels: Any,
    *,
    partition: Partition,
    classes: int,
    seed: int = 0,
    folder: str | Path | None = None,
    jobs: int = -1,
    progress: Progress | None = None,
) -> Teachers:
    """Train one model on each teacher's rows.

    A teacher whose rows have a single label always votes for it. A teacher without rows votes for class 0, since an
    abstention would reveal missing data. A teacher never votes for a class that its rows do not contain.

    Teachers are trained by joblib: `with joblib.parallel_config(backend=...)` around the call selects the backend.

    Args:
        learner: A scikit-learn estimator, which is copied, or a function that makes one. `ogive.pate.NetworkLearner`
            wraps a torch module.
        features: Private rows: an array, a sparse matrix or a data frame, shape (rows, ...).
        labels: Classes of the rows, whole numbers from 0, shape (rows,).
        partition: Assignment of rows to teachers, from `ogive.pate.partition`.
        classes: Number of classes; public, never taken from the labels.
        seed: Seed of all random states; each teacher also uses its number.
        folder: Folder where models are stored as they are trained; created if missing. None keeps them in memory.
        jobs: Number of teachers trained in parallel; -1 for one per core.
        progress: Called after every teacher.

    Raises:
        ParameterError: scikit-learn or joblib is missing, classes, the seed or jobs is out of range, or the folder
            cannot be written.
        DataError: labels are not classes, the partition has another number of rows, a teacher cannot be trained on its
            rows, or the folder has teachers that were trained with other settings.

    Privacy:
        Nothing is released. The rows of one person, assigned by `partition`, affect one model.
    """
    check_learning()
    from joblib import Parallel, delayed

    drawn, workers = check_seed(seed), check_jobs(jobs)
    rows = number_of_rows(features)
    truth = check_labels(labels, rows, classes)
    if len(partition.parts) != rows:
        raise DataError(f"the partition is of {len(partition.parts)} rows, and there are {rows} to learn from")
    teachers = range(partition.teachers)
    known: frozenset[int] = frozenset()
    place = None
    if folder is not None:
        terms = terms_of(learner, features, truth, partition, classes=int(classes), seed=drawn)
        place, known = open_folder(Path(folder), terms)
    order = np.argsort(partition.parts, kind="stable")
    cuts = np.searchsorted(partition.parts[order], np.arange(partition.teachers + 1))
    waiting = [teacher for teacher in teachers if teacher not in known]
    tell = progress or _silence
    tell(len(known), partition.teachers)

    def task(teacher: int) -> Any:
        mine = order[cuts[teacher] : cuts[teacher + 1]]
        return delayed(_train)(learner, rows_of(features, mine), truth[mine], teacher, drawn, place)

    models: dict[int, Any] = {teacher: model_path(place, teacher) for teacher in known} if place is not None else {}
    with Parallel(n_jobs=workers, return_as="generator_unordered") as pool:
        for teacher, model in pool(map(task, waiting)):
            models[teacher] = model
            tell(len(models), partition.teachers)
    return Teachers(tuple(models[teacher] for teacher in teachers), int(classes))


def read_teachers(folder: str | Path) -> Teachers:
    """The teachers stored in a folder.

    Models are read when needed. Open only folders that you created: reading a model executes code from its file.

    Raises:
        DataError: the folder has no teachers, or not all of them yet.
    """
    place = Path(folder)
    terms = stored_terms(place)
    paths = tuple(model_path(place, teacher) for teacher in range(terms.teachers))
    missing = sum(not path.is_file() for path in paths)
    if missing:
        raise DataError(
            f"{plain(place)} keeps {terms.teachers - missing} of {terms.teachers} teachers; train the others first"
        )
    return Teachers(paths, terms.classes)


def labels_of(teachers: Teachers, queries: Any, *, jobs: int = -1, progress: Progress | None = None) -> Int16:
    """The label that each teacher gives to each query, int16, shape (teachers, queries).

    Args:
        teachers: Teachers from `train_teachers` or `read_teachers`.
        queries: Public inputs, shape (queries, ...).
        jobs: Number of teachers that label in parallel; -1 for one per core.
        progress: Called after every teacher.

    Raises:
        ParameterError: jobs is out of range, or there are no queries.
        DataError: a model cannot be read, or cannot label the queries.

    Privacy: exact votes are private; pass them to an aggregator.
    """
    result = np.empty((teachers.number, number_of_rows(queries)), dtype=np.int16)
    for teacher, labels in _each(teachers, queries, jobs, progress):
        result[teacher] = labels
    return result


def votes_of(teachers: Teachers, queries: Any, *, jobs: int = -1, progress: Progress | None = None) -> Int64:
    """Number of teachers for each label and query, int64, shape (queries, classes).

    Models are read one by one, and their labels are counted immediately. Arguments, errors and privacy are those of
    `labels_of`.
    """
    size = number_of_rows(queries)
    counts = np.zeros((size, teachers.classes), dtype=np.int64)
    everyone = np.arange(size)
    for _, labels in _each(teachers, queries, jobs, progress):
        counts[everyone, labels] += 1
    return counts


def _each(teachers: Teachers, queries: Any, jobs: int, progress: Progress | None) -> Iterator[tuple[int, Int16]]:
    """Every teacher's labels, in the order in which they come."""
    check_learning()
    from joblib import Parallel, delayed

    workers = check_jobs(jobs)
    if not number_of_rows(queries):
        raise ParameterError("there are no queries; give at least one input")
    tell = progress or _silence
    tell(0, teachers.number)
    tasks = (delayed(_labels)(model, queries, teachers.classes, n) for n, model in enumerate(teachers.models))
    with Parallel(n_jobs=workers, return_as="generator_unordered") as pool:
        for done, result in enumerate(pool(tasks), start=1):
            yield result
            tell(done, teachers.number)


def _train(learner: Any, features: Any, labels: Int64, teacher: int, seed: int, folder: Path | None) -> tuple[int, Any]:
    """A teacher's number with its model, or with the file that keeps it."""
    drawn = np.random.SeedSequence([seed, teacher]).generate_state(1)
    model = fitted(learner, features, labels, seed=int(drawn[0]), who=f"teacher {teacher}")
    if folder is None:
        return teacher, model
    path = model_path(folder, teacher)
    remove_leftovers(path)
    keep(model, path)
    return teacher, path


def _labels(model: Any, queries: Any, classes: int, teacher: int) -> tuple[int, Int16]:
    loaded = read_model(model) if isinstance(model, Path) else model
    return teacher, predicted(loaded, queries, classes, who=f"teacher {teacher}").astype(np.int16)


def _silence(done: int, whole: int) -> None:
    pass
