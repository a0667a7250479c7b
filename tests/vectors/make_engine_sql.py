"""SQL of warehouses that nobody has tried here, compiled from the expressions that other engines answer.

    python tests/vectors/make_engine_sql.py

Writes engine_sql/DIALECT.sql, with words where ibis draws a mark for missing values at random. The first line names the
versions that compiled it; others may write the same otherwise.
"""

import re
from importlib import metadata
from pathlib import Path

import ibis

from ogive.columns import Binning, Label
from ogive.columns.grids import Grid
from ogive.queries import ClassBinning, GroupSums, Parted
from ogive.records.engines.cells import CellReader
from ogive.records.missing_words import USUAL

FOLDER = Path(__file__).with_name("engine_sql")
DIALECTS = ("bigquery", "snowflake")
SCHEMA = {"age": "int64", "risk": "float64", "sick": "boolean", "seen": "timestamp('UTC')", "ward": "string"}
RISK = Binning("risk", Grid.linear(0, 1, bins=8))
SICK = Label("sick", positive=(True,), negative=(False,))
CASES = {
    "bins of whole numbers": Binning("age", Grid.integers(0, 120)),
    "bins of an even grid": RISK,
    "bins of a grid with rounded thresholds": Binning("risk", Grid.linear(0.1, 0.7, bins=6), outside="clip"),
    "bins of a geometric grid, missing values low": Binning("risk", Grid.geometric(0.01, 1, bins=6), missing="low"),
    "bins of each class": ClassBinning(RISK, SICK),
    "sums of probabilities": GroupSums(RISK, SICK, 20),
    "bins of each group": Parted((RISK, RISK), "ward", ("A", "B")),
}


def compiled(dialect: str) -> str:
    """All questions in one dialect."""
    table = ibis.table(SCHEMA, name="visits")
    types = {column: kind.to_pyarrow() for column, kind in table.schema().items()}
    reader = CellReader(table, types, USUAL, "visits")
    parts = [f"-- ibis {metadata.version('ibis-framework')}, sqlglot {metadata.version('sqlglot')}\n"]
    for name, aggregate in CASES.items():
        texts = [str(ibis.to_sql(question, dialect=dialect)) for question in reader.questions(aggregate)]
        parts += [f"-- {name}\n{text};\n" for text in texts]
    return re.sub(r"'[0-9a-f]{32}'", "'drawn at random'", "\n".join(parts))


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in DIALECTS:
        (FOLDER / f"{each}.sql").write_text(compiled(each))
