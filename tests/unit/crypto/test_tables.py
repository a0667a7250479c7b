"""Vectors shared among servers: shares add up, travel as bytes, and any other bytes are refused."""

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from helpers.verifying import STUDY, over_bytes, replayed
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.crypto import field
from ogive.crypto.domains import HashDomain, digest, number
from ogive.crypto.field import P
from ogive.crypto.tables import ShareBatch, ShareShape, amount_columns, expand, one_hot_columns, project, share
from ogive.errors import DataError, ParameterError, PeerError

SHAPE = ShareShape(columns=5, squares=2, products=1, verifications=3)
VALUES = np.random.default_rng(5).integers(-(2**40), 2**40, (5, 23))


def sums_of(batch):
    """What the batch adds up to over clients."""
    return batch.weighed(np.empty((0, batch.shape.columns), np.uint64))[1]


def shared(servers=3, shape=SHAPE, values=VALUES):
    return share(values, shape=shape, servers=servers, study=STUDY, random=replayed(3))


def added(shares):
    found = np.zeros_like(shares[0])
    for held in shares:
        found = field.sums(found, held)
    return found


def block_by_hand(seed, block):
    """One block of a seed, with nothing of ours but the digest."""
    encryptor = Cipher(
        algorithms.AES(digest(HashDomain.SHARE_BLOCK, STUDY, number(block), length=16)), modes.ECB()
    ).encryptor()
    plain = seed.astype("<u8").tobytes()
    hashed = bytes(a ^ b for a, b in zip(encryptor.update(plain), plain, strict=True))
    return [int.from_bytes(hashed[:8], "little") % P, int.from_bytes(hashed[8:], "little") % P]


def test_seeds_expand_block_by_block_as_specified():
    seeds = np.random.default_rng(1).integers(0, 2**64, (4, 2), dtype=np.uint64)
    found = expand(seeds, study=STUDY, first=7, count=3)
    by_hand = [[element for block in (7, 8, 9) for element in block_by_hand(seed, block)] for seed in seeds]
    assert found.T.tolist() == by_hand
    assert expand(seeds[:0], study=STUDY, first=0, count=2).shape == (4, 0)


def test_expanded_elements_are_uniform_and_studies_have_nothing_in_common():
    seeds = np.random.default_rng(2).integers(0, 2**64, (20_000, 2), dtype=np.uint64)
    found = expand(seeds, study=STUDY, first=0, count=2)
    for row in found:
        counts = np.bincount((row >> np.uint64(57)).astype(int), minlength=16)
        assert ((counts - 1250) ** 2 / 1250).sum() < 85, "chi-square with 15 degrees of freedom, level 1e-11"
    other = expand(seeds, study=bytes(32), first=0, count=2)
    assert not np.intersect1d(found, other).size


@pytest.mark.parametrize("servers", [2, 3, 5])
def test_shares_add_up_to_the_vectors(servers):
    batches = over_bytes(shared(servers))
    eye = np.eye(5, dtype=np.uint64)
    assert (field.decode(added([batch.project(eye) for batch in batches])) == VALUES).all()
    assert (field.decode(added([sums_of(batch) for batch in batches])) == VALUES.sum(1)).all()
    some = [batch[4:11] for batch in batches]
    assert (field.decode(added([sums_of(batch) for batch in some])) == VALUES[:, 4:11].sum(1)).all()
    assert (field.decode(added([batch.project(eye) for batch in some])) == VALUES[:, 4:11]).all()


@pytest.mark.parametrize("servers", [2, 3, 5])
def test_material_consists_of_squares_and_products(servers):
    batches = over_bytes(shared(servers))
    seen = []
    for verification in range(3):
        parts = [batch.material(verification) for batch in batches]
        a, c, x, y, z = (added(shares) for shares in zip(*parts, strict=True))
        assert a.shape == (2, 23)
        assert x.shape == (1, 23)
        assert (field.products(a, a) == c).all()
        assert (field.products(x, y) == z).all()
        seen += [*a.ravel().tolist(), *x.ravel().tolist(), *y.ravel().tolist()]
    assert len(set(seen)) == len(seen), "no element is used twice"


def test_columns_and_material_come_from_different_blocks():
    shape = ShareShape(columns=4, squares=1, products=2, verifications=2)
    blocks = [*range(shape.column_blocks)]
    for verification in range(2):
        blocks += [shape.material_block(verification) + block for block in range(shape.squares + 2 * shape.products)]
    assert blocks == list(range(len(blocks)))
    assert shape.explicit == 4 + 2 * 3


def test_linear_forms_of_many_tiles_agree_with_python():
    values = np.random.default_rng(6).integers(0, 2**61 - 1, (37, 8_123))
    shape = ShareShape(columns=37)
    weights = np.random.default_rng(7).integers(0, P, (3, 37), dtype=np.uint64)
    weights[1, 5:] = 0
    batches = shared(2, shape, values)
    chosen = [0, 1, 4_000, 7_999, 8_000, 8_122]
    found = added([batch.project(weights) for batch in batches])[:, chosen]
    assert found.tolist() == (weights.astype(object) @ values[:, chosen].astype(object) % P).tolist()


@pytest.mark.parametrize("columns", [0, 1, 63, 64, 65, 200])
def test_forms_do_not_depend_on_the_order_in_memory(columns):
    generator = np.random.default_rng(columns)
    values = generator.integers(0, P, (columns, 700), dtype=np.uint64)
    values[:, 0] = P - 1
    weights = generator.integers(0, P, (2, columns), dtype=np.uint64)
    weights[0] = P - 1
    by_column, by_client = project(values, weights), project(np.ascontiguousarray(values.T).T, weights)
    assert by_column.tolist() == by_client.tolist()
    assert by_column[:, :3].tolist() == (weights.astype(object) @ values[:, :3].astype(object) % P).tolist()


