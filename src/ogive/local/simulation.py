"""What the reports of many people add up to, without drawing every report.

For studies and benchmarks only: how many people have each symbol is known here, and the generator is not
cryptographic. The sums follow the law of `randomize` and `add`, up to the rounding of chances to 53 bits, where people
are numbered from 0 in a random order. People with the same symbol are drawn together: how many keep it, or get
which index, are binomial and multinomial.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ogive.core.arrays import Int64
from ogive.core.checks import array_of
from ogive.errors import ParameterError
from ogive.local.aggregation import count_levels
from ogive.local.base import Assignment, Oracle
from ogive.local.oracles import HaarOracle, PublicClasses, RandomizedResponse, UnaryOracle
from ogive.local.tree import Layout, LevelOracle, TreeOracle

_CHUNK = 1 << 20
_LARGEST = 1 << 24
_BLOCK = 10**9 - 1
"""Most people of one hypergeometric draw of numpy."""
_MOST = 10**12


def simulate(oracle: Oracle, histogram: Int64, *, generator: np.random.Generator) -> Int64:
    """Simulate the sums of one report of each person.

    Args:
        oracle: Oracle with at most 2^24 symbols.
        histogram: Number of people with each symbol, shape (oracle.size,); at most 10^12 in all.
        generator: Generator of pseudo-random numbers.

    Returns:
        Sums of the oracle's shape.

    Raises:
        ParameterError: the histogram has another shape or values that are not counts.

    Example:
        >>> import numpy as np
        >>> from ogive.local import RandomizedResponse, simulate
        >>> sums = simulate(RandomizedResponse(3, 1), np.array([10**8, 0, 10**6]), generator=np.random.default_rng(1))
    """
    people = array_of(histogram)
    if people.shape != (oracle.size,) or oracle.size > _LARGEST or people.dtype.kind not in "iu":
        raise ParameterError(f"the histogram must count people per symbol, {oracle.size} whole numbers")
    if int(people.min()) < 0 or int(people.sum()) > _MOST:
        raise ParameterError("the histogram must hold counts, which are not negative and add up to at most 10^12")
    if isinstance(oracle, PublicClasses):
        table = np.ascontiguousarray(people.reshape(oracle.inner.size, oracle.classes).T, dtype=np.int64)
        return _sums(oracle.inner, table, generator).reshape(oracle.shape)
    return _sums(oracle, people.astype(np.int64)[None, :], generator).reshape(oracle.shape)


def _sums(oracle: Oracle, table: Int64, generator: np.random.Generator) -> Int64:
    """Sums of each class, from people by class and symbol."""
    sums = np.zeros((len(table), *oracle.shape), dtype=np.int64)
    if isinstance(oracle, RandomizedResponse):
        unchanged = generator.binomial(table, float(oracle.keep))
        lost = (table - unchanged).sum(axis=1)
        sums += unchanged + generator.multinomial(lost, np.full(oracle.size, 1 / oracle.size))
        return sums
    if isinstance(oracle, UnaryOracle):
        reports = table.sum(axis=1, keepdims=True)
        sums[:, :-1] = _ones(table, reports, float(oracle.chance), generator)
        sums[:, -1:] = reports
        return sums
    assert isinstance(oracle, LevelOracle)
    for level, parts in enumerate(_by_level(table, oracle.levels_of, oracle.levels, generator)):
        for part, people in zip(sums, parts, strict=True):
            _add_level(part, oracle, level, people, generator)
    return sums


def _ones(people: Int64, reports: Int64, chance: float, generator: np.random.Generator) -> Int64:
    """Ones per bit of unary reports."""
    return generator.binomial(people, 0.5) + generator.binomial(reports - people, chance)


def _by_level(
    table: Int64, assignment: Assignment | None, levels: int, generator: np.random.Generator
) -> Iterator[Int64]:
    """People by class and symbol who are asked each level: everybody, or samples without replacement."""
    if assignment is None:
        for _ in range(levels):
            yield table
        return
    places = np.flatnonzero(table)
    sizes, left = _blocks(table.reshape(-1)[places], assignment, generator)
    for level in range(levels):
        result = np.zeros(table.size, dtype=np.int64)
        for block, people in enumerate(left):
            drawn = generator.multivariate_hypergeometric(people, int(sizes[block, level]), method="marginals")
            left[block] = people - drawn
            result[places] += drawn
        yield result.reshape(table.shape)


def _blocks(people: Int64, assignment: Assignment, generator: np.random.Generator) -> tuple[Int64, list[Int64]]:
    """How many people of each block are asked each level, and the people of each block by symbol.

    There is one block, and levels are counted, unless there are more people than numpy draws from at once. Then blocks
    have the same shares of all symbols, and levels have as many people as chances say.
    """
    total = int(people.sum())
    if total <= _BLOCK:
        return count_levels(0, total, *assignment.compiled)[None, :], [people]
    blocks = -(-total // _BLOCK) + 1  # one more, since rounding may add a few people to one
    parts = np.diff(np.arange(blocks + 1) * people[:, None] // blocks, axis=1).T
    totals = parts.sum(axis=1)
    if assignment.even:
        ends = np.concatenate([[0], totals.cumsum()])[:, None]
        return np.diff((ends + np.arange(assignment.levels)) // assignment.levels, axis=0), list(parts)
    return generator.multinomial(totals, assignment.chances), list(parts)


def _add_level(sums: Int64, oracle: LevelOracle, level: int, people: Int64, generator: np.random.Generator) -> None:
    """Add the answers of one level's people, who are counted by symbol."""
    layout = oracle.layout
    layout.reports(sums)[level] += people.sum()
    if not layout.tallies[level]:
        return
    if isinstance(oracle, HaarOracle):
        halves = _folded(people, oracle.padded >> level + 1)
        tally = layout.tally(sums, level)
        tally += _signs(halves[0::2], layout, level, float(oracle.chance), generator)
        tally -= _signs(halves[1::2], layout, level, float(oracle.chance), generator)
        return
    assert isinstance(oracle, TreeOracle)
    nodes = _folded(people, oracle.branching ** (oracle.levels - level - 1))
    nodes = np.concatenate([nodes, np.zeros(layout.nodes[level] - nodes.size, dtype=np.int64)])
    if layout.unary[level]:
        layout.tally(sums, level)[:] += _ones(nodes, nodes.sum(), float(oracle.chance), generator)
    else:
        layout.tally(sums, level)[:] += _signs(nodes, layout, level, float(oracle.chance), generator)


