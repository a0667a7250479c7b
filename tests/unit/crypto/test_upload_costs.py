"""What uploads cost: sizes and blocks of the specification, and a choice that follows the numbers."""

import pytest

from ogive.crypto.upload_costs import BYTES_PER_SECOND, blocks_of_key, cheapest_upload, key_bytes, upload_costs
from ogive.errors import ParameterError


def test_a_key_of_16_bits_has_the_specified_size():
    assert key_bytes(16) == 398


def distinct_blocks(bits, points):
    """Blocks one by one: every node that some point's path visits, for points that are evenly spread."""
    early = min(2, bits - 1)
    wanted = [number * 2**bits // points for number in range(points)]
    visited = {(level, point >> (bits - level)) for point in wanted for level in range(bits - early + 1)}
    below = sum(1 for level, _ in visited if level > 0)  # one block for the seed of every node but the root
    inner = sum(1 for level, _ in visited if level < bits - early)  # and one for the value of every inner node
    leaves = {(point >> early, point % 2**early // 2) for point in wanted}
    return below + inner + len(leaves)


@pytest.mark.parametrize("bits", [1, 2, 3, 6, 10])
def test_blocks_are_those_of_the_nodes_that_are_visited(bits):
    for points in {1, 2, 2**bits // 2, 2**bits} - {0}:
        assert blocks_of_key(bits, points) == distinct_blocks(bits, points)


def test_blocks_of_points_that_are_no_power_of_two_are_within_a_few_of_the_nodes_visited():
    for points in (3, 7, 100, 1000):
        assert blocks_of_key(16, points) == pytest.approx(distinct_blocks(16, points), rel=0.02)


def test_few_cells_are_shared_as_a_table_and_many_as_keys():
    assert cheapest_upload(4, 3, 10**6, 2, True).kind == "tables"
    assert cheapest_upload(2**16, 100, 10**6, 2, True).kind == "keys"
    assert cheapest_upload(2**16, 2**16 - 1, 10**6, 2, True).kind == "keys"


def test_the_choice_is_the_one_that_takes_less_time_at_every_size():
    for bits in range(1, 17):
        for points in {1, 2**bits - 1}:
            both = upload_costs(2**bits, points, 1000, 2, False)
            assert {each.kind for each in both} == {"keys", "tables"}
            times = {each.kind: each.seconds + each.bytes_per_server / BYTES_PER_SECOND for each in both}
            chosen = cheapest_upload(2**bits, points, 1000, 2, False)
            assert times[chosen.kind] == min(times.values())
            assert chosen.elapsed == times[chosen.kind]


def test_three_servers_are_offered_tables_alone():
    (only,) = upload_costs(1024, 100, 10, 3, True)
    assert only.kind == "tables"
    assert only == cheapest_upload(1024, 100, 10, 3, True)


def test_bytes_of_a_client_and_a_server_add_up():
    keys, tables = upload_costs(1024, 1023, 10, 2, False)
    assert keys.bytes_per_client == 2 * (16 + 8 * 25 + 32)
    assert keys.bytes_per_server == 10 * keys.bytes_per_client // 2
    assert tables.bytes_per_client == 16 + 8 * 1024
    assert tables.bytes_per_server == 10 * 8 * 1024
    checked_keys, checked_tables = upload_costs(1024, 1023, 10, 2, True, verifications=4)
    for plain, checked in ((keys, checked_keys), (tables, checked_tables)):
        assert checked.bytes_per_client - plain.bytes_per_client == 16 + 4 * 16
        assert checked.bytes_per_server - plain.bytes_per_server == 10 * (4 * 16 + 2 * 8)
        assert checked.seconds > plain.seconds


def test_costs_grow_with_clients_alone_as_they_do():
    for one, many in zip(upload_costs(64, 10, 1, 2, True), upload_costs(64, 10, 1000, 2, True), strict=True):
        assert one.bytes_per_client == many.bytes_per_client
        assert many.bytes_per_server == 1000 * one.bytes_per_server
        assert many.seconds == pytest.approx(1000 * one.seconds)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1, 1, 2), "cells must be a whole number of at least 2, got 1"),
        ((2, 0, 1, 2), "points must be a whole number of at least 1, got 0"),
        ((2, 1, 0, 2), "clients must be"),
        ((2, 1, 1, 1), "servers must be a whole number of at least 2"),
        ((2, 1, 1.5, 2), "clients must be a whole number of at least 1, got 1.5"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(arguments, message):
    with pytest.raises(ParameterError, match=message):
        upload_costs(*arguments, True)
