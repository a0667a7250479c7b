"""Does `auto` ever take a method that is far off on real columns? KS over that of `hat_ls`, on all numeric columns.

    python benchmarks/auto_columns.py [--runs 20]

Every column is released within bounds that somebody who knows the subject would state, and within bounds ten times as
wide, at two products of the number of records n and epsilon: with more records or epsilon `auto` always measures an
unbiased curve, whose smoothing `accuracy.py` compares. KS is the largest difference at any threshold from the
records' own curve, the mean over some public releases. What `auto` would take without its veto on KS, by energy
distance on smooth shapes alone, is the peer. Where `auto` takes `hat_ls` both releases are the same and the ratio is 1.
A mean of 20 strays by some 10 %, so a ratio of two such means by 15 %.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import math
import zlib
from collections.abc import Collection, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from unittest.mock import patch

import numpy as np
from harness import record, row
from numpy.typing import NDArray
from projection_trust import Counted

import ogive
from ogive.columns.grids import Grid
from ogive.datasets import data_directory
from ogive.noise import KeyedSource
from ogive.privacy import Adjacency, Privacy
from ogive.statistics.methods import choose as named

Int64 = NDArray[np.int64]
Bounds = tuple[float, float]

PRODUCTS = (10, 30)
LIMIT = 1.5
BINS = 1024
ADULT = {
    0: ("age", (0, 120)),
    2: ("fnlwgt", (0, 2e6)),
    4: ("education-num", (0, 20)),
    10: ("capital-gain", (0, 1e5)),
    11: ("capital-loss", (0, 1e4)),
    12: ("hours-per-week", (0, 168)),
}
"""Numeric columns by place, with bounds that can be stated without a look; the files have no header."""
NUMERIC: dict[str, dict[str, Bounds]] = {
    "bank-full": {
        "age": (0, 120),
        "balance": (-1e5, 1e6),
        "day": (0, 31),
        "duration": (0, 1e4),
        "campaign": (0, 100),
        "pdays": (-1, 1000),
        "previous": (0, 300),
    },
    "diabetic_data": {
        "time_in_hospital": (0, 30),
        "num_lab_procedures": (0, 200),
        "num_procedures": (0, 20),
        "num_medications": (0, 100),
        "number_outpatient": (0, 100),
        "number_emergency": (0, 100),
        "number_inpatient": (0, 50),
        "number_diagnoses": (0, 20),
        "admission_type_id": (0, 10),
        "discharge_disposition_id": (0, 30),
        "admission_source_id": (0, 30),
        "encounter_id": (0, 1e9),
        "patient_nbr": (0, 1e9),
    },
    "socr_height_weight": {"Height(Inches)": (0, 100), "Weight(Pounds)": (0, 500)},
    "tripadvisor_ratings": {
        "overall": (0, 5),
        **dict.fromkeys(
            ("value", "rooms", "location", "cleanliness", "check_in_front_desk", "service", "business_service"), (-1, 5)
        ),
    },
    "framingham": {
        "age": (0, 120),
        "education": (0, 10),
        "cigsPerDay": (0, 100),
        "totChol": (0, 1000),
        "sysBP": (0, 400),
        "diaBP": (0, 300),
        "BMI": (0, 100),
        "heartRate": (0, 300),
        "glucose": (0, 1000),
        **dict.fromkeys(
            ("male", "currentSmoker", "BPMeds", "prevalentStroke", "prevalentHyp", "diabetes", "TenYearCHD"), (0, 1)
        ),
    },
}


@dataclass(frozen=True, eq=False)
class Column:
    """A numeric column.

    Fields:
        name: File and column.
        values: Its values, without missing ones.
        bounds: What somebody who knows the subject would state.
    """

    name: str
    values: NDArray[np.float64]
    bounds: Bounds

    def counts(self, bins: int, wider: int) -> Int64:
        """Records per bin, within bounds so many times as wide."""
        low, high = self.bounds
        grid = Grid.linear(low * wider, high * wider, bins=bins)
        return np.bincount(grid.bin_of(self.values), minlength=bins).astype(np.int64)


FILES = ("adult.data", "adult.test", *NUMERIC)


def columns(files: Collection[str] = FILES) -> Iterator[Column]:
    """Every numeric column of some files of the data folder."""
    for name in ("adult.data", "adult.test"):
        if name not in files:
            continue
        rows = [row for row in _rows(name, ",") if len(row) > max(ADULT)]
        for place, (column, bounds) in ADULT.items():
            yield Column(f"{name} {column}", np.array([float(row[place]) for row in rows]), bounds)
    for name, wanted in NUMERIC.items():
        if name not in files:
            continue
        heads, *rows = _rows(f"{name}.csv", ";" if name == "bank-full" else ",")
        for column, bounds in wanted.items():
            place = heads.index(column)
            known = [row[place] for row in rows if row[place] not in ("NA", "?", "")]
            yield Column(f"{name} {column}", np.array(known, dtype=np.float64), bounds)


@cache
def _rows(name: str, separator: str) -> list[list[str]]:
    with gzip.open(data_directory() / f"{name}.gz", "rt", encoding="utf-8-sig", newline="") as file:
        return [row for row in csv.reader(file, delimiter=separator, skipinitialspace=True) if row]


def errors(
    counts: Int64, method: str, privacy: Privacy, runs: int, *, adjacency: Adjacency = Adjacency.REPLACE, seed: int = 0
) -> tuple[float, float]:
    """Root mean squared error over the thresholds and mean KS of some public releases, as shares of the records.

    Args:
        counts: Records per bin.
        method: "auto", "hat_ls", or "bet": `auto` without its veto.
        privacy: The guarantee.
        runs: How many releases.
        adjacency: Which data sets are adjacent.
        seed: Of the first release's noise; all methods have the same.
    """
    records = int(counts.sum())
    statistic = ogive.Ecdf(
        "x",
        grid=Grid.linear(0, 1, bins=len(counts)),
        method="auto" if method == "bet" else method,
        expected_records=records,
    )
    truth, squared, largest = np.cumsum(counts) / records, [], []
    with patch.object(named, "_fails", lambda *_: False) if method == "bet" else nullcontext():
        for run in range(runs):
            source = KeyedSource.from_seed(seed + run)
            curve = ogive.release(statistic, trust=Counted(counts), privacy=privacy, adjacency=adjacency, source=source)
            gap = curve.probabilities - truth
            squared.append(np.mean(gap**2))
            largest.append(np.abs(gap).max())
    return math.sqrt(np.mean(squared)), float(np.mean(largest))


def ratios(
    column: Column,
    product: int,
    runs: int,
    *,
    wider: int = 1,
    bins: int = BINS,
    ways: tuple[str, ...] = ("auto", "bet"),
) -> dict[str, float]:
    """KS of `auto`, and of `auto` without its veto, over that of `hat_ls` on one column; and that of `hat_ls`."""
    counts = column.counts(bins, wider)
    privacy = ogive.PureDP(Fraction(product, int(counts.sum())))
    seed = zlib.crc32(f"{column.name} {product} {wider}".encode())
    fine = errors(counts, "hat_ls", privacy, runs, seed=seed)[1]
    return {"hat_ls": fine} | {way: errors(counts, way, privacy, runs, seed=seed)[1] / fine for way in ways}


def main() -> None:
    """Measure every column."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20, help="releases of a column")
    parser.add_argument("--bins", type=int, default=BINS, help="thresholds; other numbers are not recorded")
    arguments = parser.parse_args()
    everything = list(columns())
    rows = []
    for product in PRODUCTS:
        for wider, words in ((1, "stated"), (10, "ten times as wide")):
            found = {}
            for column in everything:
                found[column.name] = ratios(column, product, arguments.runs, wider=wider, bins=arguments.bins)
            worst = max(found, key=lambda name: found[name]["auto"])
            print(f"n epsilon = {product}, bounds {words}: worst of auto {worst} {found[worst]}", flush=True)
            worst = max(found, key=lambda name: found[name]["bet"])
            print(f"    of the bet {worst} {found[worst]}", flush=True)
            work = f"auto on {len(found)} columns, n epsilon = {product}, bounds {words}"
            values = {name: [each[name] for each in found.values()] for name in ("auto", "bet")}
            summaries = {
                "worst KS, times hat_ls's": max,
                "KS, times hat_ls's, geometric mean": lambda each: math.exp(np.mean(np.log(each))),
            }
            for metric, summed in summaries.items():
                rows.append(
                    row(
                        work,
                        metric,
                        "",
                        summed(values["auto"]),
                        runs=arguments.runs,
                        target=LIMIT if summed is max else None,
                        larger_is_better=False,
                        peer="without the veto",
                        peer_value=summed(values["bet"]),
                    )
                )
    if arguments.bins == BINS:
        record(rows)


if __name__ == "__main__":
    main()
