import dataclasses
import importlib.metadata
import json

import pytest
from helpers.curves import PROVENANCE
from hypothesis import given
from hypothesis import strategies as st

from ogive.errors import ParameterError
from ogive.privacy import Adjacency, ApproxDP, PureDP, ZeroConcentratedDP
from ogive.provenance import Provenance

CLEAR = dataclasses.replace(PROVENANCE, trust="clear", privacy=None, price=None)


@pytest.mark.parametrize(
    "provenance",
    [
        PROVENANCE,
        CLEAR,
        dataclasses.replace(PROVENANCE, privacy=ApproxDP("1/7", "1e-6"), price=ZeroConcentratedDP("0.01"), total=12),
        dataclasses.replace(PROVENANCE, adjacency=Adjacency.ADD_OR_REMOVE, version="0.0.1"),
    ],
)
def test_plain_data_gives_the_same_provenance_back(provenance):
    assert Provenance.from_dict(json.loads(json.dumps(provenance.to_dict()))) == provenance


def test_the_library_version_is_recorded():
    assert PROVENANCE.version == importlib.metadata.version("ogive")


def test_words_name_the_guarantee_or_its_absence():
    assert str(CLEAR) == "not private: exact values"
    assert not CLEAR.private
    assert "epsilon = 4/3" in str(PROVENANCE)
    assert "one record replaced" in str(PROVENANCE)
    assert PROVENANCE.private


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"release_id": "Zebra"}, "hexadecimal"),
        ({"release_id": ""}, "hexadecimal"),
        ({"privacy": None}, "must state its privacy"),
        ({"price": None}, "must state its privacy"),
        ({"trust": "clear"}, "not private"),
        ({"trust": "clear", "price": None}, "not private"),
    ],
)
def test_contradictions_are_refused(changes, words):
    with pytest.raises(ParameterError, match=words):
        dataclasses.replace(PROVENANCE, **changes)


values = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.text(max_size=2), max_size=2)
values |= st.dictionaries(
    st.sampled_from(["type", "epsilon", "rho"]), st.sampled_from(["PureDP", "1/0", "1", "-1", "1e9"])
)


@given(st.sampled_from(sorted(PROVENANCE.to_dict())), values)
def test_any_field_gives_a_valid_provenance_or_a_refusal(name, value):
    data = {**PROVENANCE.to_dict(), name: value}
    try:
        read = Provenance.from_dict(data)
    except ParameterError:
        return
    assert Provenance.from_dict(read.to_dict()) == read


@pytest.mark.parametrize("name", sorted(PROVENANCE.to_dict()))
def test_a_missing_field_is_named(name):
    data = PROVENANCE.to_dict()
    del data[name]
    with pytest.raises(ParameterError, match=name):
        Provenance.from_dict(data)


def test_an_exact_number_that_fills_the_memory_is_refused():
    data = {**PROVENANCE.to_dict(), "price": {"type": "PureDP", "epsilon": "1e999999999"}}
    with pytest.raises(ParameterError, match="exact number"):
        Provenance.from_dict(data)
    assert Provenance.from_dict({**data, "price": PureDP("1/9").to_dict()}).price == PureDP("1/9")
