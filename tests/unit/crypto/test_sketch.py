"""Verification among servers: honest clients pass, false ones do not, and messages come in turn or are refused."""

import numpy as np
import pytest
from helpers.verifying import (
    SESSION,
    STUDY,
    amount_sketch,
    block_sums,
    bodies,
    check_servers,
    over_bytes,
    projection_of,
    replayed,
    route,
    run,
    sketch,
    split,
    step_differences,
    verifiers,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from ogive.crypto import field
from ogive.crypto.field import P
from ogive.crypto.sketch import AmountClaim, CellClaim, StepClaim, uniform_elements
from ogive.crypto.tables import ShareShape, amount_columns, one_hot_columns, share
from ogive.errors import ParameterError, PeerError, UnsupportedError
from ogive.trust.servers.uploads import most_rejected

POINTS = np.array([1, 4, 6])
ENDS = np.array([2, 3, 7])
AMOUNTS = AmountClaim(groups=3, bits=5)


def upload(columns, claim, *, servers=2, verifications=1, seed=1):
    shape = ShareShape(len(columns), claim.squares, claim.products, verifications)
    return share(columns, shape=shape, servers=servers, study=STUDY, random=replayed(seed))


def steps_of(alphas, heights):
    return (POINTS[:, np.newaxis] < alphas) * heights


def check_steps(columns, claim, *, servers=2, seed=1, **changed):
    """Shares of values at points, as keys would give them, and material on its own."""
    shares = split(columns, servers, seed)
    batches = over_bytes(upload(np.zeros((0, columns.shape[1])), claim, servers=servers, seed=seed))
    return check_servers(claim, batches, [projection_of(held) for held in shares], **changed)


@pytest.mark.parametrize("servers", [2, 3, 5])
def test_honest_steps_are_accepted(servers):
    alphas = np.repeat(np.arange(8), 2)
    heights = np.tile([0, 1], 8)
    accepted, _ = check_steps(steps_of(alphas, 1), StepClaim(POINTS), servers=servers)
    assert accepted.all()
    private = StepClaim(POINTS, private_height=True)
    accepted, _ = check_steps(np.vstack([heights, steps_of(alphas, heights)]), private, servers=servers)
    assert accepted.all()


@pytest.mark.parametrize("servers", [2, 3, 5])
def test_a_hundred_thousand_honest_clients_are_accepted(servers):
    generator = np.random.default_rng(servers)
    cells = generator.integers(0, 8, 100_000)
    claim = CellClaim(ENDS)
    batches = upload(one_hot_columns(cells, cells=8), claim, servers=servers)
    assert check_servers(claim, batches)[0].all()


@pytest.mark.parametrize("servers", [2, 3, 5])
def test_honest_amounts_are_accepted_whatever_they_are(servers):
    symbols, amounts = (found.ravel() for found in np.meshgrid(np.arange(6), np.arange(33)))
    columns = amount_columns(symbols, amounts, groups=3, bits=5)
    assert check_servers(AMOUNTS, over_bytes(upload(columns, AMOUNTS, servers=servers)))[0].all()
    nowhere = np.zeros((len(columns), 1))
    assert check_servers(AMOUNTS, upload(nowhere, AMOUNTS, servers=servers))[0].all()


def test_a_record_that_counts_nowhere_is_accepted_where_cells_are_shared():
    claim = CellClaim(ENDS)
    assert check_servers(claim, upload(np.zeros((8, 4)), claim))[0].all()


def test_nothing_is_proved_of_what_happens_within_a_block():
    columns = np.array([[5, -4, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 2, -2, 1, 0]]).T
    coarse, fine = CellClaim(ENDS), CellClaim(np.arange(8))
    batches = upload(columns, coarse, verifications=2)
    servers = verifiers(batches)
    projects = [batch.project for batch in batches]
    assert run([server.check(coarse) for server in servers], projects)[0].all()
    assert not run([server.check(fine) for server in servers], projects)[0].any()


HALF = (P + 1) // 2
WRONG_STEPS = {
    "down and up": (1, [0, 1, 0]),
    "up at the end": (1, [0, 0, 1]),
    "too high": (1, [2, 1, 0]),
    "a five": (1, [5, 0, 0]),
    "fifty": (1, [1, 1, 50]),
    "negative steps": (1, [P - 1, P - 1, 0]),
    "a half": (1, [HALF, 0, 0]),
    "half of the modulus": (1, [1, (P - 1) // 2, 0]),
    "two bits of 2^60": (1, [1 + 2**60, 2**60, 0]),
    "height of two": (2, [2, 2, 0]),
    "height below the values": (0, [1, 0, 0]),
    "height of a half": (HALF, [HALF, HALF, HALF]),
    "height of minus one": (P - 1, [P - 1, 0, 0]),
}


@pytest.mark.parametrize("name", WRONG_STEPS)
@pytest.mark.parametrize("servers", [2, 3])
def test_false_steps_are_refused_beside_honest_ones(name, servers):
    height, values = WRONG_STEPS[name]
    columns = np.array([[1, 1, 1, 0], [height, *values], [0, 0, 0, 0]]).T
    accepted, _ = check_steps(columns, StepClaim(POINTS, private_height=True), servers=servers)
    assert accepted.tolist() == [True, False, True]
    if height == 1:
        assert check_steps(columns[1:, :2], StepClaim(POINTS), servers=servers)[0].tolist() == [True, False]


def test_later_claims_cover_earlier_ones_and_use_fresh_material_and_coins():
    first, second = StepClaim(np.array([4])), StepClaim(POINTS)
    batches = upload(np.zeros((0, 2)), first, verifications=3)
    values = split(steps_of(np.array([3, 6]), 1), 2, 8)
    servers = verifiers(batches)
    assert servers[0].left == 3
    verdicts, early = run([s.check(first) for s in servers], [projection_of(held[1:2]) for held in values])
    assert verdicts.all()
    verdicts, late = run([s.check(second) for s in servers], [projection_of(held) for held in values])
    assert verdicts.all()
    for sent, again in zip(early, late, strict=True):
        assert bodies(sent)[0].tolist() != bodies(again)[0].tolist()
    with pytest.raises(ParameterError, match="must cover all points"):
        servers[0].check(StepClaim(np.array([1, 6])))
    with pytest.raises(ParameterError, match="must cover all points"):
        servers[0].check(CellClaim(ENDS))
    assert servers[0].left == 1, "a refused claim uses nothing up"
    servers[0].check(StepClaim(np.arange(9)))
    with pytest.raises(UnsupportedError, match="material for 3 verifications, and all were used"):
        servers[0].check(StepClaim(np.arange(9)))


def test_finer_blocks_cover_coarser_ones_and_nothing_else_does():
    assert CellClaim(np.arange(8)).covers(CellClaim(ENDS))
    assert CellClaim(ENDS).covers(CellClaim(np.array([3, 7])))
    assert not CellClaim(ENDS).covers(CellClaim(np.array([3, 4, 7])))
    assert not CellClaim(np.arange(9)).covers(CellClaim(ENDS)), "another number of cells"
    assert not StepClaim(POINTS, True).covers(StepClaim(POINTS))
    assert AMOUNTS.covers(AmountClaim(3, 5))
    assert not AMOUNTS.covers(AmountClaim(3, 4))


def test_a_restarted_server_goes_on_where_it_stored_that_it_was():
    claim = StepClaim(POINTS)
    batches = upload(np.zeros((0, 2)), claim, verifications=2)
    with pytest.raises(UnsupportedError):
        verifiers(batches, used=2)[0].check(claim)
    assert verifiers(batches, used=1)[0].left == 1


def test_material_of_another_kind_is_refused():
    with pytest.raises(ParameterError, match="needs 7 squares and 1 products a verification; the uploads hold 1 and 0"):
        verifiers(upload(np.zeros((15, 2)), CellClaim(ENDS)))[0].check(AMOUNTS)


@pytest.mark.parametrize(
    "changed",
    [{"uploads": b"other".ljust(32)}, {"claim": StepClaim(np.array([1, 4, 7]))}, {"claim": StepClaim(POINTS, True)}],
    ids=["uploads", "points", "height"],
)
def test_servers_that_verify_different_things_find_out_before_they_open_coins(changed):
    claims = [StepClaim(POINTS), changed.pop("claim", StepClaim(POINTS))]
    batches = upload(np.zeros((0, 2)), claims[0])
    pair = [verifiers(batches)[0], verifiers(batches, **changed)[1]]
    checks = [server.check(claim) for server, claim in zip(pair, claims, strict=True)]
    received = route([check.commit() for check in checks])
    with pytest.raises(PeerError, match="server 1 verifies another claim, other uploads"):
        checks[0].open(received[0])


def in_the_middle():
    """Two servers, three clients, and all messages of an honest verification by round."""
    claim = StepClaim(POINTS)
    batches = upload(np.zeros((0, 3)), claim)
    values = split(steps_of(np.array([0, 3, 7]), 1), 2, 3)
    projects = [projection_of(held) for held in values]
    _, rounds = check_servers(claim, batches, projects)
    return claim, batches, projects, [[sent[1][0]] for sent in rounds]


CALLS = ["commit", "open", "masks", "results", "accepted"]


def call(check, name, messages, project):
    if name == "commit":
        return check.commit()
    extra = (project,) if name == "masks" else ()
    return getattr(check, name)(messages, *extra)


@pytest.mark.parametrize("done", range(6))
def test_calls_come_in_turn(done):
    claim, batches, projects, received = in_the_middle()
    check = verifiers(batches)[0].check(claim)
    for place in range(done):
        call(check, CALLS[place], received[place - 1], projects[0])
    for place, name in enumerate(CALLS):
        if place != done:
            with pytest.raises(ParameterError, match=rf"it is not the turn of {name}\(\)"):
                call(check, name, received[place - 1], projects[0])
    if done < 5:
        call(check, CALLS[done], received[done - 1], projects[0])


@pytest.mark.parametrize("place", range(1, 5), ids=CALLS[1:])
def test_messages_are_read_or_refused_and_a_refusal_changes_nothing(place):
    claim, batches, projects, received = in_the_middle()
    check = verifiers(batches)[0].check(claim)
    for before in range(place):
        call(check, CALLS[before], received[before - 1], projects[0])
    (good,) = received[place - 1]
    bad = [good[:length] for length in range(len(good))] + [good + b"\0", b"", received[place % 4][0]]
    for position in range(8 * 84):
        flipped = bytearray(good)
        flipped[position // 8] ^= 1 << position % 8
        bad.append(bytes(flipped))
    if place >= 3:
        bad.append(good[:-8] + P.to_bytes(8, "little"))
    for message in bad:
        with pytest.raises(PeerError):
            call(check, CALLS[place], [message], projects[0])
    for messages in ([], [good, good]):
        with pytest.raises(PeerError):
            call(check, CALLS[place], messages, projects[0])
    for after in range(place, 5):
        found = call(check, CALLS[after], received[after - 1], projects[0])
    assert found.all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_bytes_are_read_or_refused(data):
    claim, batches, projects, received = in_the_middle()
    check = verifiers(batches)[0].check(claim)
    place = data.draw(st.integers(1, 4))
    for before in range(place):
        call(check, CALLS[before], received[before - 1], projects[0])
    good = received[place - 1][0]
    message = good[: data.draw(st.integers(0, len(good)))] + data.draw(st.binary(max_size=80))
    try:
        found = call(check, CALLS[place], [message], projects[0])
    except PeerError:
        found = call(check, CALLS[place], [good], projects[0])
    assert len(found) == (3 if place == 4 else 1)


def test_other_coins_than_were_committed_to_are_refused():
    claim, batches, projects, received = in_the_middle()
    check = verifiers(batches)[0].check(claim)
    check.commit()
    check.open(received[0])
    with pytest.raises(PeerError, match="server 1 opened other coins than it committed to"):
        check.masks([received[1][0][:-1] + b"?"], projects[0])


def test_messages_of_another_session_are_refused():
    claim, batches, _, received = in_the_middle()
    check = verifiers(batches, session=SESSION[::-1])[0].check(claim)
    check.commit()
    with pytest.raises(PeerError, match="another session"):
        check.open(received[0])


def test_a_round_costs_eight_bytes_a_client():
    claim, _, _, received = in_the_middle()
    assert [len(messages[0]) - 84 for messages in received] == [64, 32, 8 * 3, 8 * 3]
    columns = amount_columns(np.zeros(2, int), np.zeros(2, int), groups=3, bits=5)
    _, rounds = check_servers(AMOUNTS, upload(columns, AMOUNTS))
    assert len(rounds[2][0][1]) - 84 == 8 * 2 * (AMOUNTS.squares + 2)
    assert claim.squares == 1


# The claims' identities, against what they say in plain numbers.

elements = st.integers(0, P - 1)


def left_side(claim, x, r):
    """The identity of a claim at one client's columns, in Python integers."""
    made = claim.identity(np.array(r, dtype=np.uint64))
    values = made.weights.astype(object) @ np.array(x, dtype=object) + made.constants.astype(object)
    split_at = made.squares + made.products
    squares = sum(int(value) ** 2 for value in values[: made.squares])
    products = sum(int(f) * int(g) for f, g in zip(values[made.squares : split_at], values[split_at:-1], strict=True))
    return (squares + products + int(values[-1])) % P


@settings(deadline=None)
@given(st.lists(elements, min_size=4, max_size=4), st.lists(elements, min_size=4, max_size=4))
def test_steps_are_sketched_by_their_differences(x, r):
    assert left_side(StepClaim(POINTS, private_height=True), x, r) == sketch(step_differences(x[1:], x[0], P), r) % P
    assert left_side(StepClaim(POINTS), x[1:], r) == sketch(step_differences(x[1:], 1, P), r) % P


@settings(deadline=None)
@given(st.lists(elements, min_size=8, max_size=8), st.lists(elements, min_size=3, max_size=3))
def test_cells_are_sketched_by_their_blocks(x, r):
    assert left_side(CellClaim(ENDS), x, r) == sketch(block_sums(x, ENDS, P), r) % P


@settings(deadline=None)
@given(st.lists(elements, min_size=15, max_size=15), st.lists(elements, min_size=15, max_size=15))
def test_amounts_are_sketched_as_documented(x, r):
    assert left_side(AMOUNTS, x, r) == amount_sketch(x, r, 3, P)


def test_servers_results_are_the_identity_at_their_coins():
    """The result of a false client is the left side itself, whatever the masks: coins of all servers give r."""
    generator = np.random.default_rng(4)
    x = generator.integers(0, P, (15, 6), dtype=np.uint64)
    batches = upload(x.astype(np.int64), AMOUNTS, servers=3)
    _, rounds = check_servers(AMOUNTS, batches)
    results = [np.array(shares) for shares in bodies(rounds[3])]
    found = field.sums(field.sums(results[0], results[1]), results[2])
    captured = []

    def spy(weights):
        captured.append(weights)
        return batches[0].project(weights)

    check_servers(AMOUNTS, batches, [spy, batches[1].project, batches[2].project])
    weights = captured[0]
    r = [*weights[0, :6].tolist(), *weights[-2, :3].tolist(), *np.diag(weights[1:7, 9:]).tolist()]
    assert found.tolist() == [amount_sketch(client, r, 3, P) for client in x.T.tolist()]


def test_coefficients_depend_on_the_coins_of_every_server_and_on_all_that_is_agreed():
    batches = upload(np.zeros((8, 1)), CellClaim(ENDS), servers=3, verifications=2)

    def drawn(ends=ENDS, **changed):
        claim = CellClaim(ends)
        seen = []
        projects = [lambda weights, batch=batch: seen.append(weights) or batch.project(weights) for batch in batches]
        check_servers(claim, batches, projects, **changed)
        assert all((weights == seen[0]).all() for weights in seen), "servers draw the same"
        return tuple(seen[0][0, claim.ends].tolist())

    others = [
        drawn(coins=[1, 2, 3]), drawn(coins=[4, 2, 3]), drawn(coins=[1, 4, 3]), drawn(coins=[1, 2, 4]),
        drawn(coins=[1, 2, 3], uploads=bytes(32)), drawn(coins=[1, 2, 3], session=bytes(16)),
        drawn(coins=[1, 2, 3], used=1), drawn(np.array([1, 3, 7]), coins=[1, 2, 3]),
    ]  # fmt: skip
    assert len({element for found in others for element in found}) == 3 * len(others)
    assert drawn(coins=[1, 2, 3]) == others[0]


def test_coefficients_are_uniform_and_of_every_length():
    seed = bytes(16)
    long = uniform_elements(seed, 40_000)
    assert uniform_elements(seed, 5).tolist() == long[:5].tolist()
    assert long.max() < P
    counts = np.bincount((long >> np.uint64(57)).astype(int), minlength=16)
    assert ((counts - 2500) ** 2 / 2500).sum() < 85, "chi-square with 15 degrees of freedom, level 1e-11"


@pytest.mark.parametrize("wrong", [[], [3, 3], [4, 2], [-1, 2]], ids=["none", "twice", "falling", "negative"])
@pytest.mark.parametrize("kind", [StepClaim, CellClaim])
def test_refuses_places_that_do_not_increase(kind, wrong):
    with pytest.raises(ParameterError, match="must be one or more increasing whole numbers from 0"):
        kind(np.array(wrong, dtype=np.int64))


@pytest.mark.parametrize(("groups", "bits"), [(0, 5), (3, 0), (3, 33)])
def test_refuses_amounts_without_groups_or_of_no_bits(groups, bits):
    with pytest.raises(ParameterError, match="amounts need a group and 1 to 32 bits"):
        AmountClaim(groups, bits)


def test_a_stated_share_of_clients_may_fail_and_one_always():
    assert [most_rejected(clients) for clients in (0, 2, 199, 200, 1000)] == [1, 1, 1, 2, 10]
    assert most_rejected(1000, tolerated=0.5) == 500
    shares = [(share, most_rejected(100, tolerated=share / 100)) for share in range(1, 101)]
    assert all(share == most for share, most in shares), "as written, whatever the nearest float is"
    for tolerated in (1.5, -0.1, float("nan")):
        with pytest.raises(ParameterError, match="tolerated must be from 0 to 1"):
            most_rejected(10, tolerated=tolerated)
