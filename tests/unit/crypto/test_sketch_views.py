"""What any m - 1 servers see of an honest client can be made up without knowing the client's value.

Over the field of three elements all randomness is enumerated: the views for every value and those of a simulator
are the same lists of outcomes, equally often. Controls: a mask left out, and material used twice, tell values apart.
Over 2^61 - 1 the real servers' messages are compared with the same simulator by a chi-square test, level 1e-11.
"""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from helpers.verifying import STUDY, bodies, check_servers, replayed, step_differences

from ogive.crypto import field
from ogive.crypto.sketch import AmountClaim, CellClaim
from ogive.crypto.tables import ShareShape, amount_columns, one_hot_columns, share

P = 3
WORST = 85  # of chi-square with 15 degrees of freedom, level 1e-11


def enumerated(count):
    """Every choice of so many random elements, each an array."""
    return list(np.array(np.meshgrid(*[np.arange(P)] * count, indexing="ij")).reshape(count, -1))


def shares_of(value, servers, drawn):
    """Additive shares: all but the last drawn, as seeds make them."""
    held = [drawn.pop() for _ in range(servers - 1)]
    return [*held, (value - sum(held)) % P]


def seen(columns, honest):
    """How often each view occurs, of all servers' columns by name but the secret ones of the honest server."""
    kept = [column for name, server, column in columns if server != honest or name in ("mask", "result")]
    return Counter(zip(*(np.broadcast_to(column, kept[0].shape).tolist() for column in kept), strict=True))


def square_view(y, r, servers, honest, *, masked=True, twice=None):
    """A step's verification at one point, by hand: views of all servers but one.

    Args:
        y: The client's value there, 0 or 1.
        r: Coefficients, two.
        servers: How many.
        honest: Who does not tell what it holds.
        masked: Whether factors are masked; if not, a is 0.
        twice: Coefficients of a second verification with the same material.
    """
    drawn = enumerated(3 * servers - 2)
    values = shares_of(y, servers, drawn)
    a = [drawn.pop() if masked else np.zeros_like(drawn[0]) for _ in range(servers)]
    c = shares_of(sum(a) ** 2, servers, drawn)
    columns = [(name, s, held[s]) for name, held in (("y", values), ("a", a), ("c", c)) for s in range(servers)]
    for coefficients in (r,) if twice is None else (r, twice):
        d = [step_differences([values[s]], 1 if s == 0 else 0, P) for s in range(servers)]
        z = [sum(q * part for q, part in zip(coefficients, d[s], strict=True)) for s in range(servers)]
        squares = [sum(q * q * part for q, part in zip(coefficients, d[s], strict=True)) for s in range(servers)]
        masks = [(z[s] - a[s]) % P for s in range(servers)]
        e = sum(masks)
        results = [((e * e if s == 0 else 0) + 2 * e * a[s] + c[s] - squares[s]) % P for s in range(servers)]
        assert not (sum(results) % P).any()
        columns += [("mask", s, masks[s]) for s in range(servers)]
        columns += [("result", s, results[s]) for s in range(servers)]
    return seen(columns, honest)


def simulated(r, servers, honest):
    """The same view made without the client's value: all that others hold and the honest server's mask are drawn."""
    drawn = enumerated(3 * (servers - 1) + 1)
    others = [server for server in range(servers) if server != honest]
    held = {(name, server): drawn.pop() for name in "yac" for server in others}
    masks, results = {honest: drawn.pop()}, {}
    for server in others:
        d = step_differences([held["y", server]], 1 if server == 0 else 0, P)
        masks[server] = (sum(q * part for q, part in zip(r, d, strict=True)) - held["a", server]) % P
    e = sum(masks.values())
    for server in others:
        d = step_differences([held["y", server]], 1 if server == 0 else 0, P)
        squares = sum(q * q * part for q, part in zip(r, d, strict=True))
        own = (e * e if server == 0 else 0) + 2 * e * held["a", server] + held["c", server] - squares
        results[server] = own % P
    results[honest] = -sum(results.values()) % P
    columns = [(name, server, held[name, server]) for name in "yac" for server in others]
    columns += [("mask", server, masks[server]) for server in range(servers)]
    columns += [("result", server, results[server]) for server in range(servers)]
    return seen(columns, honest)


