"""The demonstration's table, a bank's customers or others of the same columns, and what learns from it."""

from __future__ import annotations

import csv
import gzip
import importlib.util
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ogive.core.arrays import Bool, Float64, Int64
from ogive.datasets import bank
from ogive.errors import DataError, ParameterError, plain, quoted
from ogive.records import Records

if TYPE_CHECKING:
    import pyarrow as pa

# --- Logistic regression on half of a labelled table, which predicts the classes of the other half
#
# The rows are divided once by a fixed public seed; numbers are scaled, missing ones replaced by the training half's
# median; words and codes become indicators, values seen fewer than `RARE` times in the training half share one;
# everything else is scikit-learn's default. Only the half that the model has not seen is evaluated, and only that
# half's privacy is protected by what is released of it.

SPLIT_SEED = 2023
RARE = 50
"""Values of a categorical feature seen less often are one value."""

MOST_ITERATIONS = 5000

_MISSING = ["", "?", "NA", "NaN", "nan"]


@dataclass(frozen=True)
class Labelled:
    """A table whose rows have a class.

    Fields:
        title: What people call it.
        target: Column of the class.
        negative: The target's value of the negative class; every other value is positive.
        left_out: Columns that name a row or a person, which a model must not learn from.
        codes: Columns of numbers that stand for words.
        positive: The target's value of the positive class, where others are negative too.
    """

    title: str
    target: str
    negative: str
    left_out: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    positive: str | None = None


BANK = Labelled("Bank-full", "y", "no")


def first_line(path: Path) -> tuple[str, list[str]]:
    """The separator and the names of the columns."""
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            line = file.readline()
    except (OSError, EOFError, UnicodeDecodeError):
        raise ParameterError(f"cannot read {plain(path)} as a table of text") from None
    delimiter = ";" if line.count(";") > line.count(",") else ","
    return delimiter, next(csv.reader([line.strip()], delimiter=delimiter), [])


@cache
def read_table(data_set: Labelled, path: Path) -> tuple[pa.Table, Bool]:
    """Read the features, missing values as null, and whether each row is positive."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    delimiter, _ = first_line(path)
    try:
        table = arrow_csv.read_csv(
            path,
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter),
            convert_options=arrow_csv.ConvertOptions(null_values=_MISSING, strings_can_be_null=True),
        )
    except (pa.ArrowInvalid, OSError):
        raise DataError(f"cannot read {plain(path)} as a table separated by {quoted(delimiter)}") from None
    return divided(data_set, table, plain(path))


def divided(data_set: Labelled, table: pa.Table, name: str) -> tuple[pa.Table, Bool]:
    """Part a table into its features and whether each row is positive."""
    import pyarrow as pa
    from pyarrow import compute

    if data_set.target not in table.column_names:
        raise DataError(f"{name} lacks the column {data_set.target} of {data_set.title}")
    target = compute.cast(table[data_set.target], pa.string())
    if target.null_count:
        raise DataError(f"{name} has {target.null_count} rows without a value of {data_set.target}")
    if data_set.positive is None:
        chosen = compute.not_equal(target, data_set.negative)
    else:
        chosen = compute.equal(target, data_set.positive)
    positive = chosen.to_numpy(zero_copy_only=False).astype(np.bool_)
    return table.drop_columns([data_set.target]), positive


def check_learning() -> None:
    """Ask for scikit-learn."""
    if importlib.util.find_spec("sklearn") is None:
        raise ParameterError("models are trained with scikit-learn, which is not installed; pip install 'ogive[learn]'")


def halves(rows: int) -> tuple[Int64, Int64]:
    """Divide rows at random, always in the same way, into those to train on and those to evaluate."""
    order = np.random.default_rng(SPLIT_SEED).permutation(rows)
    return order[: rows // 2], order[rows // 2 :]


def fit(known: Any, classes: Bool, unknown: Any) -> Float64:
    """Probabilities of the positive class for rows of features, from other rows with their classes."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=MOST_ITERATIONS).fit(known, classes)
    predicted: Float64 = model.predict_proba(unknown)[:, 1]
    return predicted


