"""Make the table that comes with the package from UCI's file: `python tools/bank.py bank-full.csv`.

The Parquet file has the same rows, columns, names and values as the CSV file. Only its text is checked: the bytes of a
Parquet file depend on the version of the library that writes it.
"""

from __future__ import annotations

import gzip
import hashlib
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

TARGET = Path(__file__).parents[1] / "src" / "ogive" / "datasets" / "bank-full.parquet"
SHA256 = "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d"
"""Of bank-full.csv as UCI distributes it."""


def original(table: pa.Table) -> bytes:
    """A table as UCI writes it: fields separated by semicolons, text in quotation marks, numbers without."""
    written = (
        [f'"{name}"', *(f'"{cell}"' if pa.types.is_string(column.type) else str(cell) for cell in column.to_pylist())]
        for name, column in zip(table.column_names, table.columns, strict=True)
    )
    return "".join(";".join(row) + "\n" for row in zip(*written, strict=True)).encode()


def main(source: Path) -> None:
    """Write the Parquet file, and refuse a source that is not UCI's."""
    content = source.read_bytes()
    content = gzip.decompress(content) if source.suffix == ".gz" else content
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SystemExit(f"{source} is not the original bank-full.csv: its SHA-256 is not {SHA256}")
    table = csv.read_csv(pa.BufferReader(content), parse_options=csv.ParseOptions(delimiter=";"))
    pq.write_table(table, TARGET, compression="zstd", compression_level=19)
    if hashlib.sha256(original(pq.read_table(TARGET))).hexdigest() != SHA256:
        raise SystemExit(f"{TARGET} does not hold what {source} holds")
    print(f"wrote {TARGET}: {table.num_rows} rows, {table.num_columns} columns, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python tools/bank.py bank-full.csv")
    main(Path(sys.argv[1]))
