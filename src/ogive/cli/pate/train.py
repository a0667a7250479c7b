"""`ogive pate train`: teachers on parts of private records, and their votes on public inputs."""

from __future__ import annotations

import importlib
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ogive.cli.data import Whole
from ogive.cli.forms import meanings
from ogive.cli.options import Words
from ogive.cli.output import busy, check_outputs
from ogive.core.arrays import Float64, Int64
from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ogive.records.sources import Source

# --- Columns as numbers; what they may hold is read off public rows alone
#
# Categories that were read off private rows would be in every model and in the shape of its inputs, and nobody counts
# what they tell.

MOST_CATEGORIES = 1000
"""Of one column: each is a feature of its own."""


@dataclass(frozen=True)
class Coding:
    """How columns become features.

    Fields:
        public: The file that it was read off.
        columns: Names and, of columns of text, all values of the public rows in order; None of columns of numbers.
    """

    public: Path
    columns: tuple[tuple[str, tuple[str, ...] | None], ...]

    @staticmethod
    def of(rows: Source, names: Sequence[str], path: Path) -> Coding:
        """What public rows say about columns."""
        if not names:
            raise DataError("there are no columns of features beside the label")
        for name in names:
            if name not in rows.columns:
                raise DataError(f"{plain(path)} has no column {quoted(name)}, from which teachers learn")
        return Coding(path, tuple((name, _categories(rows, name, path)) for name in names))

    def features(self, rows: Source, path: Path) -> Float64:
        """Features of all rows, shape (rows, features): a number, or for each public text whether the value is it.

        Any other text, and none, is no public text: all zeros.
        """
        import numpy as np

        from ogive.records.cells import float_values, kind_of

        names = [name for name, _ in self.columns]
        texts = {name for name, categories in self.columns if categories is not None}
        for name in names:
            if name not in texts and kind_of(rows.type(name)) != "number":
                raise DataError(
                    f"column {quoted(name)} of {plain(path)} must hold numbers, as that of {plain(self.public)} does"
                )
        results: list[Float64] = []
        before = 0
        for arrays in rows.batches(names, identifiers=texts):
            parts = []
            for (name, categories), array in zip(self.columns, arrays, strict=True):
                part = float_values(array, "number")[:, None] if categories is None else _one_of(array, categories)
                unusable = ~np.isfinite(part).all(axis=1)
                if unusable.any():
                    row = before + int(np.argmax(unusable)) + 1
                    where = f"no finite number in row {row}" if path == self.public else "rows without a finite number"
                    raise DataError(
                        f"column {quoted(name)} of {plain(path)} has {where}; fill in what is missing first"
                    )
                parts.append(part)
            results.append(np.concatenate(parts, axis=1))
            before += len(results[-1])
        return np.concatenate(results)


def _categories(rows: Source, name: str, path: Path) -> tuple[str, ...] | None:
    """All texts of a public column; None where it holds numbers."""
    import pyarrow as pa

    from ogive.records.cells import kind_of, type_words

    kind = rows.type(name)
    if kind_of(kind) == "number":
        return None
    words = kind.value_type if pa.types.is_dictionary(kind) else kind
    if not any(fits(words) for fits in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)):
        raise DataError(
            f"column {quoted(name)} of {plain(path)} holds {type_words(kind)}; teachers learn from numbers and text"
        )
    seen: set[str] = set()
    for (array,) in rows.batches((name,)):
        seen.update(value for value in _decoded(array).unique().to_pylist() if value)
        if len(seen) > MOST_CATEGORIES:
            raise DataError(
                f"column {quoted(name)} of {plain(path)} has more than {MOST_CATEGORIES} different texts, each of "
                "which would be a feature; leave it out of both files, or make groups of them"
            )
    if 2 * sum(map(_writes_a_number, seen)) > len(seen):
        raise DataError(
            f"column {quoted(name)} of {plain(path)} mixes numbers with text; leave out what is not a number, or write "
            "codes as words"
        )
    if not seen:
        raise DataError(f"column {quoted(name)} of {plain(path)} holds nothing")
    return tuple(sorted(seen))