@pytest.mark.parametrize(("servers", "honest"), [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_views_of_all_other_servers_can_be_made_up(servers, honest):
    for r in product(range(P), repeat=2):
        made_up = simulated(r, servers, honest)
        assert square_view(0, r, servers, honest) == made_up
        assert square_view(1, r, servers, honest) == made_up


@pytest.mark.parametrize("honest", [0, 1])
def test_without_masks_values_can_be_told_apart(honest):
    views = [square_view(y, (1, 2), 2, honest, masked=False) for y in (0, 1)]
    assert not views[0].keys() & views[1].keys()


@pytest.mark.parametrize("honest", [0, 1])
def test_material_used_twice_tells_values_apart(honest):
    views = [square_view(y, (1, 2), 2, honest, twice=(2, 2)) for y in (0, 1)]
    assert not views[0].keys() & views[1].keys()
    assert sum(views[0].values()) == P**4


@pytest.mark.parametrize("honest", [0, 1])
def test_views_of_products_do_not_depend_on_the_factors(honest):
    views = []
    for f, g in product(range(P), repeat=2):
        drawn = enumerated(8)
        factors, others, third = shares_of(f, 2, drawn), shares_of(g, 2, drawn), shares_of(f * g % P, 2, drawn)
        x, y = [drawn.pop(), drawn.pop()], [drawn.pop(), drawn.pop()]
        z = shares_of(sum(x) * sum(y), 2, drawn)
        first, second = ([(held[s] - mask[s]) % P for s in (0, 1)] for held, mask in ((factors, x), (others, y)))
        d, e = sum(first), sum(second)
        results = [((d * e if s == 0 else 0) + d * y[s] + e * x[s] + z[s] - third[s]) % P for s in (0, 1)]
        assert not (sum(results) % P).any()
        held = (("f", factors), ("g", others), ("h", third), ("x", x), ("y", y), ("z", z))
        columns = [(name, s, parts[s]) for name, parts in held for s in (0, 1)]
        columns += [("mask", s, parts[s]) for parts in (first, second) for s in (0, 1)]
        columns += [("result", s, results[s]) for s in (0, 1)]
        views.append(seen(columns, honest))
    assert all(view == views[0] for view in views)


def chi_square(elements):
    """Of the upper four bits of elements, against uniform."""
    counts = np.bincount((np.asarray(elements).ravel() >> np.uint64(57)).astype(int), minlength=16)
    expected = counts.sum() / 16
    assert expected >= 500
    return ((counts - expected) ** 2 / expected).sum()


def added(shares):
    found = np.zeros_like(shares[0])
    for held in shares:
        found = field.sums(found, held)
    return found


@pytest.mark.parametrize("servers", [2, 3])
@pytest.mark.parametrize("symbol", [0, 5])
def test_messages_of_real_servers_are_what_the_simulator_makes(servers, symbol):
    clients = 20_000
    claim = AmountClaim(groups=3, bits=4)
    columns = amount_columns(np.full(clients, symbol), np.full(clients, 3 * symbol), groups=3, bits=4)
    shape = ShareShape(len(columns), claim.squares, claim.products, 1)
    batches = share(columns, shape=shape, servers=servers, study=STUDY, random=replayed(symbol))
    weights = []

    def project(given):
        weights.append(given)
        return batches[0].project(given)

    accepted, rounds = check_servers(claim, batches, [project, *(batch.project for batch in batches[1:])])
    assert accepted.all()
    factors = claim.squares + 2 * claim.products
    masks = [np.array(sent).reshape(factors, clients) for sent in bodies(rounds[2])]
    results = [np.array(sent) for sent in bodies(rounds[3])]
    assert not added(results).any(), "each server's results follow from the others'"
    for sent in masks:
        assert max(chi_square(row) for row in sent) < WORST
    opened = added(masks)
    assert max(chi_square(row) for row in opened) < WORST
    assert chi_square(opened[0] ^ opened[1]) < WORST, "masks of two factors have nothing in common"
    unmasked = added([batch.project(weights[0]) for batch in batches])[:factors]
    assert min(chi_square(row) for row in unmasked) > WORST, "the control: factors themselves are far from uniform"


def test_servers_but_the_last_get_the_same_whatever_the_client_holds():
    shape = ShareShape(8, 1, 0, 2)
    uploads = []
    for symbol in (0, 7):
        columns = one_hot_columns(np.full(8000, symbol), cells=8)
        uploads.append(share(columns, shape=shape, servers=3, study=STUDY, random=replayed(4)))
    for server in (0, 1):
        assert uploads[0][server].to_bytes() == uploads[1][server].to_bytes()
    for upload in uploads:
        assert max(chi_square(row) for row in upload[2].explicit) < WORST
    without_seeds = field.encode(one_hot_columns(np.full(8000, 7), cells=8))
    assert chi_square(without_seeds) > WORST, "the control: what is shared, without the seeds of others"


def test_a_check_of_cells_opens_nothing_but_a_uniform_element_a_client():
    claim = CellClaim(np.arange(8))
    batches = share(
        one_hot_columns(np.full(20_000, 3), cells=8), shape=ShareShape(8, 1, 0, 1), servers=2, study=STUDY,
        random=replayed(9),
    )  # fmt: skip
    _, rounds = check_servers(claim, batches)
    first, second = bodies(rounds[2])
    assert chi_square(field.sums(np.array(first), np.array(second))) < WORST