def design_matrix(data_set: Labelled, table: pa.Table, training: Int64) -> Any:
    """Features as a sparse matrix, shape (rows, columns); scales and categories are those of the training rows."""
    import pyarrow as pa
    from scipy import sparse
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers, words = [], []
    for name in table.column_names:
        if name in data_set.left_out:
            continue
        column = table[name]
        if pa.types.is_null(column.type):
            continue
        if name not in data_set.codes and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            numbers.append(column.cast(pa.float64()).to_numpy())
        else:
            words.append(column.cast(pa.string()).fill_null("missing").to_numpy())
    blocks = []
    if numbers:
        array = np.column_stack(numbers)
        array = SimpleImputer(strategy="median").fit(array[training]).transform(array)
        blocks.append(sparse.csr_array(StandardScaler().fit(array[training]).transform(array)))
    if words:
        array = np.column_stack(words)
        encoder = OneHotEncoder(min_frequency=RARE, handle_unknown="infrequent_if_exist")
        blocks.append(sparse.csr_array(encoder.fit(array[training]).transform(array)))
    return sparse.csr_array(sparse.hstack(blocks))


# --- The table

NEEDED = ("age", "balance", "duration")


@dataclass(frozen=True, eq=False)
class Table:
    """Customers by what a model may learn from, whether each said yes, and where they come from, in words.

    The name is what the ledger calls them.
    """

    name: str
    features: pa.Table
    positive: Bool
    origin: str


def find_table(path: Path | None) -> Table:
    """Open the table that was named, else the bank's, which comes with the package."""
    if path is None:
        features, positive = divided(BANK, bank(), "the bank's table")
        return Table("bank-full", features, positive, "customers of a Portuguese bank (UCI Bank Marketing, bank-full)")
    if not path.is_file():
        raise DataError(
            f"there is no file {plain(path)}; name a CSV table with the columns age, balance, duration and y"
        )
    features, positive = read_table(BANK, path)
    if not positive.size:
        raise DataError(f"{plain(path)} has no rows; the demonstration needs customers")
    lacking = [name for name in NEEDED if name not in features.column_names]
    if lacking:
        raise DataError(
            f"the demonstration needs the columns age, balance, duration and y; {' and '.join(lacking)} not found"
        )
    return Table(path.name.split(".")[0], features, positive, path.name)


# --- The model

DIGITS = 4
"""Decimals of a prediction that are kept: the same on every machine, and the ledger knows the records again."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The customers that a model has not seen.

    Fields:
        columns: Their age, balance, the minutes of their call, the probability that the model gives them, and their
            label (1 for yes).
        trained: How many others the model learned from.
    """

    columns: dict[str, NDArray[Any]]
    trained: int

    @cached_property
    def records(self) -> Records:
        """The same as a table."""
        return Records.of(self.columns)


def evaluate(table: Table) -> Evaluation:
    """Train a logistic regression on half of the customers, divided at random, and predict the other half's answers."""
    check_learning()
    training, evaluation = halves(table.positive.size)
    columns: dict[str, NDArray[Any]] = {}
    for name in NEEDED:
        values = table.features[name].to_numpy()
        if not np.issubdtype(values.dtype, np.number) or np.isnan(values).any():
            raise DataError(f"the demonstration needs a number for every customer in the column {name}")
        columns[name] = values[evaluation]
    if any(len(set(table.positive[half].tolist())) < 2 for half in (training, evaluation)):
        raise DataError("the demonstration needs customers of both answers, yes and no, in the column y")
    matrix = design_matrix(BANK, table.features, training)
    predicted = fit(matrix[training], table.positive[training], matrix[evaluation])
    label = table.positive[evaluation].astype(np.int64)
    columns["minutes"] = columns.pop("duration") / 60
    return Evaluation({**columns, "probability": np.round(predicted, DIGITS), "label": label}, training.size)