def _folded(people: Int64, span: int) -> Int64:
    """People per node of so many symbols each."""
    padded = np.concatenate([people, np.zeros(-people.size % span, dtype=np.int64)])
    result: Int64 = padded.reshape(-1, span).sum(axis=1)
    return result


def _signs(nodes: Int64, layout: Layout, level: int, chance: float, generator: np.random.Generator) -> Int64:
    """Sums of signs per index of Hadamard responses, from people per node."""
    length = layout.tallies[level]
    result = np.zeros(length, dtype=np.int64)
    crowded = np.flatnonzero(nodes > length)
    indices = np.arange(length)
    for node in crowded.tolist():
        drawn = generator.multinomial(int(nodes[node]), np.full(length, 1 / length))
        signs = 1 - 2 * (np.bitwise_count(indices & node) & 1).astype(np.int64)
        result += signs * (drawn - 2 * generator.binomial(drawn, chance))
    alone = np.where(nodes > length, 0, nodes)
    ends = np.cumsum(alone)
    for start in range(0, int(ends[-1]), _CHUNK):
        places = np.searchsorted(ends, np.arange(start, min(start + _CHUNK, int(ends[-1]))), side="right")
        drawn = generator.integers(0, length, places.size)
        odd = (np.bitwise_count(drawn & places) & 1).astype(np.bool_) ^ (generator.random(places.size) < chance)
        result += np.bincount(drawn, minlength=length) - 2 * np.bincount(drawn[odd], minlength=length)
    return result
