"""Stored running totals that are well-formed and absurd: each opens right or is refused in one documented way."""

import hashlib
import json
import tracemalloc
from functools import cache

import numpy as np
import pytest
from helpers import absurd
from helpers.scope import size
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ogive.errors import ParameterError, ReleaseMismatchError
from ogive.noise import KeyedSource
from ogive.privacy import PureDP, ZeroConcentratedDP
from ogive.streams import RunningTotal

STEPS, TAKEN = 40, 21
METHODS = ("path", "tree", "sqrt", "hats", "sqrt_ahead")


def options_of(method):
    return {
        "privacy": PureDP(1) if method in ("path", "hats") else ZeroConcentratedDP("0.5"),
        "bound": 5,
        "low": -2,
        "method": method,
    }


@cache
def content_of(method):
    """What a stream stores; who changes it makes a copy."""
    stream = RunningTotal(STEPS, source=KeyedSource.from_seed(3), **options_of(method))
    stream.add_many(np.random.default_rng(5).integers(-2, 6, size=TAKEN))
    return json.loads(stream.to_bytes().partition(b"\n")[2])


def packed(content):
    """Bytes whose checksum is right, whatever the content."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def opened(data, method):
    """The stream of some bytes, or None where they are refused as documented; it answers with numbers."""
    try:
        stream, said = RunningTotal.from_bytes(data, STEPS, **options_of(method)), ""
    except (ParameterError, ReleaseMismatchError) as refusal:
        stream, said = None, str(refusal)
    assert len(said.splitlines()) < 2
    assert len(said) < 300
    if stream is None:
        return None
    assert type(stream.taken) is int
    assert 0 <= stream.taken <= STEPS
    rest = STEPS - stream.taken
    assert np.isfinite(stream.add_many(np.ones(rest))).all()
    return stream


@pytest.mark.parametrize("method", METHODS)
def test_every_absurd_value_in_every_field_is_refused_or_opens_right(method):
    content = content_of(method)
    # the control: what was stored opens, and so does nothing that lacks a field
    assert opened(packed(content), method).taken == STEPS
    few = size(2, part=1) == 1  # each field meets a sixth of the values, its neighbor others
    for number, path in enumerate(absurd.paths(content)):
        for value in absurd.VALUES[number % 6 :: 6] if few else absurd.VALUES:
            opened(packed(absurd.replaced(content, path, value)), method)
        if path:
            assert opened(packed(absurd.without(content, path)), method) is None, path


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("taken",), TAKEN + 0.0),
        (("taken",), True),
        (("taken",), -1),
        (("taken",), STEPS + 1),
        (("total",), "7"),
        (("total",), 5 * TAKEN + 1),
        (("total",), -2 * TAKEN - 1),
        (("key",), "f" * 62),
        (("key",), " " + "f" * 64),
        (("key",), None),
        (("parameters",), []),
        (("parameters", "steps"), float(STEPS)),
        (("parameters", "more"), 1),
        (("engine",), []),
        (("engine", "more"), 1),
    ],
)
def test_absurd_fields_are_refused(method, path, value):
    assert opened(packed(absurd.replaced(content_of(method), path, value)), method) is None


@pytest.mark.parametrize(
    ("method", "path", "value"),
    [
        ("tree", ("engine", "starts"), []),
        ("tree", ("engine", "starts", 0), 1 << 70),
        ("tree", ("engine", "starts", 0), 0.0),
        ("tree", ("engine", "starts", 0), 4000),
        ("tree", ("engine", "starts", -1), 4000),
        ("tree", ("engine", "estimates", 0), 1e308),
        ("tree", ("engine", "estimates", 0), "0"),
        ("tree", ("engine", "estimates"), {}),
        ("sqrt", ("engine", "elements"), []),
        ("sqrt", ("engine", "elements", 0), 6),
        ("sqrt", ("engine", "elements", 0), True),
        ("sqrt", ("engine", "published", 0), 1 << 63),
        ("sqrt", ("engine", "published", 0), 0.0),
        ("sqrt", ("engine", "published"), [0] * (TAKEN + 1)),
    ],
)
def test_absurd_states_of_a_method_are_refused(method, path, value):
    assert opened(packed(absurd.replaced(content_of(method), path, value)), method) is None


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"1" * 5000,
        b'{"format": NaN}',
        b'{"format": "ogive running total 1"}',
    ],
    ids=["empty", "open", "no text", "deep list", "deep object", "long number", "nan", "format alone"],
)
def test_bodies_that_are_no_state_are_refused(method, body):
    assert opened(packed(body), method) is None


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400", "9" * 5000])
@pytest.mark.parametrize("field", ['"taken": 21', '"total": '])
def test_words_that_json_does_not_have_are_refused(word, field):
    body = packed(content_of("tree")).partition(b"\n")[2].decode()
    name = field.split(":")[0]
    start = body.index(name)
    end = body.index(",", start)
    assert opened(packed(f"{body[:start]}{name}: {word}{body[end:]}".encode()), "tree") is None


SINGLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=70)
JSON_VALUES = st.recursive(
    SINGLE | st.sampled_from(absurd.VALUES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=size(600, part=200), derandomize=True, deadline=None, database=None)
@given(method=st.sampled_from(METHODS), data=st.data())
def test_any_values_in_any_fields_open_right_or_are_refused(method, data):
    content = content_of(method)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(absurd.paths(content))))
        content = absurd.replaced(content, path, data.draw(JSON_VALUES))
        if not isinstance(content, dict):
            break
    opened(packed(content), method)


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
@given(data=st.binary(max_size=200))
@example(b"\n")
def test_any_bytes_are_refused(data):
    assert opened(data, "tree") is None
    assert opened(packed(data), "tree") is None


@pytest.mark.parametrize("data", [None, "text", 7, [1]])
def test_what_is_no_bytes_is_refused(data):
    with pytest.raises(ParameterError, match="bytes"):
        RunningTotal.from_bytes(data, STEPS, **options_of("tree"))


def test_sizes_that_are_only_declared_take_no_memory():
    content = content_of("sqrt")
    tracemalloc.start()
    for path in (("taken",), ("total",), ("parameters", "steps"), ("engine", "elements"), ("engine", "published")):
        assert opened(packed(absurd.replaced(content, path, 1 << 50)), "sqrt") is None
    assert tracemalloc.get_traced_memory()[1] < 10 << 20
    tracemalloc.stop()
