"""Batches of keys as bytes: any bytes are accepted, and then evaluated, or refused in one line."""

import json
import random

import numpy as np
import pytest
from vectors import make_comparison_keys

from ogive.crypto.comparison import KeyBatch, KeyShape, evaluate, evaluate_sums, generate
from ogive.errors import PeerError

VECTORS = json.loads(make_comparison_keys.FILE.read_text())
STUDY = bytes.fromhex(VECTORS["study"])
GROUPS = ("ring32", "ring64", "field")
CASES = [(KeyShape(group=each["group"], bits=each["bits"], early=each["early"]), each) for each in VECTORS["shapes"]]
SHAPES = [shape for shape, _ in CASES]
each_shape = pytest.mark.parametrize(("shape", "case"), CASES, ids=[str(shape) for shape in SHAPES])


def positive(case, server=0):
    return bytes.fromhex(case["servers"][server]["data"])


def read(data, shape, study=STUDY):
    """The batch that bytes are; None if they are refused, in one line."""
    try:
        batch = KeyBatch.from_bytes(data, shape=shape, study=study)
    except PeerError as error:
        message = str(error)
    else:
        assert batch.to_bytes() == data
        return batch
    assert "\n" not in message
    return None


def check_that_they_evaluate(batches):
    """Batches that were accepted evaluate."""
    for batch in batches:
        shape = batch.shape
        points = [0, shape.domain - 1]
        shares = evaluate(batch, points, server=1).astype(object)
        assert shares.shape == (len(batch), 2)
        assert (shares < shape.modulus).all()
        assert (shares.sum(axis=0) % shape.modulus == evaluate_sums(batch, points, server=1)).all()


@pytest.mark.parametrize("group", GROUPS)
def test_bytes_and_batches_are_each_others_inverse(group):
    shape = KeyShape(group=group, bits=16)
    payloads = np.random.default_rng(1).integers(0, shape.modulus - 1, 300, dtype=np.uint64)
    for batch in generate(np.arange(300), shape=shape, study=STUDY, payloads=payloads):
        again = KeyBatch.from_bytes(batch.to_bytes(), shape=shape, study=STUDY)
        for name in ("roots", "seeds", "values", "controls", "leaves"):
            assert np.array_equal(getattr(again, name), getattr(batch, name))
            assert getattr(again, name).dtype == getattr(batch, name).dtype
            assert getattr(again, name).flags.writeable


def test_vectors_are_what_their_script_writes():
    assert make_comparison_keys.make() == VECTORS


@each_shape
def test_keys_of_the_slow_implementation_are_read_and_have_its_shares(shape, case):
    for server in (0, 1):
        data = positive(case, server)
        batch = read(data, shape)
        check_that_they_evaluate([batch])
        found = evaluate(batch, np.arange(shape.domain), server=server)
        assert found.tolist() == case["servers"][server]["shares"]


@each_shape
def test_every_named_defect_is_refused(shape, case):
    for name, defect in case["defects"].items():
        data = bytes.fromhex(defect["data"])
        with pytest.raises(PeerError, match=defect["message"]):
            KeyBatch.from_bytes(data, shape=shape, study=STUDY)
        assert read(data, shape) is None, name


@each_shape
def test_every_prefix_is_refused(shape, case):
    data = positive(case)
    assert all(read(data[:length], shape) is None for length in range(len(data)))


@each_shape
def test_every_flipped_bit_is_refused_or_evaluates(shape, case):
    data = positive(case)
    accepted = []
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        batch = read(bytes(flipped), shape)
        assert batch is None or bit >= 8 * 44, "the header is the study's to its last bit"
        accepted += [] if batch is None else [batch]
    check_that_they_evaluate(accepted)


@pytest.mark.parametrize("group", GROUPS)
def test_random_bytes_are_refused_or_evaluate(group):
    shape, generator = KeyShape(group=group, bits=8), random.Random(1)
    data = generate([3, 200], shape=shape, study=STUDY)[0].to_bytes()
    outcomes = []
    for _ in range(1500):
        kind = generator.randrange(4)
        if kind == 0:
            tried = generator.randbytes(generator.randrange(600))
        elif kind == 1:  # the header of a batch, and anything
            tried = data[:44] + generator.randbytes(generator.choice([len(data) - 44, generator.randrange(900)]))
        elif kind == 2:
            cut = generator.randrange(len(data))
            tried = data[:cut] + generator.randbytes(generator.randrange(20)) + data[cut:]
        else:
            changed = bytearray(data)
            for _ in range(generator.randrange(1, 5)):
                changed[generator.randrange(44, len(data))] = generator.randrange(256)
            tried = bytes(changed)
        outcomes.append(read(tried, shape))
    accepted = [batch for batch in outcomes if batch is not None]
    assert 0 < len(accepted) < len(outcomes)
    check_that_they_evaluate(accepted)


@pytest.mark.parametrize("other", [b"", "text", None, bytearray(44), memoryview(bytes(44)), 44])
def test_what_is_no_bytes_is_refused(other):
    with pytest.raises(PeerError):
        KeyBatch.from_bytes(other, shape=SHAPES[0], study=STUDY)


def test_a_claim_of_many_keys_takes_no_memory():
    shape = KeyShape(group="ring32", bits=16)
    data = generate([3], shape=shape, study=STUDY)[0].to_bytes()
    huge = data[:8] + (2**32 - 1).to_bytes(4, "little") + data[12:]
    with pytest.raises(PeerError, match="4294967295 keys"):
        KeyBatch.from_bytes(huge, shape=shape, study=STUDY)
