"""`auto` on real columns: a short version of `benchmarks/auto_columns.py`; without its veto it fails.

Ratios of two means of 16 releases stray by some 20 % where `auto` does not take `hat_ls` itself: level 1.9 for a limit
of 1.5.
"""

import importlib
from pathlib import Path

import pytest
from helpers.data import shared_data

ROOT = Path(__file__).parents[2]
RUNS, LEVEL = 16, 1.9
COLUMNS = (
    "adult.data capital-gain",
    "adult.data age",
    "bank-full campaign",
    "bank-full balance",
    "diabetic_data number_emergency",
    "socr_height_weight Weight(Pounds)",
    "tripadvisor_ratings rooms",
    "framingham prevalentStroke",
)


@pytest.fixture
def measured(monkeypatch):
    for name in ("adult.data", "bank-full.csv", "diabetic_data.csv", "socr_height_weight.csv", "framingham.csv"):
        shared_data(f"{name}.gz")
    shared_data("tripadvisor_ratings.csv.gz")
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    module = importlib.import_module("auto_columns")
    return module, {column.name: column for column in module.columns() if column.name in COLUMNS}


def test_auto_is_never_far_off_on_real_columns(measured):
    module, columns = measured
    assert set(columns) == set(COLUMNS)
    for name, column in columns.items():
        for wider in (1, 10):
            for product in (10, 30, 300):
                found = module.ratios(column, product, RUNS, wider=wider, ways=("auto",))
                assert found["auto"] < LEVEL, (name, wider, product, found)


def test_without_its_veto_auto_fails_on_capital_gains(measured):
    module, columns = measured
    for product in (100, 300):
        found = module.ratios(columns["adult.data capital-gain"], product, 3, ways=("auto", "bet"))
        assert found["bet"] > 5
        assert found["auto"] == 1