def _writes_a_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _decoded(array: Any) -> Any:
    import pyarrow as pa

    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _one_of(array: Any, categories: tuple[str, ...]) -> Float64:
    """For every value and category whether it is that; shape (rows, categories)."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.cast(_decoded(array), pa.string())
    places = pc.fill_null(pc.index_in(texts, value_set=pa.array(categories, pa.string())), -1)
    return np.asarray(places.to_numpy(zero_copy_only=False)[:, None] == np.arange(len(categories)), dtype=np.float64)


# --- Labels and persons of a file's rows


def table(path: Path) -> Source:
    """A file of rows."""
    from ogive.records.files import file_source

    source = file_source(path)
    if source.is_empty():
        raise DataError(f"{plain(path)} has no rows")
    return source


def labels_in(rows: Source, column: str, classes: Sequence[str], path: Path) -> Int64:
    """Classes of all rows as whole numbers from 0, shape (rows,)."""
    import numpy as np

    known: dict[Any, int]
    if len(classes) == 1:
        if not classes[0].isdecimal() or int(classes[0]) < 2:
            raise ParameterError("--classes must be a whole number from 2, or two or more classes")
        known = {number: number for number in range(int(classes[0]))}
    else:
        if len(set(classes)) < len(classes) or not classes:
            raise ParameterError("--classes must be a whole number from 2, or two or more different classes")
        known = {meaning: number for number, word in enumerate(classes) for meaning in meanings([word])}
    values = _values(rows, column, path)
    result = np.array([known.get(value, -1) for value in values], dtype=np.int64)
    if (result < 0).any():
        row = int(np.argmax(result < 0))
        raise DataError(
            f"the label of row {row} in column {quoted(column)} of {plain(path)} is not one of the classes of --classes"
        )
    return result


def persons_in(rows: Source, column: str, path: Path) -> NDArray[Any]:
    """Whose every row is, shape (rows,)."""
    import numpy as np

    values = _values(rows, column, path, identifier=True)
    if None in values:
        raise DataError(f"column {quoted(column)} of {plain(path)} has rows without a person")
    return np.array(values)


def _values(rows: Source, column: str, path: Path, *, identifier: bool = False) -> list[Any]:
    if column not in rows.columns:
        raise DataError(f"{plain(path)} has no column {quoted(column)}")
    named = {column} if identifier else set()
    return [value for (array,) in rows.batches((column,), identifiers=named) for value in array.to_pylist()]


# --- The command

SCHEMA = "ogive.training/1"


def train(
    data: Path,
    /,
    *,
    label: str,
    classes: Words,
    queries: Path,
    teachers: Whole,
    folder: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    person: str | None = None,
    estimator: str = "random_forest",
    seed: Whole = 0,
    jobs: Whole = -1,
    json_: Annotated[bool, Parameter(name="--json", show_default=False)] = False,
) -> None:
    """Train teachers on parts of private records, and count their votes on public inputs.

    Stop it with Ctrl-C or lose the machine: the same command goes on from there. The folder and the votes are as
    private as the records.

    Args:
        data: Private rows: a CSV, TSV, Parquet or Arrow file. All columns but label and person are features: numbers,
            or text. Each text that a column has in QUERIES is a feature of its own, which says whether a row has it;
            any other text counts as none of these, so that categories tell nothing about private rows.
        label: Column with the class of each row.
        classes: How many classes there are, which are then numbered from 0; or the classes themselves, in the order
            of their numbers. They are public and never read off the rows.
        queries: Public inputs with the same features; the label is not read. What is text and which values there are
            is read off this file alone.
        teachers: How many teachers the rows are dealt to.
        folder: Keeps each teacher as it is trained.
        output: An .npy file for the votes, a row for every query; readable by its owner alone.
        person: Column with the person's identifier; all rows of a person go to one teacher. Without it every row is a
            person.
        estimator: random_forest, logistic, svm, or module:name of a scikit-learn estimator or of a function that
            makes one, which is imported and run.
        seed: Public number from which the parts and all random states are drawn.
        jobs: Number of teachers trained in parallel; -1 for one per core.
        json_: Write a summary as JSON to standard output.
    """
    import numpy as np

    from ogive.core.files import OWNER_ONLY, write_atomically
    from ogive.pate import partition, train_teachers, votes_of

    if output.suffix.lower() != ".npy":
        raise ParameterError(f"votes are written to an .npy file, got {quoted(str(output))}")
    check_outputs(data, output, keep=[queries])
    learner = _learner(estimator)
    with busy("reading records"):
        rows = table(data)
        names = [column for column in rows.columns if column not in (label, person)]
        truth = labels_in(rows, label, classes, data)
        owners = None if person is None else persons_in(rows, person, data)
        public = table(queries)
        unknown = next((column for column in names if column not in public.columns), None)
        if unknown is not None and person is None:
            raise DataError(
                f"{plain(queries)} has no column {quoted(unknown)}, from which teachers learn; leave it out of "
                f"{plain(data)}, or say --person {plain(unknown)} if it identifies the person"
            )
        coding = Coding.of(public, names, queries)
        inputs = coding.features(public, queries)
        features = coding.features(rows, data)
    number = int(classes[0]) if len(classes) == 1 else len(classes)
    dealt = partition(len(features), teachers, person=owners, seed=seed)
    try:
        with busy("training teachers") as progress:
            how: dict[str, Any] = {"seed": seed, "folder": folder, "jobs": jobs, "progress": progress}
            trained = train_teachers(learner, features, truth, partition=dealt, classes=number, **how)
        with busy("counting votes") as progress:
            votes = votes_of(trained, inputs, jobs=jobs, progress=progress)
    except KeyboardInterrupt as stopped:
        stopped.add_note(f"the same command goes on with the teachers that {folder} keeps")
        raise
    content = io.BytesIO()
    np.save(content, votes)
    write_atomically(output, content.getvalue(), mode=OWNER_ONLY)
    print(
        f"wrote {output}: votes are private, as are the teachers in {folder}; ogive pate label answers from them",
        file=sys.stderr,
    )
    summary = {"teachers": trained.number, "queries": len(votes), "classes": number, "votes": str(output)}
    print(
        json.dumps({"schema": SCHEMA, **summary})
        if json_
        else "\n".join(f"{name + ':':10}{value}" for name, value in summary.items())
    )


def _learner(estimator: str) -> Any:
    from ogive.pate.learners import check_learning

    check_learning()
    if ":" in estimator:
        return _imported(estimator)
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    known: dict[str, Callable[[], Any]] = {
        "random_forest": RandomForestClassifier,
        "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "svm": lambda: make_pipeline(StandardScaler(), SVC()),
    }
    if estimator not in known:
        raise ParameterError(f"--estimator must be {', '.join(known)} or module:name, got {quoted(estimator)}")
    return known[estimator]()


def _imported(estimator: str) -> Any:
    module, _, name = estimator.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        result = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise ParameterError(
            f"--estimator {estimator}: there is no {quoted(name or 'name')} in a module {quoted(module)}"
        ) from None
    if not callable(result) and not hasattr(result, "fit"):
        raise ParameterError(f"--estimator {estimator} is neither an estimator nor a function that makes one")
    return result
