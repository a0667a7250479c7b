"""What keys of a study have in common: sizes, and how many blocks they cost."""

import numpy as np
import pytest
from helpers.comparison_oracle import blocks_to_evaluate, blocks_to_generate

from ogive.crypto.comparison import KeyShape, evaluate, evaluate_sums, generate
from ogive.crypto.comparison import evaluation as walking_module
from ogive.crypto.comparison import keys as keys_module
from ogive.errors import ParameterError

STUDY = bytes(32)
SHAPES = [
    KeyShape(group=group, bits=bits, early=early)
    for group in ("ring32", "ring64", "field")
    for bits, early in ((1, 0), (1, 1), (4, 0), (6, 2), (7, 3), (9, 4), (6, 6))
]


@pytest.mark.parametrize(
    ("group", "bits", "size"), [("ring32", 16, 321), ("ring64", 16, 398), ("field", 16, 398), ("ring32", 32, 657)]
)
def test_a_key_has_the_stated_size(group, bits, size):
    shape = KeyShape(group=group, bits=bits)
    assert shape.key_bytes == size
    for count in (0, 1, 5):
        key, _ = generate(np.zeros(count, int), shape=shape, study=STUDY)
        assert len(key.to_bytes()) == 44 + count * size


@pytest.mark.parametrize("group", ["ring32", "ring64", "field"])
@pytest.mark.parametrize("bits", range(1, 41))
def test_keys_end_as_early_as_makes_them_shortest(group, bits):
    sizes = [KeyShape(group=group, bits=bits, early=early).key_bytes for early in range(min(bits - 1, 5) + 1)]
    assert KeyShape(group=group, bits=bits).key_bytes == min(sizes)


def test_blocks_are_those_of_the_formulas():
    shape = KeyShape(group="ring32", bits=16)
    assert blocks_to_generate(shape) == 82
    assert blocks_to_evaluate(shape, [40_000]) == 27
    assert blocks_to_evaluate(shape, np.arange(1 << 16)) == 40_957
    evenly = (np.arange(1, 101) * 65_536) // 101
    assert blocks_to_evaluate(shape, evenly) == 1_653
    assert sum(blocks_to_evaluate(shape, [point]) for point in evenly.tolist()) == 2_700
    assert blocks_to_evaluate(KeyShape(group="ring64", bits=16), [7]) == 29


class Counted(keys_module.Permutation):
    """AES that counts its blocks."""

    blocks = 0

    def encrypt(self, blocks, out):
        Counted.blocks += blocks.words.size // 2
        super().encrypt(blocks, out)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_no_more_blocks_are_encrypted_than_the_formulas_say(shape, monkeypatch):
    monkeypatch.setattr(keys_module, "Permutation", Counted)
    clients = 3
    Counted.blocks = 0
    key, _ = generate(np.zeros(clients, int), shape=shape, study=STUDY)
    assert Counted.blocks == clients * blocks_to_generate(shape)
    generator = np.random.default_rng(shape.bits)
    for count in {1, 2, min(5, shape.domain), shape.domain}:
        points = generator.choice(shape.domain, count, replace=False)
        for function in (evaluate, evaluate_sums):
            Counted.blocks = 0
            function(key, points, server=0)
            assert Counted.blocks == clients * blocks_to_evaluate(shape, points)


def test_memory_of_a_walk_does_not_depend_on_the_number_of_points(monkeypatch):
    held: list[int] = []

    class Noted(walking_module.Blocks):
        def __init__(self, count):
            held.append(count)
            super().__init__(count)

    monkeypatch.setattr(walking_module, "Blocks", Noted)
    key, _ = generate(np.zeros(10, int), shape=KeyShape(group="ring32", bits=12), study=STUDY)
    used = []
    for points in ([5], np.arange(1 << 12)):
        held.clear()
        evaluate_sums(key, points, server=0, threads=1)
        used.append(sum(held))
    assert used[0] == used[1] <= 10 * (12 + 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"group": "ring16"}, "group must be one of ring32, ring64, field"),
        ({"bits": 0}, "bits must be"),
        ({"bits": 41}, "bits must be"),
        ({"bits": 2.0}, "bits must be"),
        ({"bits": True}, "bits must be"),
        ({"early": 6}, "early must be a whole number from 0 to 5"),
        ({"early": -1}, "early must be"),
        ({"early": "2"}, "early must be"),
        ({"bits": 40, "early": 13}, "early must be a whole number from 0 to 12"),
    ],
)
def test_shapes_out_of_range_are_refused(change, message):
    with pytest.raises(ParameterError, match=message):
        KeyShape(**{"group": "ring32", "bits": 5, **change})
