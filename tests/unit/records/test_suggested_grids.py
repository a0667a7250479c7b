"""Every grid that the manual suggests, over every container of records, counts as numpy does by hand."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ogive
from ogive.columns.grids import GRIDS, Grid
from ogive.records import Records
from ogive.statistics.ecdf.statistic import make_grid

ROWS = 400
DAYS = ("2023-11-20", "2024-03-10")
TIMES = ("2023-11-20T06:30", "2024-03-10T18:00")
START, END = (np.datetime64(day, "us") for day in DAYS)
rng = np.random.default_rng(19)
MOMENTS = START + (rng.random(ROWS) * (END - START).astype(int)).astype("timedelta64[us]")

NUMBERS = {
    "measurements": (rng.normal(120, 60, ROWS), {"bounds": (0, 250), "bins": 1024}),
    "whole numbers": (rng.integers(-5, 130, ROWS), {"bounds": (0, 120), "grid": "integers"}),
    "several orders of magnitude": (rng.lognormal(8, 4, ROWS), {"bounds": (1, 1e7), "bins": 512, "grid": "geometric"}),
    "thresholds": (rng.integers(0, 130, ROWS), {"grid": Grid.explicit([18, 21, 65, 120])}),
}
TEMPORAL = {
    f"{kind} {every}": (values, {"bounds": bounds, "grid": every})
    for kind, values, bounds in (
        ("dates", MOMENTS.astype("datetime64[D]"), DAYS),
        ("times by", MOMENTS, DAYS),
        ("times between times by", MOMENTS, TIMES),
    )
    for every in ("linear", "integers", "hours", "days", "weeks", "months")
    if not (bounds == TIMES and every == "integers")
}
CASES = NUMBERS | TEMPORAL


def _csv(values: np.ndarray, folder: Path) -> Path:
    path = folder / "records.csv"
    written = np.datetime_as_string(values) if values.dtype.kind == "M" else values.tolist()
    path.write_text("x\n" + "\n".join(map(str, written)) + "\n", encoding="utf-8")
    return path


def _parquet(values: np.ndarray, folder: Path) -> Path:
    pl.DataFrame({"x": values}).write_parquet(folder / "records.parquet")
    return folder / "records.parquet"


def _arrow_file(values: np.ndarray, folder: Path) -> Path:
    pl.DataFrame({"x": values}).write_ipc(folder / "records.arrow", compat_level=pl.CompatLevel.oldest())
    return folder / "records.arrow"


CONTAINERS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "numpy": lambda values, folder: {"x": values},
    "list": lambda values, folder: {"x": values.tolist()},
    "pandas": lambda values, folder: pd.DataFrame({"x": values}),
    "pandas objects": lambda values, folder: pd.DataFrame({"x": pd.Series(values.tolist(), dtype=object)}),
    "pandas nullable": lambda values, folder: pd.DataFrame({"x": values}).convert_dtypes(),
    "polars": lambda values, folder: pl.DataFrame({"x": values}),
    "arrow": lambda values, folder: pa.table({"x": values}),
    "csv": _csv,
    "parquet": _parquet,
    "arrow file": _arrow_file,
}


def by_hand(values: np.ndarray, grid: Grid) -> list[int]:
    """Records per bin, by one comparison of every value with every threshold."""
    if values.dtype.kind == "M":
        tick = "D" if grid.unit == "date" else "us"
        values = values.astype(f"datetime64[{tick}]").astype(np.int64)
    clipped = np.clip(values.astype(float), grid.low, grid.high)
    below = [int((clipped <= threshold).sum()) for threshold in grid.thresholds]
    return np.diff([0, *below]).tolist()


# each case, and in every container one of each type of values
@pytest.mark.covering("case", case=lambda case: CASES[case][0].dtype.str)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("case", CASES)
def test_counts_what_the_manual_suggests_in_every_container(case, container, tmp_path):
    values, options = CASES[case]
    statistic = ogive.Ecdf("x", **options)
    counted = Records.of(CONTAINERS[container](values, tmp_path)).histogram(statistic.binning())
    assert counted.tolist() == by_hand(values, statistic.binning().grid)


def test_every_word_for_a_grid_is_tried():
    assert {options.get("grid", "linear") for _, options in CASES.values()} >= set(GRIDS)


@pytest.mark.parametrize("every", ["days", "weeks", "months"])
@pytest.mark.parametrize("bounds", [DAYS, TIMES, ("1969-11-03", "1970-02-02"), ("2024-02-28", "2024-03-01")])
def test_thresholds_end_each_day_week_and_month(every, bounds):
    grid = make_grid(bounds, 1024, every)
    first, last = (datetime.date.fromisoformat(bound[:10]) for bound in bounds)
    days = [first + datetime.timedelta(days=n) for n in range((last - first).days + 1)]
    tomorrow = datetime.timedelta(days=1)
    ends = {
        "days": lambda day: True,
        "weeks": lambda day: day.isoweekday() == 7,
        "months": lambda day: (day + tomorrow).day == 1,
    }
    assert [grid.label(number) for number in grid.thresholds] == [
        day for day in days if ends[every](day) or day == last
    ]
    assert grid.label(grid.low) == first
    assert Grid.from_dict(grid.to_dict()) == grid


def test_thresholds_of_hours_end_each_hour():
    grid = make_grid(("2024-01-01T10:30", "2024-01-01T13:00"), 1024, "hours")
    assert [str(grid.label(number)) for number in grid.thresholds] == [
        "2024-01-01 10:59:59.999999",
        "2024-01-01 11:59:59.999999",
        "2024-01-01 12:59:59.999999",
        "2024-01-01 13:00:00",
    ]
    assert make_grid(("2024-01-01", "2024-01-02"), 1024, "hours").bins == 48
    assert Grid.from_dict(grid.to_dict()) == grid


def test_days_between_dates_are_the_grid_of_integers():
    assert make_grid(DAYS, 1024, "days") == make_grid(DAYS, 1024, "integers")


@pytest.mark.parametrize("every", ["hours", "days", "weeks", "months"])
def test_refuses_a_calendar_of_numbers(every):
    with pytest.raises(ogive.ParameterError, match=f"a grid of {every} needs dates or times as bounds, got 0, 120"):
        make_grid((0, 120), 1024, every)


def test_refuses_more_hours_than_bins():
    with pytest.raises(ogive.ParameterError, match="bins must be a whole number from 1 to"):
        make_grid(("0001-01-01", "9999-12-31"), 1024, "hours")


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_time_without_a_zone_is_one_in_utc(zone):
    frame = pd.DataFrame({"x": pd.Series(MOMENTS).dt.tz_localize(zone) if zone else MOMENTS})
    for bounds in (DAYS, TIMES, tuple(f"{bound}+00:00" for bound in TIMES)):
        grid = make_grid(bounds, 100, "days")
        assert Records.of(frame).histogram(ogive.columns.Binning("x", grid)).tolist() == by_hand(MOMENTS, grid)


def test_times_of_another_zone_count_as_the_moments_that_they_are():
    paris = pd.DataFrame({"x": pd.Series(MOMENTS).dt.tz_localize("UTC").dt.tz_convert("Europe/Paris")})
    grid = make_grid(TIMES, 100, "hours")
    assert Records.of(paris).histogram(ogive.columns.Binning("x", grid)).tolist() == by_hand(MOMENTS, grid)
    with pytest.raises(ogive.DataError, match="in the zone Europe/Paris, whose days are not those of UTC"):
        Records.of(paris).histogram(ogive.columns.Binning("x", make_grid(DAYS, 100, "days")))


def test_owners_count_a_time_on_its_day():
    from ogive.local.values import numbers_of

    binning = ogive.columns.Binning("x", make_grid(DAYS, 100, "days"))
    wanted = MOMENTS.astype("datetime64[D]").astype(np.int64).tolist()
    for values in (MOMENTS, MOMENTS.astype("datetime64[ns]"), MOMENTS.tolist()):
        assert numbers_of(binning, values).tolist() == wanted
