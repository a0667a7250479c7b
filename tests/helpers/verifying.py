"""Verification of shares: all servers in one process, and slow oracles over any prime.

The oracles are written from what is claimed, entry by entry, in plain numbers modulo p; `check_servers` drives the real
servers and keeps all their messages.
"""

from itertools import pairwise

import numpy as np

from ogive.crypto import field
from ogive.crypto.sketch import Verifier
from ogive.crypto.tables import ShareBatch
from ogive.crypto.wire import HEADER_BYTES

STUDY = bytes(range(32))
SESSION = b"session of tests"
UPLOADS = b"digest of uploads".ljust(32, b".")


def replayed(seed):
    """Random bytes that are the same every time."""
    generator = np.random.default_rng(seed)
    return generator.bytes


def verifiers(batches, *, coins=(), **changed):
    """Verifiers of all servers; `coins` are seeds of the randomness of the first of them."""
    keywords = {"session": SESSION, "uploads": UPLOADS, **changed}
    seeds = [*coins, *range(1000 + len(coins), 1000 + len(batches))]
    return [Verifier(batch, random=replayed(seed), **keywords) for batch, seed in zip(batches, seeds, strict=False)]


def route(sent):
    """What every server receives, from what every server sends."""
    return [[sent[sender][me] for sender in range(len(sent)) if sender != me] for me in range(len(sent))]


def run(checks, projects):
    """Drive the checks of all servers; the verdicts, and for every round what each server sent."""
    rounds = [[check.commit() for check in checks]]
    rounds.append([check.open(got) for check, got in zip(checks, route(rounds[-1]), strict=True)])
    received = zip(checks, route(rounds[-1]), projects, strict=True)
    rounds.append([check.masks(got, project) for check, got, project in received])
    rounds.append([check.results(got) for check, got in zip(checks, route(rounds[-1]), strict=True)])
    verdicts = [check.accepted(got) for check, got in zip(checks, route(rounds[-1]), strict=True)]
    assert all((found == verdicts[0]).all() for found in verdicts), "servers disagree"
    return verdicts[0], rounds


def check_servers(claim, batches, projects=None, **changed):
    """Verdicts of one verification, and the messages of all rounds."""
    checks = [verifier.check(claim) for verifier in verifiers(batches, **changed)]
    return run(checks, projects or [batch.project for batch in batches])


def bodies(sent):
    """The elements that each server sent in a round."""
    return [np.frombuffer(next(iter(messages.values()))[HEADER_BYTES:], "<u8") for messages in sent]


def over_bytes(batches):
    """The batches after a journey as bytes."""
    return [
        ShareBatch.from_bytes(b.to_bytes(), shape=b.shape, study=STUDY, server=b.server, servers=b.servers)
        for b in batches
    ]


def split(values, servers, seed):
    """Additive shares of elements, drawn by numpy."""
    shares = list(np.random.default_rng(seed).integers(0, field.P, (servers - 1, *np.shape(values)), dtype=np.uint64))
    last = field.encode(values)
    for held in shares:
        last = field.differences(last, held)
    return [*shares, last]


def projection_of(columns):
    """What a server that holds plain arrays of shares does with weights: multiply, one Python integer at a time."""
    held = columns.astype(object)
    return lambda weights: np.array(weights.astype(object) @ held % field.P, dtype=np.uint64)


# What is claimed, entry by entry. x is a client's columns as Python integers.


def is_one_hot(d):
    return all(value in (0, 1) for value in d) and sum(d) <= 1


def step_differences(y, height, p):
    """The vector that is one-hot if y are values of a step; y at increasing points."""
    return [(before - after) % p for before, after in pairwise([height, *y, 0])]


def block_sums(x, ends, p):
    starts = [0, *(end + 1 for end in ends[:-1])]
    return [sum(x[start : end + 1]) % p for start, end in zip(starts, ends, strict=True)]


def amount_parts(x, groups, p):
    """Cells, group totals of the cells, amounts, digits and the amount that the digits say."""
    cells, amounts, digits = x[: 2 * groups], x[2 * groups : 3 * groups], x[3 * groups :]
    said = (sum(digit << place for place, digit in enumerate(digits[:-1])) + digits[-1]) % p
    return cells, [(cells[q] + cells[groups + q]) % p for q in range(groups)], amounts, digits, said


def is_amount(x, groups, p):
    cells, group, amounts, digits, said = amount_parts(x, groups, p)
    right = all(amount == said * there % p for amount, there in zip(amounts, group, strict=True))
    return is_one_hot(cells) and all(digit in (0, 1) for digit in digits) and right


def sketch(d, r):
    """z^2 - z*; arrays of anything that can be multiplied."""
    z = sum(a * b for a, b in zip(r, d, strict=True))
    return z * z - sum(a * a * b for a, b in zip(r, d, strict=True))


def amount_sketch(x, r, groups, p):
    """The left side of the identity of amounts, term by term."""
    cells, group, amounts, digits, said = amount_parts(x, groups, p)
    found = sketch(cells, r[: 2 * groups])
    for digit, coefficient in zip(digits, r[3 * groups :], strict=True):
        found = found + sketch([digit], [coefficient])
    for q in range(groups):
        found = found + r[2 * groups + q] * (said * group[q] - amounts[q])
    return found % p
