"""Teachers: one model for each part of private data, trained in parallel, and their votes.

Models are as private as the records they learned from: only what an aggregator answers may leave. Where a folder keeps
them, training that was interrupted goes on where it was; the folder's files are readable by their owner alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ogive.arrays import Int16, Int64
from ogive.errors import DataError, ParameterError, plain
from ogive.files import remove_leftovers
from ogive.pate.kept_teachers import Terms, keep, kept_terms, model_path, open_folder, read_model, terms_of
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
from ogive.pate.partitioning import Partition
from ogive.progress import Progress

"""Is told how many teachers are done, and how many there are."""


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
    terms: Terms = kept_terms(place)
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
    found = np.empty((teachers.number, number_of_rows(queries)), dtype=np.int16)
    for teacher, labels in _each(teachers, queries, jobs, progress):
        found[teacher] = labels
    return found


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
        for done, found in enumerate(pool(tasks), start=1):
            yield found
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
