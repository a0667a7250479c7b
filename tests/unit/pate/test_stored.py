"""Stored costs and plans fit their published schemas, come back as they were, and are refused where damaged."""

import copy
import json
import subprocess
import sys
from functools import cache

import jsonschema
import numpy as np
import pytest
from helpers.schemas import fits
from helpers.waiting import PATIENCE

from ogive.errors import DataError
from ogive.noise import KeyedSource
from ogive.pate import (
    ConfidentGNMax,
    GNMax,
    LabelsPlan,
    LNMax,
    PrivacyCost,
    SanitizedCost,
    plan_labels,
    privacy_cost,
    sanitize,
    simulated_votes,
)

VOTES, TRUTH = simulated_votes(40, 60, 3, seed=2)
CONFIDENT = ConfidentGNMax(40, 20, 8)
DELTA = {"target_delta": 1e-5}
ANSWERED = VOTES.max(axis=1) >= 40
MAKERS = {
    "independent": lambda: privacy_cost(VOTES, CONFIDENT, mode="independent", max_answers=5, **DELTA),
    "independent by order": lambda: privacy_cost(VOTES, CONFIDENT, mode="independent", order=8, **DELTA),
    "laplace": lambda: privacy_cost(VOTES, LNMax(40), mode="independent", **DELTA),
    "joint": lambda: privacy_cost(VOTES, CONFIDENT, mode="joint", noise="scaled", **DELTA),
    "exact": lambda: privacy_cost(VOTES, GNMax(9), mode="exact", **DELTA),
    "expected": lambda: privacy_cost(VOTES, CONFIDENT, mode="expected", **DELTA),
    "realised": lambda: privacy_cost(VOTES, CONFIDENT, mode="realised", order=8, answered=ANSWERED, **DELTA),
    "sanitized": lambda: sanitize(VOTES, CONFIDENT, source=KeyedSource.from_seed(1), **DELTA),
    "sanitized answers": lambda: sanitize(
        VOTES,
        CONFIDENT,
        form="additive",
        answered=ANSWERED,
        upper_limit=False,
        source=KeyedSource.from_seed(2),
        **DELTA,
    ),
    "plan": lambda: plan_labels(VOTES, truth=TRUTH, epsilons=[1, 2], answers=[10, 20], **DELTA),
}


@cache
def example(name):
    """A cost or a plan, made once; what it stores is made anew each time."""
    return MAKERS[name]()


DAMAGED = [
    ("joint", "epsilon", -0.1, "from 0"),
    ("joint", "epsilon", float("nan"), "from 0"),
    ("joint", "epsilon", "1", "from 0"),
    ("joint", "delta", 1, "strictly between 0 and 1"),
    ("joint", "mode", "wrong", "mode of a privacy cost must be one of independent, joint"),
    ("joint", "mode", ["joint"], "mode of a privacy cost must be one of"),
    ("joint", "rule", "loose", "rule of a privacy cost must be one of"),
    ("joint", "noise", None, "noise of a privacy cost must be one of"),
    ("joint", "order", 1.05, "one of its orders"),
    ("joint", "order", None, "one of its orders"),
    ("independent", "order", 2.0, "null where its rule needs none"),
    ("joint", "queries", 0, "whole number from 1"),
    ("joint", "queries", True, "whole number from 1"),
    ("joint", "answers", 41, "from 0 to 40"),
    ("joint", "publishable", True, "publishable where its mode is independent"),
    ("independent", "publishable", False, "publishable where its mode is independent"),
    ("joint", "publishable", 0, "publishable where its mode is independent"),
    ("joint", "statement", 7, "short text"),
    ("joint", "orders", [2.0, 3.0], "one rdp for each of its 2 orders"),
    ("joint", "rdp", [0.1], "one rdp for each of its"),
    ("joint", "rdp", ["x"], "lists of finite numbers"),
    ("joint", "rdp", [], "lists of finite numbers"),
    ("joint", "orders", None, "lists of finite numbers"),
    ("sanitized", "rdp", float("nan"), "finite number"),
    ("sanitized", "rdp", 1e12, "finite number to 1e"),
    ("sanitized", "rdp", None, "finite number"),
    ("sanitized", "log_sensitivity", "0", "finite number"),
    ("sanitized", "order", "6", "finite number from 0"),
    ("sanitized", "order", 1e9, "order must be above 1"),
    ("sanitized", "delta", 0.0, "strictly between 0 and 1"),
    ("sanitized", "scale", -1.0, "finite number from 0"),
    ("sanitized", "independent_epsilon", -1.0, "finite number from 0"),
    ("sanitized", "queries", -1, "whole number from 1"),
    ("sanitized", "teachers", 2, "whole number from 3"),
    ("sanitized", "classes", 2.5, "whole number from 2"),
    ("sanitized", "answered", 41, "at most the 40 queries"),
    ("sanitized", "max_answers", 41, "at most the 40 queries"),
    ("sanitized", "method", "luck", "algorithms, ranges, boxes"),
    ("sanitized", "form", "other", "joint or additive"),
    ("sanitized", "aggregator", 3, "short text"),
    ("plan", "delta", 0, "strictly between 0 and 1"),
    ("plan", "queries", 0, "whole number from 1"),
    ("plan", "classes", 1, "whole number from 2"),
    ("plan", "known", 1, "true or false"),
    ("plan", "rows", [], "at least one object"),
    ("plan", "rows", [{}], "object with epsilon"),
]
ROWS = [
    ("epsilon", -1, "from 0"),
    ("epsilon", float("inf"), "from 0"),
    ("aggregator", "lnmax", "confident, interactive, gnmax, margins"),
    ("parameters", {"sigma": 3}, "parameters of confident in a plan's row"),
    ("parameters", {"threshold": 30, "sigma_1": "3", "sigma_2": 4}, "must be numbers"),
    ("parameters", {"threshold": 30, "sigma_1": -3, "sigma_2": 4}, "the parameters of a plan's row"),
    ("asked", 41, "from 1 to 40"),
    ("max_answers", 0, "from 1 to 40"),
    ("answered", -1, "from 0"),
    ("right", 1.5, "from 0 to 1"),
    ("joint", "x", "from 0"),
]


