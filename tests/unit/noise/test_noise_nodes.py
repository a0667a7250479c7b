"""Node noise, derived and stored: the same number at every request, and another for everything else."""

import os
import threading

import numpy as np
import pytest

from ogive.core import compiling
from ogive.errors import DataError, ParameterError, ReleaseMismatchError
from ogive.noise import (
    DerivedNodes,
    DiscreteGaussian,
    DiscreteLaplace,
    Geometric,
    KeyedSource,
    Polya,
    Skellam,
    StoredNodes,
    SystemSource,
)
from ogive.noise import source as nodes

KEY = bytes(range(32))
LAW = DiscreteLaplace("12.5")
LAWS = [LAW, DiscreteLaplace("0.3"), DiscreteGaussian(40), Geometric("7/2"), Polya(30, "1/7"), Skellam("5/3")]


def derived():
    return DerivedNodes(KEY, b"context")


def stored():
    return StoredNodes(KeyedSource(KEY), b"context")


@pytest.fixture(params=[derived, stored], ids=["derived", "stored"])
def noise(request):
    return request.param()


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_node_noise_depends_neither_on_order_nor_on_what_else_is_asked(noise, law):
    whole = noise.values(law, 2, np.arange(3000))
    order = np.random.default_rng(1).permutation(3000)
    assert np.array_equal(noise.values(law, 2, order), whole[order])
    assert np.array_equal(noise.values(law, 2, np.array([[7, 2999], [7, 0]])), whole[[[7, 2999], [7, 0]]])
    assert noise.values(law, 2, np.array([], np.int64)).shape == (0,)
    assert np.ptp(whole) > 0


def test_levels_have_independent_noise(noise):
    first, second = (noise.values(LAW, level, np.arange(20_000)) for level in (0, 1))
    # the standard deviation of a correlation of independent samples is 1/sqrt(20000); level: 6 of them
    assert abs(np.corrcoef(first, second)[0, 1]) < 6 / np.sqrt(20_000)
    assert abs(np.corrcoef(first, first)[0, 1]) > 6 / np.sqrt(20_000)


def test_neighboring_nodes_have_independent_noise():
    drawn = derived().values(LAW, 0, np.arange(20_001))
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 6 / np.sqrt(20_000)


@pytest.mark.parametrize("other", [DerivedNodes(KEY, b"other"), DerivedNodes(KEY[::-1], b"context")])
def test_other_contexts_and_keys_give_independent_noise(other):
    first, second = (source.values(LAW, 0, np.arange(20_000)) for source in (derived(), other))
    assert abs(np.corrcoef(first, second)[0, 1]) < 6 / np.sqrt(20_000)


@pytest.mark.parametrize("scale", ["12.5000001", "25"])
def test_laws_that_differ_only_in_scale_share_no_randomness(scale):
    first = derived().values(LAW, 0, np.arange(20_000))
    second = derived().values(DiscreteLaplace(scale), 0, np.arange(20_000))
    assert abs(np.corrcoef(first, second)[0, 1]) < 6 / np.sqrt(20_000)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_value_does_not_depend_on_how_many_blocks_are_produced_at_first(law):
    wanted, node_noise = np.arange(500), derived()
    whole = node_noise.values(law, 3, wanted)
    for blocks in (1, 2, 64):
        few = nodes._draw_nodes(law, node_noise._ciphers[law].encryptor(), 3, wanted, blocks)
        assert np.array_equal(few, whole)


def test_no_two_blocks_of_plain_text_are_equal():
    plain = [nodes._encode_blocks(np.arange(50), level, 8).reshape(-1, 2) for level in (0, 1, 2, 2**31 - 1)]
    assert len({tuple(block) for block in np.concatenate(plain).tolist()}) == 4 * 50 * 8


