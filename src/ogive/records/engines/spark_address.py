"""How tables of Spark are named: `spark://host:7077/?table=visits`, `spark:local[2]?parquet=/data/visits/*.parquet`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from urllib.parse import parse_qsl

from ogive.errors import ParameterError, quoted

CLUSTER = "spark://host:7077/?table=visits"
LOCAL = "spark:local[2]?parquet=/data/visits.parquet"
PREFIX = "spark:"
"""What addresses of Spark begin with, and no path and no other address does."""

_ADDRESS = re.compile(r"spark:(?:(?P<cluster>//[^/?#]+)/?|(?P<local>[^/?#]+))(?:\?(?P<query>[^#]*))?")
_CLUSTER = re.compile(r"//[A-Za-z0-9._-]+:[0-9]+(,[A-Za-z0-9._-]+:[0-9]+)*")
_LOCAL = re.compile(r"local(\[([1-9][0-9]*|\*)\])?")
_WILD = re.compile(r"[*?\[{]")


@dataclass(frozen=True)
class SparkAddress:
    """Where a table of Spark lies.

    Fields:
        master: As Spark calls it, such as "spark://host:7077", "local[2]" or "local[*]".
        table: Name of a table or view in Spark's catalog; None for files.
        parquet: Path of Parquet files, which may have wildcards; None for a table of the catalog.
        schema: The database that a table lies in, or the catalog and the database; None for the current one.
        settings: Spark's own, such as "spark.executor.memory"; they are shown nowhere, since they may hold secrets.
    """

    master: str
    table: str | None
    parquet: str | None
    schema: str | None = None
    settings: dict[str, str] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(text: str) -> SparkAddress:
        """Read an address.

        Raises:
            ParameterError: it is none, or names no master or no table, or has parts that Spark does not know.
        """
        found = _ADDRESS.fullmatch(text)
        place = "" if found is None else found["cluster"] or found["local"]
        if found is None or not (_CLUSTER if found["cluster"] else _LOCAL).fullmatch(place):
            raise ParameterError(
                f"the address of a table of Spark must be like {CLUSTER} or {LOCAL}; for another master, start "
                "Spark and give a table of ibis"
            )
        parts = parse_qsl(found["query"] or "", keep_blank_values=True)
        named = dict(parts)
        for name, value in parts:
            if name not in ("table", "parquet", "schema") and not name.startswith("spark."):
                raise ParameterError(
                    f"the address of a table of Spark takes table, parquet, schema and settings such as "
                    f"spark.executor.memory, got {quoted(name)}"
                )
            if not value or len(parts) > len(named):
                raise ParameterError(f"the address of a table of Spark must say once what {quoted(name)} is")
        table, parquet, schema = (named.pop(each, None) for each in ("table", "parquet", "schema"))
        if (table is None) == (parquet is None):
            raise ParameterError(
                f"the address must name either a table of Spark or Parquet files, for example {CLUSTER} or {LOCAL}"
            )
        if parquet is not None and schema is not None:
            raise ParameterError("the address names Parquet files, which lie in no schema; leave schema out")
        if parquet is not None and "://" not in parquet:
            parquet = str(Path(parquet).absolute())
        return SparkAddress(f"spark:{place}" if found["cluster"] else place, table, parquet, schema, named)

    @property
    def engine(self) -> str:
        """The engine, "spark"."""
        return "spark"

    @property
    def is_cluster(self) -> bool:
        """Whether Spark runs elsewhere, and not in this machine alone."""
        return "://" in self.master

    @property
    def place(self) -> str:
        """Where Spark runs, as messages show it."""
        return f"{self.master}/" if self.is_cluster else f"{PREFIX}{self.master}"

    @property
    def name(self) -> str:
        """What messages call the table: without Spark's settings."""
        if self.parquet is not None:
            return f"{self.place}?parquet={self.parquet}"
        return f"{self.place}?table={self.table}" + ("" if self.schema is None else f"&schema={self.schema}")

    @property
    def called(self) -> str:
        """What the data set is called: the name of the table, of the file, or of the folder before the wildcards."""
        return name_of_files(self.parquet) if self.table is None else self.table


def name_of_files(pattern: str | None) -> str:
    """The name of a file, or of the folder before the wildcards of its path."""
    path = PurePosixPath(str(pattern))
    while _WILD.search(path.name):
        path = path.parent
    return path.name.removesuffix(".parquet")
