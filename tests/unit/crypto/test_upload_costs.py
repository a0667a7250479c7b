"""What uploads cost: bytes as they are sent, blocks as they are walked, and a choice that follows the numbers."""

import numpy as np
import pytest
from helpers.comparison_oracle import blocks_to_evaluate

from ogive.crypto.comparison import KeyShape, generate
from ogive.crypto.tables import (
    HANDLED_BYTES_PER_SECOND,
    NAMED_PER_SECOND,
    ShareShape,
    blocks_at,
    one_hot_columns,
    share,
    upload_cost,
)

STUDY = bytes(32)
CLIENTS = 7


def upload_costs(cells, points, clients, servers, verified, *, verifications=16):
    """Every way of uploading that so many servers can serve, by name."""
    given = {"clients": clients, "servers": servers}
    once = ShareShape(0, squares=1, verifications=1) if verified else None
    costs = {"tables": upload_cost(tables=ShareShape(cells), material=once, **given)}
    if servers == 2:
        shape = KeyShape(group="field" if verified else "ring64", bits=(cells - 1).bit_length())
        material = ShareShape(0, squares=1, verifications=verifications) if verified else None
        costs["keys"] = upload_cost(keys=shape, points=min(points, cells - 1), material=material, **given)
    return costs


def per_client(encode):
    """Bytes that one more client adds to batches, without their headers."""
    few, many = encode(CLIENTS), encode(2 * CLIENTS)
    return [(len(b) - len(a)) // CLIENTS for a, b in zip(few, many, strict=True)]


def keys(clients, cells, group):
    shape = KeyShape(group=group, bits=(cells - 1).bit_length())
    return [batch.to_bytes() for batch in generate(np.zeros(clients, np.int64), shape=shape, study=STUDY)]


def tables(clients, cells, servers):
    columns = one_hot_columns(np.zeros(clients, np.int64), cells=cells)
    return [batch.to_bytes() for batch in share(columns, shape=ShareShape(cells), servers=servers, study=STUDY)]


def material(clients, servers, verifications):
    if not verifications:
        return [b""] * servers
    shape = ShareShape(0, squares=1, verifications=verifications)
    made = share(np.zeros((0, clients), np.int64), shape=shape, servers=servers, study=STUDY)
    return [batch.to_bytes() for batch in made]


@pytest.mark.parametrize("cells", [2, 5, 64, 1000])
@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("verifications", [0, 4])
def test_bytes_are_those_of_what_clients_send(cells, servers, verifications):
    costs = upload_costs(cells, 1, CLIENTS, servers, verifications > 0, verifications=max(1, verifications))
    exchanged = 2 * 8 * (servers - 1) if verifications else 0
    checks = {"keys": per_client(lambda clients: material(clients, servers, verifications))}
    checks["tables"] = per_client(lambda clients: material(clients, servers, min(1, verifications)))
    uploads = {"tables": per_client(lambda clients: tables(clients, cells, servers))}
    if servers == 2:
        uploads["keys"] = per_client(lambda clients: keys(clients, cells, "field" if verifications else "ring64"))
    assert uploads.keys() == costs.keys()
    for kind, sent in uploads.items():
        sent = [sum(both) for both in zip(sent, checks[kind], strict=True)]
        hashes, names = 32 * (servers - 1), 32 * (servers - 1)
        assert costs[kind].bytes_per_client == sum(sent) + servers * hashes
        assert costs[kind].bytes_per_server == CLIENTS * (max(sent) + hashes + names + exchanged)


@pytest.mark.parametrize("group", ["ring32", "field"])
@pytest.mark.parametrize("bits", [1, 2, 3, 6, 12])
def test_blocks_of_evenly_spread_points_are_those_that_are_walked(bits, group):
    shape = KeyShape(group=group, bits=bits)
    for points in {1, 2, 2**bits // 2, 2**bits} - {0}:
        spread = [number * 2**bits // points for number in range(points)]
        assert blocks_at(shape, points) == blocks_to_evaluate(shape, spread)
    for points in {3, 7, 100} & set(range(2**bits)):
        spread = [number * 2**bits // points for number in range(points)]
        assert blocks_at(shape, points) == pytest.approx(blocks_to_evaluate(shape, spread), rel=0.03, abs=1)


def test_points_make_keys_dearer_and_leave_tables_as_they_are():
    few, many = (upload_costs(4096, points, 100, 2, True) for points in (5, 500))
    assert many["keys"].seconds - many["keys"].once > 10 * (few["keys"].seconds - few["keys"].once)
    assert many["keys"].once == few["keys"].once
    assert many["keys"].bytes_per_client == few["keys"].bytes_per_client
    assert many["tables"] == few["tables"]
    assert upload_costs(4096, 4095, 100, 2, True) == upload_costs(4096, 10**9, 100, 2, True)


def test_costs_grow_with_clients_alone_as_they_do():
    for one, many in zip(
        upload_costs(64, 10, 1, 2, True).values(), upload_costs(64, 10, 1000, 2, True).values(), strict=True
    ):
        assert one.bytes_per_client == many.bytes_per_client
        assert many.bytes_per_server == 1000 * one.bytes_per_server
        assert many.seconds == pytest.approx(1000 * one.seconds)
        assert many.once == pytest.approx(1000 * one.once)


def test_what_is_received_is_handled_once_and_computed_with_for_every_answer():
    for cost in upload_costs(1024, 10, 1000, 2, True).values():
        assert cost.once < cost.seconds
        assert cost.once == pytest.approx(cost.bytes_per_server / HANDLED_BYTES_PER_SECOND + 1000 / NAMED_PER_SECOND)


def test_checking_costs_time():
    for plain, checked in zip(
        upload_costs(64, 10, 1, 2, False).values(), upload_costs(64, 10, 1, 2, True).values(), strict=True
    ):
        assert checked.seconds > plain.seconds