def test_bytes_resume_the_same_noise_and_refuse_another_context():
    data = derived().to_bytes()
    again = DerivedNodes.from_bytes(data, b"context")
    assert np.array_equal(again.values(LAW, 1, np.arange(9)), derived().values(LAW, 1, np.arange(9)))
    with pytest.raises(ReleaseMismatchError, match="other data, grid, strategy or adjacency"):
        DerivedNodes.from_bytes(data, b"context of other data")
    for damaged in (data[:-1], b"", data[:20] + bytes([data[20] ^ 1]) + data[21:]):
        with pytest.raises(ParameterError, match="damaged"):
            DerivedNodes.from_bytes(damaged, b"context")


def test_file_resumes_the_same_noise_in_another_process_or_after_a_crash(tmp_path):
    path = tmp_path / "nodes.db"
    first = StoredNodes(SystemSource(), b"context", path)
    drawn = first.values(LAW, 0, np.arange(50))
    # what the first has not committed would be invisible to the second
    second = StoredNodes(SystemSource(), b"context", path)
    assert np.array_equal(second.values(LAW, 0, np.arange(20, 80))[:30], drawn[20:])
    first.close()
    second.close()


def test_file_refuses_another_context_another_law_and_other_files(tmp_path):
    path = tmp_path / "nodes.db"
    noise = StoredNodes(SystemSource(), b"context", path)
    drawn = noise.values(LAW, 0, np.arange(3))
    with pytest.raises(ReleaseMismatchError, match="other data, grid"):
        StoredNodes(SystemSource(), b"context of other data", path)
    with pytest.raises(ReleaseMismatchError, match="node 2 of level 0"):
        noise.values(DiscreteGaussian(3), 0, np.array([900, 2]))
    # the refused request left nothing behind
    assert noise.values(LAW, 0, np.array([900])).shape == (1,)
    assert np.array_equal(noise.values(LAW, 0, np.arange(3)), drawn)
    noise.close()
    text = tmp_path / "text.db"
    text.write_text("not a database, but long enough to be looked at by its reader" * 20)
    with pytest.raises(DataError, match="not a file of node noise"):
        StoredNodes(SystemSource(), b"context", text)


def test_threads_that_ask_for_the_same_nodes_get_the_same_values(tmp_path):
    noise = StoredNodes(SystemSource(), b"context", tmp_path / "nodes.db")
    answers = []
    asking = [
        threading.Thread(target=lambda: answers.append(noise.values(LAW, 0, np.arange(200)).tolist())) for _ in range(4)
    ]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    noise.close()
    assert len(answers) == 4
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize(
    ("level", "which", "message"),
    [(-1, [0], "level"), (1.0, [0], "level"), (True, [0], "level"), (0, [-1], "from 0"), (0, [0.5], "integers")],
)
def test_node_noise_refuses_what_is_no_node(noise, level, which, message):
    with pytest.raises(ParameterError, match=message):
        noise.values(LAW, level, np.array(which))


@pytest.mark.parametrize("key", [b"short", bytes(33), "x" * 32])
def test_refuses_keys_of_wrong_length_or_kind(key):
    with pytest.raises(ParameterError, match="32 bytes"):
        DerivedNodes(key, b"context")


def test_refuses_a_context_that_is_not_bytes():
    with pytest.raises(ParameterError, match="context must be bytes"):
        DerivedNodes(KEY, "context")
    with pytest.raises(ParameterError, match="context must be bytes"):
        StoredNodes(SystemSource(), "context")


def test_derived_noise_is_the_same_in_a_forked_child():
    wanted = derived().values(LAW, 0, np.arange(10))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, derived().values(LAW, 0, np.arange(10)).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 80) == wanted.tobytes()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
def test_a_level_is_the_same_in_every_type_of_integer(noise, kind, monkeypatch):
    monkeypatch.setattr(compiling, "PLAIN_STEPS", 1 << 62)
    monkeypatch.delitem(nodes._encode_blocks.__dict__, "compiled", raising=False)
    numbers, levels = np.arange(6), (0, 3, 100)
    values = [noise.values(DiscreteLaplace(1e6), level, numbers).tolist() for level in levels]
    assert [
        noise.values(DiscreteLaplace(1e6), kind(level), numbers.astype(kind)).tolist() for level in levels
    ] == values
    assert len({tuple(row) for row in values}) == len(levels)
