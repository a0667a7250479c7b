"""How tables of an engine are named: `postgresql://host/db?table=visits`, `duckdb://?parquet=s3://bucket/*.parquet`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import URL

from ogive.errors import ParameterError, quoted
from ogive.records.engines.spark_address import CLUSTER, PREFIX, SparkAddress, name_of_files

EXAMPLES = {
    "postgresql": "postgresql://user@host/database?table=visits",
    "duckdb": "duckdb:///file.duckdb?table=visits",
}
"""An address of each database."""
FILES = "duckdb://?parquet=s3://bucket/visits/*.parquet"
"""An address of files that DuckDB reads."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SAME = {"postgres": "postgresql"}
_OWN = ("table", "schema", "parquet")


def is_address(data: object) -> bool:
    """Whether something names a table of an engine, or of any other place with a URL."""
    return isinstance(data, str) and (data.startswith(PREFIX) or _ADDRESS.match(data) is not None)


def address_of(text: str) -> Address | SparkAddress:
    """Read an address of any engine.

    Raises:
        ParameterError: it is none, or of no engine that is known, or does not say where a table lies.
    """
    return SparkAddress.of(text) if text.startswith(PREFIX) else Address.of(text)


@dataclass(frozen=True)
class Address:
    """Where a table lies.

    Fields:
        engine: "postgresql" or "duckdb".
        url: Of the database, with its password; it is shown nowhere.
        table: Name of the table or view; None for files.
        schema: The schema that it lies in; None for the first one of the connection's search path that has it.
        parquet: Path of Parquet files, which may have wildcards and lie in an object store; None for a table.
    """

    engine: str
    url: URL
    table: str | None
    schema: str | None = None
    parquet: str | None = None

    @staticmethod
    def of(text: str) -> Address:
        """Read an address.

        Raises:
            ParameterError: it is none, or of no engine that is known, or names no table or no database.
        """
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError

        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            raise ParameterError(f"the address of a table must be like {EXAMPLES['postgresql']}") from None
        engine = _SAME.get(url.drivername.lower(), url.drivername.lower())
        if engine not in EXAMPLES:
            raise ParameterError(
                f"no engine is called {quoted(url.drivername)}; tables lie in files, or in an engine such as "
                + " or ".join((*EXAMPLES.values(), CLUSTER))
            )
        named = dict(url.query)
        for each in _OWN:
            if each in named and (not isinstance(named[each], str) or not named[each]):
                raise ParameterError(f"the address of a table must name one {each}, for example {EXAMPLES[engine]}")
        if "parquet" in named:
            if engine != "duckdb" or url.database or url.host or set(named) != {"parquet"}:
                raise ParameterError(f"the address of Parquet files must be like {FILES}")
            path = str(named["parquet"])
            return Address(engine, url, None, parquet=path if "://" in path else str(Path(path).absolute()))
        if "table" not in named:
            raise ParameterError(f"the address must name a table of {engine}, for example {EXAMPLES[engine]}")
        if not url.database:
            what = "file" if engine == "duckdb" else "database"
            raise ParameterError(f"the address must name a {what} of {engine}, for example {EXAMPLES[engine]}")
        if engine == "duckdb" and (url.host or url.username or set(named) - set(_OWN)):
            raise ParameterError(f"the address of a file must be like {EXAMPLES[engine]}, with three or four slashes")
        schema = named.get("schema")
        return Address(engine, url, str(named["table"]), None if schema is None else str(schema))

    @property
    def called(self) -> str:
        """What the data set is called: the table's name, or that of the files."""
        return name_of_files(self.parquet) if self.table is None else self.table

    @property
    def place(self) -> str:
        """The database, as messages show it."""
        return self.name.partition("?")[0]

    @property
    def rest(self) -> dict[str, str]:
        """What the address says to the engine's driver, such as `sslmode`."""
        return {name: str(value) for name, value in self.url.query.items() if name not in _OWN}

    @property
    def name(self) -> str:
        """What messages call the table: without user, password and what is said to the driver."""
        if self.parquet is not None:
            return f"duckdb://?parquet={self.parquet}"
        host = self.url.host or ""
        port = f":{self.url.port}" if self.url.port else ""
        table = self.table if self.schema is None else f"{self.table}&schema={self.schema}"
        return f"{self.engine}://{host}{port}/{self.url.database}?table={table}"


def shown(data: object) -> str:
    """A path or an address as messages show it, without a password."""
    return address_of(data).name if isinstance(data, str) and is_address(data) else str(data)
