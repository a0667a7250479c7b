"""Prices of Gaussian noise in plans."""

import json
from importlib.resources import files

import jsonschema
import pytest

import ogive
from ogive.errors import DataError
from ogive.privacy import GaussianDP, PureDP

SCHEMA = json.loads((files("ogive") / "schemas" / "plan-1.schema.json").read_text())
LOSS = GaussianDP("1/25", "1/70000000000000")


@pytest.fixture(scope="module")
def plain():
    plan = ogive.plan(ogive.Ecdf("x", (0, 100), bins=4, method="path"), privacy=PureDP(1), records=1000, runs=2)
    return plan.to_dict()


def test_a_gaussian_price_is_read_shown_and_written_exactly(plain):
    plain = {**plain, "rows": [{**plain["rows"][0], "price": LOSS.to_dict()}]}
    jsonschema.validate(plain, SCHEMA)
    plan = ogive.Plan.from_dict(plain)
    assert plan.rows[0].price == LOSS
    assert plan.to_dict() == plain
    assert "mu = 0.2 (Gaussian DP)" in str(plan)


def test_a_gaussian_loss_is_nothing_to_grant(plain):
    plain = {**plain, "rows": [{**plain["rows"][0], "privacy": LOSS.to_dict()}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(plain, SCHEMA)
    with pytest.raises(DataError, match="the privacy of a plan's row must be a guarantee, and GaussianDP is none"):
        ogive.Plan.from_dict(plain)


def test_a_price_with_a_delta_of_its_own_is_read_and_written_exactly(plain):
    price = {"type": "ApproxDP", "epsilon": "1", "delta": "1/1000000"}
    plain = {**plain, "rows": [{**plain["rows"][0], "privacy": price, "price": price}]}
    jsonschema.validate(plain, SCHEMA)
    assert ogive.Plan.from_dict(plain).to_dict() == plain


@pytest.mark.parametrize(
    "price",
    [
        {"type": "GaussianDP", "mu_squared": "1"},
        {"type": "GaussianDP", "mu_squared": 1, "distance": "0"},
        {"type": "GaussianDP", "mu_squared": "1e9", "distance": "0"},
        {"type": "GaussianDP", "mu_squared": "1", "distance": "1"},
    ],
    ids=["lacking", "number", "exponent", "distance"],
)
def test_a_wrong_price_is_refused(plain, price):
    with pytest.raises(ogive.OgiveError):
        ogive.Plan.from_dict({**plain, "rows": [{**plain["rows"][0], "price": price}]})