def test_sizes_are_sixteen_bytes_and_eight_for_every_explicit_element():
    batches = shared(3)
    assert [len(batch.to_bytes()) for batch in batches] == [52 + 23 * 16, 52 + 23 * 16, 52 + 23 * (16 + 8 * (5 + 9))]
    keys_only = shared(2, ShareShape(0, squares=1, verifications=16), np.zeros((0, 10)))
    assert [len(batch.to_bytes()) - 52 for batch in keys_only] == [160, 10 * 144]


def test_all_servers_find_one_digest_which_names_the_number_of_clients():
    whole, front = shared(2), shared(2, values=VALUES[:, :7])
    assert whole[0].shared_digest() == whole[1].shared_digest() != front[0].shared_digest()


@pytest.mark.parametrize("servers", [2, 3])
def test_pieces_are_all_bytes_of_every_client(servers):
    for batch in shared(servers):
        pieces = batch.pieces()
        for client in (0, 5, 22):
            told = b"".join(each[client].astype("<u8").tobytes() for each in pieces)
            assert batch[client : client + 1].to_bytes()[52:] == told
        chosen = np.array([22, 0, 5])
        for some, whole in zip(batch[chosen].pieces(), pieces, strict=True):
            assert np.array_equal(some, whole[chosen])


def test_cells_become_ones_and_amounts_stand_in_their_group():
    assert one_hot_columns(np.array([2, 0]), cells=3).tolist() == [[0, 1], [0, 0], [1, 0]]
    found = amount_columns(np.array([0, 3, 2]), np.array([5, 8, 7]), groups=2, bits=3)
    assert found.T.tolist() == [
        [1, 0, 0, 0, 5, 0, 1, 0, 1, 0],
        [0, 0, 0, 1, 0, 8, 1, 1, 1, 1],
        [0, 0, 1, 0, 7, 0, 1, 1, 1, 0],
    ]
    assert amount_columns(np.array([1]), np.array([0]), groups=2, bits=3).sum() == 1


@pytest.mark.parametrize(
    ("symbols", "amounts"), [([4], [0]), ([-1], [0]), ([0], [9]), ([0], [-1])], ids=["high", "low", "much", "negative"]
)
def test_refuses_what_no_record_is(symbols, amounts):
    with pytest.raises(DataError, match=r"must be from 0 to"):
        amount_columns(np.array(symbols), np.array(amounts), groups=2, bits=3)


@pytest.mark.parametrize("servers", [1, 256, True, 2.0])
def test_refuses_other_numbers_of_servers(servers):
    with pytest.raises(ParameterError, match="servers must be a whole number from 2 to 255"):
        shared(servers)


def test_refuses_arrays_and_shapes_that_do_not_fit():
    with pytest.raises(ParameterError, match=r"columns must have the shape \(5, clients\), got \(4, 2\)"):
        shared(values=np.zeros((4, 2)))
    with pytest.raises(ParameterError, match="squares must be a whole number from 0"):
        ShareShape(3, squares=-1)
    with pytest.raises(ParameterError, match="study must be a digest of 32 bytes"):
        share(VALUES, shape=SHAPE, servers=2, study=b"short")


def read(data, **changed):
    return ShareBatch.from_bytes(data, **{"shape": SHAPE, "study": STUDY, "server": 1, "servers": 2, **changed})


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"server": 0}, "server"),
        ({"servers": 3}, "number of servers"),
        ({"study": bytes(32)}, "study"),
        ({"shape": ShareShape(4, 2, 1, 3)}, "number of columns"),
        ({"shape": ShareShape(5, 1, 1, 3)}, "number of squares"),
        ({"shape": ShareShape(5, 2, 2, 3)}, "number of products"),
        ({"shape": ShareShape(5, 2, 1, 2)}, "number of verifications"),
    ],
)
def test_refuses_batches_that_belong_elsewhere(changed, named):
    with pytest.raises(PeerError, match=f"another {named} than expected"):
        read(shared(2)[1].to_bytes(), **changed)


def test_refuses_every_prefix_and_every_longer_batch():
    whole = shared(2, values=VALUES[:, :1])[1].to_bytes()
    for length in range(len(whole)):
        with pytest.raises(PeerError):
            read(whole[:length])
    with pytest.raises(PeerError, match="too long"):
        read(whole + b"\0")


def test_refuses_elements_that_are_not_below_the_modulus():
    data = bytearray(shared(2)[1].to_bytes())
    data[-8:] = P.to_bytes(8, "little")
    with pytest.raises(PeerError, match="not below"):
        read(bytes(data))
    data[-8:] = (P - 1).to_bytes(8, "little")
    assert len(read(bytes(data))) == 23


@settings(deadline=None)
@given(st.binary(max_size=300), st.integers(0, 52))
def test_any_bytes_are_read_or_refused(noise, kept):
    head = shared(2)[1].to_bytes()[:kept]
    try:
        batch = read(head + noise)
    except PeerError:
        return
    assert len(sums_of(batch)) == 5


def test_every_flipped_bit_is_refused_or_read_to_other_shares():
    whole = shared(2, values=VALUES[:, :2])[1].to_bytes()
    for place in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[place // 8] ^= 1 << place % 8
        try:
            found = read(bytes(changed))
        except PeerError:
            continue
        assert place >= 8 * 52, "no bit of the header can be another"
        assert found.to_bytes() == bytes(changed) != whole
