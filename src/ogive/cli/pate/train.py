"""`ogive pate train`: teachers on parts of private records, and their votes on public inputs."""

from __future__ import annotations

import importlib
import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ogive.cli.converters import whole
from ogive.cli.options.common import Words
from ogive.cli.output import busy, check_outputs
from ogive.cli.pate.features import Coding
from ogive.cli.pate.tables import labels_in, persons_in, table
from ogive.errors import DataError, ParameterError, plain, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEMA = "ogive.training/1"

LEARNERS = ("random_forest", "logistic", "svm")


def train(
    data: Path,
    /,
    *,
    label: str,
    classes: Words,
    queries: Path,
    teachers: Annotated[int, Parameter(converter=whole)],
    folder: Path,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    person: str | None = None,
    estimator: str = "random_forest",
    seed: Annotated[int, Parameter(converter=whole)] = 0,
    jobs: Annotated[int, Parameter(converter=whole)] = -1,
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
        asked = table(queries)
        unknown = next((column for column in names if column not in asked.columns), None)
        if unknown is not None and person is None:
            raise DataError(
                f"{plain(queries)} has no column {quoted(unknown)}, from which teachers learn; leave it out of "
                f"{plain(data)}, or say --person {plain(unknown)} if it identifies the person"
            )
        coding = Coding.of(asked, names, queries)
        inputs = coding.features(asked, queries)
        features = coding.features(rows, data)
    number = _number_of(classes)
    dealt = partition(len(features), teachers, person=owners, seed=seed)
    try:
        with busy("training teachers") as progress:
            trained = train_teachers(
                learner,
                features,
                truth,
                partition=dealt,
                classes=number,
                seed=seed,
                folder=folder,
                jobs=jobs,
                progress=progress,
            )
        with busy("counting votes") as progress:
            votes = votes_of(trained, inputs, jobs=jobs, progress=progress)
    except KeyboardInterrupt as stopped:
        stopped.add_note(f"the same command goes on with the teachers that {folder} keeps")
        raise
    _write(output, votes)
    print(
        f"wrote {output}: votes are private, as are the teachers in {folder}; ogive pate label answers from them",
        file=sys.stderr,
    )
    said = {"teachers": trained.number, "queries": len(votes), "classes": number, "votes": str(output)}
    print(
        json.dumps({"schema": SCHEMA, **said})
        if json_
        else "\n".join(f"{name + ':':10}{value}" for name, value in said.items())
    )


def _write(path: Path, votes: Any) -> None:
    import numpy as np

    from ogive.files import OWNER_ONLY, write_atomically

    content = io.BytesIO()
    np.save(content, votes)
    write_atomically(path, content.getvalue(), mode=OWNER_ONLY)


def _number_of(classes: tuple[str, ...]) -> int:
    return int(classes[0]) if len(classes) == 1 else len(classes)


def _learner(estimator: str) -> Any:
    """A scikit-learn estimator, or a function that makes one.

    Raises:
        ParameterError: there is none of that name, or scikit-learn is missing.
    """
    from ogive.pate.learners import check_learning

    check_learning()
    if ":" in estimator:
        return _imported(estimator)
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    made: dict[str, Callable[[], Any]] = {
        "random_forest": RandomForestClassifier,
        "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "svm": lambda: make_pipeline(StandardScaler(), SVC()),
    }
    if estimator not in made:
        raise ParameterError(f"--estimator must be {', '.join(LEARNERS)} or module:name, got {quoted(estimator)}")
    return made[estimator]()


def _imported(estimator: str) -> Any:
    module, _, name = estimator.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        raise ParameterError(
            f"--estimator {estimator}: there is no {quoted(name or 'name')} in a module {quoted(module)}"
        ) from None
    if not callable(found) and not hasattr(found, "fit"):
        raise ParameterError(f"--estimator {estimator} is neither an estimator nor a function that makes one")
    return found
