"""More than 15 000 tampered uploads of many kinds among honest ones: none is accepted, and no honest one is refused.

An upload is called false by what its shares add up to, in plain numbers, never by the kind of tampering: a flipped bit
may leave another honest upload. A false one would pass with a chance of 2^-60.
"""

from dataclasses import replace

import numpy as np
import pytest
from helpers.scope import size
from helpers.verifying import STUDY, check_servers, is_amount, is_one_hot, over_bytes, replayed, step_differences

from ogive.crypto import field
from ogive.crypto.comparison import KeyShape, evaluate, generate
from ogive.crypto.field import P
from ogive.crypto.sketch import AmountClaim, CellClaim, StepClaim
from ogive.crypto.tables import ShareShape, amount_columns, one_hot_columns, project, share

EACH = size(400, part=120)
HALF = (P + 1) // 2


def added(shares):
    found = np.zeros_like(shares[0])
    for held in shares:
        found = field.sums(found, held)
    return found


def upload(columns, claim, servers, seed=0):
    shape = ShareShape(len(columns), claim.squares, claim.products, 1)
    return list(share(columns, shape=shape, servers=servers, study=STUDY, random=replayed(seed)))


def vectors(batches):
    """What clients shared, as Python integers, one list a client."""
    return added([batch.project(np.eye(batch.shape.columns, dtype=np.uint64)) for batch in batches]).T.tolist()


def material_is_right(batches):
    a, c, x, y, z = (added(parts) for parts in zip(*(batch.material(0) for batch in batches), strict=True))
    return (field.products(a, a) == c).all(0) & (field.products(x, y) == z).all(0)


