"""What a description of a subset is charged, and groups that are found whose texts are unusual."""

import pytest

from ogive import Adjacency, ApproxDP, Central, Describe, Grouped, Ledger, Mean, Subset, release
from ogive.accounting import as_concentrated
from ogive.privacy import PrivacyUnit

TABLE = {"g": ["a", "b"] * 300, **{name: [0, 1, 2] * 200 for name in "uvwt"}}
GRANTED = ApproxDP("0.5", "0.01")


@pytest.mark.parametrize("where", [None, "g == 'a'"], ids=["everyone", "subset"])
def test_an_account_is_charged_what_a_description_costs(tmp_path, where):
    """Of a subset replaced records cost more rho than the guarantee implies, within the exact delta of its noise."""
    asked = Describe(values=dict.fromkeys("uvwt", (0, 1, 2)))
    account = Ledger.open(tmp_path / "ledger.db").account("table", unit=PrivacyUnit(Adjacency.REPLACE))
    found = release(
        asked if where is None else Subset(asked, where), trust=Central(TABLE), privacy=GRANTED, ledger=account
    )
    (entry,) = account.history
    assert as_concentrated(entry.charge).rho >= as_concentrated(found.provenance.price).rho


@pytest.mark.parametrize(
    ("texts", "groups"),
    [((" ", "b"), (" ", "b")), (("NA", "b"), ("NA", "b")), (("a\nb", "b"), ("b",))],
    ids=["blank", "word for missing", "two lines"],
)
def test_no_text_that_groups_have_ends_a_release_that_was_paid(texts, groups):
    table = {"g": list(texts) * 200, "u": [0, 1] * 200}
    found = release(Grouped(Mean("u", (0, 1)), "g"), trust=Central(table), privacy=ApproxDP(50, "0.001"))
    assert found.groups == groups