@pytest.mark.parametrize("name", MAKERS)
def test_they_fit_their_schema_and_come_back(name, tmp_path):
    found = example(name)
    data = fits(json.loads(found.to_json()))
    assert data["schema"] == found.schema
    assert type(found).from_dict(data) == type(found).from_json(found.to_json()) == found
    found.to_json(tmp_path / "stored.json")
    assert type(found).from_json(tmp_path / "stored.json") == found


@pytest.mark.parametrize(("name", "field", "value", "message"), DAMAGED, ids=lambda each: str(each)[:30])
def test_damaged_ones_are_refused_in_one_line(name, field, value, message):
    kind = type(example(name))
    with pytest.raises(DataError, match=message) as why:
        kind.from_dict({**example(name).to_dict(), field: value})
    assert "\n" not in str(why.value)


@pytest.mark.parametrize(("field", "value", "message"), ROWS, ids=str)
def test_a_plan_with_a_damaged_row_is_refused_in_one_line(field, value, message):
    data = copy.deepcopy(example("plan").to_dict())
    row = next(row for row in data["rows"] if row["aggregator"] == "confident")
    row[field] = value
    with pytest.raises(DataError, match=message) as why:
        LabelsPlan.from_dict(data)
    assert "\n" not in str(why.value)


@pytest.mark.parametrize("name", ["joint", "sanitized", "plan"])
def test_a_lacking_field_another_schema_and_no_object_are_refused(name):
    found = example(name)
    data = found.to_dict()
    for strange in (None, [], 3, {}, data | {"schema": "ogive.labels/1"}, data | {"schema": 1}):
        with pytest.raises(DataError, match=f"expected a JSON object of schema {found.schema}"):
            type(found).from_dict(strange)
    with pytest.raises(DataError, match="lacks the field 'delta'"):
        type(found).from_dict({field: value for field, value in data.items() if field != "delta"})
    with pytest.raises(DataError, match="NaN is not a number"):
        type(found).from_json(json.dumps(data | {"delta": float("nan")}))


def test_costs_below_zero_and_orders_that_do_not_increase_are_refused():
    data = example("joint").to_dict()
    with pytest.raises(DataError, match="numbers from 0, got -1"):
        PrivacyCost.from_dict(data | {"rdp": [-1.0, *data["rdp"][1:]]})
    with pytest.raises(DataError, match="orders must increase"):
        PrivacyCost.from_dict(data | {"orders": data["orders"][::-1]})


def test_what_follows_from_a_sanitized_cost_is_derived_and_not_believed():
    found = example("sanitized")
    forged = found.to_dict() | {"epsilon": 0.0, "upper_limit": 0.1, "statement": "Nothing was lost."}
    assert SanitizedCost.from_dict(forged).to_dict() == found.to_dict()


def test_the_largest_sanitized_cost_that_is_read_can_be_written():
    data = example("sanitized").to_dict() | {"rdp": 1e9, "log_sensitivity": 1e9, "scale": 1e9}
    again = SanitizedCost.from_dict(data)
    assert np.isfinite(again.upper_limit)
    assert SanitizedCost.from_json(again.to_json()) == again


def test_the_schema_of_a_cost_knows_what_may_be_published():
    for name, publishable in (("joint", True), ("independent", False)):
        with pytest.raises(jsonschema.ValidationError):
            fits(json.loads(example(name).to_json()) | {"publishable": publishable})


def test_to_price_loads_nothing_that_only_files_need():
    code = "import sys, ogive; ogive.pate.privacy_cost; print('ogive.statistics' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout == "False\n"