def flip_seeds(batches, generator):
    """One bit of each client's seed at a server."""
    server = int(generator.integers(len(batches)))
    seeds, clients = batches[server].seeds.copy(), np.arange(len(batches[server]))
    places = generator.integers(0, 128, clients.size)
    seeds[clients, places // 64] ^= np.uint64(1) << (places % 64).astype(np.uint64)
    batches[server] = replace(batches[server], seeds=seeds)


def flip_elements(batches, generator, rows):
    """One bit of one of each client's explicit elements."""
    explicit, clients = batches[-1].explicit.copy(), np.arange(len(batches[-1]))
    chosen = generator.integers(rows.start, rows.stop, clients.size)
    places = generator.integers(0, 61, clients.size).astype(np.uint64)
    explicit[chosen, clients] = field.residues(explicit[chosen, clients] ^ (np.uint64(1) << places))
    batches[-1] = replace(batches[-1], explicit=explicit)


def add_to(batches, row, amounts):
    explicit = batches[-1].explicit.copy()
    explicit[row] = field.sums(explicit[row], field.encode(amounts))
    batches[-1] = replace(batches[-1], explicit=explicit)


def verify(claim, honest, false, is_true, projects=None):
    """Check honest clients and tampered ones side by side; how many of the latter were false."""
    accepted, _ = check_servers(claim, over_bytes(honest))
    assert accepted.all()
    accepted, _ = check_servers(claim, over_bytes(false), projects)
    right = material_is_right(false)
    true = np.array([is_true(x) for x in vectors(false)]) & right
    assert not (accepted & ~true).any(), "a false upload was accepted"
    assert accepted[true].all(), "an honest upload was refused"
    return int((~true).sum())


CELLS = {
    "seeds": lambda b, g: flip_seeds(b, g),
    "columns": lambda b, g: flip_elements(b, g, range(8)),
    "squares": lambda b, g: flip_elements(b, g, range(8, 9)),
    "another one": lambda b, g: add_to(b, 7, 1 - np.array([0, 2])[g.integers(0, 2, EACH)]),
    "a five": lambda b, g: add_to(b, 0, np.full(EACH, 5)),
    "half": lambda b, g: add_to(b, 2, np.full(EACH, HALF)),
    "half of the modulus": lambda b, g: add_to(b, 2, np.full(EACH, P // 2)),
    "high bits": lambda b, g: add_to(b, 3, 1 << g.integers(1, 61, EACH)),
    "moved to two cells": lambda b, g: (add_to(b, 1, np.full(EACH, HALF)), add_to(b, 2, np.full(EACH, HALF))),
    "one more, one fewer": lambda b, g: (add_to(b, 1, np.ones(EACH)), add_to(b, 6, -np.ones(EACH))),
    "square off by a guess": lambda b, g: add_to(b, 8, g.integers(1, P, EACH)),
    "vector and square": lambda b, g: (add_to(b, 5, np.full(EACH, 2)), add_to(b, 8, g.integers(1, P, EACH))),
}


@pytest.mark.parametrize("servers", [2, 3])
def test_tampered_cells_are_refused(servers):
    claim, found = CellClaim(np.arange(8)), 0
    for number, tamper in enumerate(CELLS.values()):
        generator = np.random.default_rng(number)
        columns = one_hot_columns(generator.integers(0, 8, EACH), cells=8)
        honest = upload(columns, claim, servers, number)
        false = list(honest)
        tamper(false, generator)
        found += verify(claim, honest, false, is_one_hot)
    assert found > 0.9 * EACH * len(CELLS)


GROUPS, BITS = 3, 6
DIGITS = 3 * GROUPS
AMOUNTS = {
    "seeds": lambda x, b, g: flip_seeds(b, g),
    "elements": lambda x, b, g: flip_elements(b, g, range(len(x))),
    "material": lambda x, b, g: flip_elements(b, g, range(len(x), b[-1].shape.explicit)),
    "more than its digits": lambda x, b, g: add_to(b, 2 * GROUPS + 1, np.ones(EACH)),
    "another group": lambda x, b, g: None,
    "a digit of two": lambda x, b, g: (add_to(b, DIGITS, np.full(EACH, 2)), add_to(b, 2 * GROUPS, np.full(EACH, 2))),
    "a digit of minus one": lambda x, b, g: add_to(b, DIGITS + BITS, -np.ones(EACH)),
    "a digit and its square": lambda x, b, g: (
        add_to(b, DIGITS, np.full(EACH, 4)), add_to(b, len(x) + 1, -np.full(EACH, 12)),
    ),
    "out of range": lambda x, b, g: None,
    "two groups": lambda x, b, g: None,
    "amount without a cell": lambda x, b, g: None,
}  # fmt: skip


def false_amounts(name, generator):
    """Columns of clients that share other vectors than the study says, and honest ones for comparison."""
    symbols, amounts = generator.integers(0, 2 * GROUPS, EACH), generator.integers(1, 2**BITS + 1, EACH)
    honest = amount_columns(symbols, amounts, groups=GROUPS, bits=BITS)
    columns, clients = honest.copy(), np.arange(EACH)
    if name == "another group":
        columns[2 * GROUPS : DIGITS] = np.roll(columns[2 * GROUPS : DIGITS], 1, axis=0)
    if name == "out of range":
        columns[DIGITS] += 2**BITS
        columns[2 * GROUPS + symbols % GROUPS, clients] += 2**BITS
    if name == "two groups":
        columns[2 * GROUPS + (symbols + 1) % GROUPS, clients] = amounts
    if name == "amount without a cell":
        columns[: 2 * GROUPS] = 0
    return honest, columns


def test_tampered_amounts_are_refused():
    claim, found = AmountClaim(GROUPS, BITS), 0
    for number, (name, tamper) in enumerate(AMOUNTS.items()):
        generator = np.random.default_rng(number)
        honest, columns = false_amounts(name, generator)
        false = upload(columns, claim, 2, number)
        tamper(columns, false, generator)
        found += verify(claim, upload(honest, claim, 2, number), false, lambda x: is_amount(x, GROUPS, P))
    assert found > 0.9 * EACH * len(AMOUNTS)


SHAPE = KeyShape(group="field", bits=5)
POINTS = np.arange(2, 31, 4)


def tampered_keys(name, generator):
    """Keys of both servers, most of them no steps of height one."""
    alphas = generator.integers(0, 32, EACH)
    payloads = {"two": 2, "minus one": P - 1, "half": HALF, "high": 2**60}.get(name, 1)
    pair = list(
        generate(
            alphas, shape=SHAPE, study=STUDY, payloads=np.full(EACH, payloads, np.uint64), random=replayed(7), threads=1
        )
    )
    clients = np.arange(EACH)

    def flipped(array, bits, lead):
        """One bit of one word of each client; `lead` is the axis of clients."""
        words = np.moveaxis(array.copy(), lead, 0).reshape(EACH, -1)
        place = generator.integers(0, words.shape[1], EACH)
        words[clients, place] ^= (1 << generator.integers(0, bits, EACH)).astype(words.dtype)
        if bits == 60:
            words = field.residues(words)
        return np.moveaxis(words.reshape(np.moveaxis(array, lead, 0).shape), 0, lead).copy()

    if name == "root":
        pair[0] = replace(pair[0], roots=flipped(pair[0].roots, 63, 0))
    fields = {"seeds": (63, 1), "values": (60, 1), "controls": (2, 1), "leaves": (60, 0)}
    if name in fields:
        changed = flipped(getattr(pair[0], name), *fields[name])
        pair = [replace(batch, **{name: changed}) for batch in pair]
    if name.startswith("one server's "):
        field_name = name.removeprefix("one server's ")
        pair[1] = replace(pair[1], **{field_name: flipped(getattr(pair[1], field_name), *fields[field_name])})
    if name == "another client's":
        pair[1] = pair[1][np.roll(clients, 1)]
    return pair


KEYS = (
    "two", "minus one", "half", "high", "root", "seeds", "values", "controls", "leaves", "another client's",
    "one server's seeds", "one server's values", "one server's controls", "one server's leaves",
)  # fmt: skip


def projections(pair):
    """What both servers do with weights."""

    def of_one(server):
        values = evaluate(pair[server], POINTS, server=server, threads=1).T
        return lambda weights: project(values, weights)

    return [of_one(0), of_one(1)]


def test_tampered_keys_are_refused():
    claim, found = StepClaim(POINTS), 0
    for number, name in enumerate(KEYS):
        pair = tampered_keys(name, np.random.default_rng(number))
        material = upload(np.zeros((0, EACH)), claim, 2, number)
        accepted, _ = check_servers(claim, material, projections(pair))
        values = added([evaluate(pair[server], POINTS, server=server, threads=1) for server in (0, 1)]).tolist()
        true = np.array([is_one_hot(step_differences(y, 1, P)) for y in values])
        assert (accepted == true).all(), name
        found += int((~true).sum())
    assert found > 0.6 * EACH * len(KEYS)


def test_honest_keys_are_accepted_with_private_heights_too():
    alphas = np.tile(np.arange(32), 2)
    heights = np.repeat(np.array([0, 1], np.uint64), 32)
    pair = generate(alphas, shape=SHAPE, study=STUDY, payloads=heights, random=replayed(1), threads=1)
    claim = StepClaim(POINTS, private_height=True)
    shape = ShareShape(1, claim.squares, claim.products, 1)
    batches = share(heights[np.newaxis], shape=shape, servers=2, study=STUDY, random=replayed(2))

    def projected(server):
        def both(weights):
            heights = batches[server].project(weights[:, :1])
            return field.sums(heights, projections(pair)[server](weights[:, 1:]))

        return both

    assert check_servers(claim, batches, [projected(0), projected(1)])[0].all()


def test_a_hundred_thousand_honest_keys_are_accepted():
    generator = np.random.default_rng(3)
    alphas = generator.integers(0, 32, 100_000)
    claim = StepClaim(POINTS)
    pair = generate(alphas, shape=SHAPE, study=STUDY, random=replayed(1), threads=1)
    material = upload(np.zeros((0, alphas.size)), claim, 2)
    assert check_servers(claim, material, projections(pair))[0].all()
