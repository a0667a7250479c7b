"""Reports about the nodes of some levels, and the hierarchical oracle: those of a tree over ordered symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from ogive.core.arrays import Bool, Float64, Int64, UInt8
from ogive.core.checks import among, any_whole
from ogive.errors import DataError, ParameterError, quoted
from ogive.local.base import (
    HALF,
    MAX_SEED,
    Assignment,
    Flipping,
    RandomWords,
    bernoulli,
    check_epsilon,
    check_reports,
    check_size,
    check_sums,
    check_symbols,
    exp_below,
    flip_threshold,
    read_bytes,
    uniform_bits,
    write_bytes,
)
from ogive.privacy import ApproxDP, PureDP, Rational, exact

# --- Reports about the nodes of some levels: where their bits lie, and where their sums go.
#
# At a level an owner is in one node. A Hadamard response draws a uniform index j, which has nothing to do with the
# owner, and sends j with the parity of j AND node, flipped with a small chance. A unary response sends one noisy bit
# for each node. A report answers one level, which its number decides, or all of them side by side.
#
#     Hadamard field    bit 0: 1 for sign -1; then j, least significant bit first; bits above are 0
#     unary field       bit q: node q; bits above are 0
#     sums              per level with a tally: sum of the signs per index, or ones per node; then reports per level
#
# Source: spec of the AUC protocol, 6.1; Bell, Bellet, Gascon and Kulkarni 2020, algorithms 2 and 3.

MAX_TALLY = 1 << 20
_CHUNK_BITS = 1 << 22


@dataclass(frozen=True)
class Layout:
    """Levels, and how reports about them are written."""

    nodes: tuple[int, ...]
    unary: tuple[bool, ...]
    joint: bool = False

    @cached_property
    def exponents(self) -> tuple[int, ...]:
        """Indices of a level's Hadamard responses are below two to this."""
        return tuple((nodes - 1).bit_length() for nodes in self.nodes)

    @cached_property
    def _shifts(self) -> Int64:
        return np.array(self.exponents, dtype=np.int64)

    @cached_property
    def tallies(self) -> tuple[int, ...]:
        """Length of each level's tally; 0 for a level so large that its reports must be kept instead."""
        sizes = [
            nodes if unary else 1 << exponent
            for nodes, unary, exponent in zip(self.nodes, self.unary, self.exponents, strict=True)
        ]
        return tuple(size if size <= MAX_TALLY else 0 for size in sizes)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where each level's tally begins in the sums, and after the last of them, where reports are counted."""
        return (0, *np.cumsum(self.tallies).tolist())

    @property
    def length(self) -> int:
        """How many integers the sums are."""
        return self.starts[-1] + len(self.nodes)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Bytes of each level's field."""
        bits = [
            nodes if unary else exponent + 1
            for nodes, unary, exponent in zip(self.nodes, self.unary, self.exponents, strict=True)
        ]
        return tuple((count + 7) // 8 for count in bits)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where each level's field begins in a payload."""
        if not self.joint:
            return (0,) * len(self.nodes)
        return (0, *np.cumsum(self.widths).tolist()[:-1])

    @cached_property
    def payload_bytes(self) -> int:
        """Length of a payload."""
        return sum(self.widths) if self.joint else max(self.widths)

    def tally(self, sums: Int64, level: int) -> Int64:
        """What was added up at a level."""
        return sums[self.starts[level] : self.starts[level + 1]]

    def reports(self, sums: Int64) -> Int64:
        """Reports that were added at each level, shape (levels,)."""
        return sums[self.starts[-1] :]

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports can have these sums."""
        each = self.reports(sums)
        if (each < 0).any() or (each > reports).any():
            return False
        if not ((each == reports).all() if self.joint else int(each.sum()) == reports):
            return False
        return all(self._reached(self.tally(sums, level), level, int(each[level])) for level in range(len(self.nodes)))

    def _reached(self, tally: Int64, level: int, reports: int) -> bool:
        """Whether so many answers at one level can add up to its tally."""
        if self.unary[level]:
            return bool((tally >= 0).all() and (tally <= reports).all())
        if not self.tallies[level]:
            return True
        if (tally < -reports).any() or (tally > reports).any():
            return False
        left = reports - int(np.abs(tally).sum())  # in pairs of opposite signs
        return left >= 0 and left % 2 == 0

    def answer_all(self, places: Sequence[Int64], threshold: int, *, source: RandomWords) -> UInt8:
        """Joint reports: a field for every level, from the node of each owner at each level."""
        payloads = np.empty((places[0].size, self.payload_bytes), dtype=np.uint8)
        for level, nodes in enumerate(places):
            field = payloads[:, self.offsets[level] : self.offsets[level] + self.widths[level]]
            if self.unary[level]:
                write_unary(field, nodes, self.nodes[level], threshold, source=source)
            else:
                exponents = np.full(nodes.size, self.exponents[level], dtype=np.int64)
                write_bytes(field, hadamard_values(exponents, nodes, threshold, source=source))
        return payloads

    def answer_one(
        self, levels: Int64, places: Int64, threshold: int, *, source: RandomWords, negative: Bool | None = None
    ) -> UInt8:
        """Reports about one level each, from the owner's level and its node there."""
        payloads = np.zeros((places.size, self.payload_bytes), dtype=np.uint8)
        if any(self.unary):
            for level in np.flatnonzero(self.unary):
                rows = np.flatnonzero(levels == level)
                field = np.empty((rows.size, self.widths[level]), dtype=np.uint8)
                write_unary(field, places[rows], self.nodes[level], threshold, source=source)
                payloads[rows, : self.widths[level]] = field
            rows = np.flatnonzero(~np.array(self.unary)[levels])
            part = np.empty((rows.size, self.payload_bytes), dtype=np.uint8)
            write_bytes(part, hadamard_values(self._shifts[levels[rows]], places[rows], threshold, source=source))
            payloads[rows] = part
            return payloads
        values = hadamard_values(self._shifts[levels], places, threshold, source=source, negative=negative)
        write_bytes(payloads, values)
        return payloads

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8, assignment: Assignment | None) -> Bool:
        """Add reports to sums in place; says which were well-formed."""
        from ogive.local.aggregation import add_hadamard, add_joint, add_single

        table = np.array(
            [self.nodes, self.unary, self.exponents, self.tallies, self.starts[:-1], self.offsets, self.widths],
            dtype=np.int64,
        )
        good = np.ones(len(payloads), dtype=np.bool_)
        if assignment is None:
            add_joint(sums, self.starts[-1], payloads, table, good)
        else:
            add = add_single if any(self.unary) else add_hadamard
            add(sums, self.starts[-1], numbers, payloads, table, *assignment.compiled, good)
        return good

    def read(self, payloads: UInt8, level: int) -> tuple[Int64, Int64]:
        """Index and sign of each report at a level of Hadamard responses; the reports are well-formed."""
        values = read_bytes(payloads[:, self.offsets[level] : self.offsets[level] + self.widths[level]])
        return values >> 1, 1 - 2 * (values & 1)


def hadamard_values(
    exponents: Int64, places: Int64, threshold: int, *, source: RandomWords, negative: Bool | None = None
) -> Int64:
    """Hadamard responses as numbers: bit 0 for the sign, the index above it."""
    indices = uniform_bits(source, exponents)
    signs = (np.bitwise_count(indices & places) & 1).astype(np.bool_)
    if negative is not None:
        signs ^= negative
    signs ^= bernoulli(source, places.size, threshold)
    values: Int64 = indices << 1 | signs
    return values


def write_unary(payloads: UInt8, places: Int64, nodes: int, threshold: int, *, source: RandomWords) -> None:
    """Unary responses: the owner's own bit is a fair coin, every other bit comes up with the threshold's chance."""
    rows = max(1, _CHUNK_BITS // nodes)
    for start in range(0, places.size, rows):
        own = places[start : start + rows]
        bits = bernoulli(source, own.size * nodes, threshold).reshape(own.size, nodes)
        bits[np.arange(own.size), own] = bernoulli(source, own.size, HALF)
        payloads[start : start + rows] = np.packbits(bits, axis=1, bitorder="little")


class LevelOracle(Flipping):
    """An oracle whose reports are about the nodes of some levels."""

    @property
    def layout(self) -> Layout:
        """Where bits lie and sums go."""
        raise NotImplementedError

    @property
    def levels(self) -> int:
        """How many levels there are."""
        raise NotImplementedError

    @property
    def levels_of(self) -> Assignment | None:
        """Who is asked which level; None where everybody is asked all."""
        raise NotImplementedError

    @property
    def scale(self) -> float:
        """Factor of an unbiased sign, 1 / (1 - 2 q)."""
        return float(1 / (1 - 2 * self.chance))

    @property
    def payload_bytes(self) -> int:
        """Length of an index and a bit, or of a bit for each node; for all levels if the budget is split."""
        return self.layout.payload_bytes

    @property
    def shape(self) -> tuple[int, ...]:
        """Sums per level, of signs per index or of ones per node, then reports per level."""
        return (self.layout.length,)

    def add(self, sums: Int64, numbers: Int64, payloads: UInt8) -> Bool:
        """Add reports in place; an index outside its level makes a report malformed."""
        numbers, payloads = check_reports(sums, self.shape, numbers, payloads, self.payload_bytes)
        return self.layout.add(sums, numbers, payloads, self.levels_of)

    def reports(self, sums: Int64) -> int:
        """Number of reports added."""
        each = self.layout.reports(sums)
        return int(each[0] if self.levels_of is None else each.sum())

    def possible(self, sums: Int64, reports: int) -> bool:
        """Whether this number of reports can have these sums."""
        return self.layout.possible(sums, reports)

    def level_reports(self, sums: Int64) -> Int64:
        """Reports that answered each level, shape (levels,)."""
        return self.layout.reports(check_sums(sums, self.shape)).copy()


# --- A tree over ordered symbols

MAX_SIZE = 1 << 40
MAX_UNARY_NODES = 1 << 10
Split = Literal["users", "budget"]
SPLITS: tuple[Split, ...] = get_args(Split)
Composition = Literal["basic", "advanced", "exact"]
COMPOSITIONS: tuple[Composition, ...] = get_args(Composition)
NodeReport = Literal["hadamard", "unary"]
NODES: tuple[NodeReport, ...] = get_args(NodeReport)
ASSIGNMENTS = ("even", "independent")


def slack_of_responses(chance: Fraction, responses: int, epsilon: Fraction) -> Fraction:
    """An upper bound, tight but for rounding, of the delta of several binary randomized responses together.

    Source: Kairouz, Oh and Viswanath 2015; no mechanisms as private as these responses cost more together.
    """
    below, keep = exp_below(epsilon), 1 - chance
    total = Fraction(0)
    for flipped in range(responses + 1):
        straight = keep ** (responses - flipped) * chance**flipped
        turned = chance ** (responses - flipped) * keep**flipped
        total += comb(responses, flipped) * max(straight - below * turned, Fraction(0))
    return total


@dataclass(frozen=True)
class TreeOracle(LevelOracle):
    """Report, with noise, the tree node that contains the symbol, at one level or at every level.

    Symbols are padded to branching^levels. Level l = 1..levels has branching^l nodes, and node q of it holds the
    symbols from q * branching^(levels - l) on; the root needs no report. Levels too large for a tally (more than 2^20
    indices) are only counted; `read` decodes their reports.

    Fields:
        size: Number of symbols, 2 to 2^40.
        epsilon: Privacy of a report, at least 1e-9.
        delta: 0, or the delta of a budget split by another rule than "basic".
        seed: Public, 0 to 2^63 - 1; with the participant's number it determines the level.
        branching: Children of a node, 2 to 8.
        split: "users" (each report answers one level) or "budget" (each answers all, with a share of epsilon).
        composition: Composition of a split budget: "basic", "advanced" or "exact"; `ogive.local.design_tree` computes
            the shares.
        nodes: "hadamard", or "unary" for less noise and longer reports at levels of up to 1024 nodes.
        assignment: Assignment of users to levels: "even" (balanced in every block of consecutive numbers) or
            "independent".
        level_epsilon: Privacy of one level's answer; None where it follows from the rest (users, or basic).

    Raises:
        ParameterError: a field is out of range, or the answers of all levels together cost more than the guarantee.

    Privacy: as `HaarOracle` and `UnaryOracle` at one level; all levels of a budget split together keep to
        epsilon and delta by an exact sum over the integer chances.

    Source: Bell, Bellet, Gascon and Kulkarni 2020, section 5 and algorithms 2 and 3; branching after Kulkarni,
        Cormode and Srivastava 2019.
    """

    size: int
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    _: KW_ONLY
    seed: int = 0
    branching: int = 2
    split: str = "users"
    composition: str = "basic"
    nodes: str = "hadamard"
    assignment: str = "even"
    level_epsilon: Fraction | None = None

    name: ClassVar[str] = "tree"

    def __post_init__(self) -> None:
        fix = object.__setattr__
        fix(self, "size", check_size(self.size, MAX_SIZE))
        fix(self, "epsilon", check_epsilon(self.epsilon))
        fix(self, "delta", exact(self.delta, "delta"))
        fix(self, "seed", any_whole(self.seed, "seed", 0, MAX_SEED))
        fix(self, "branching", any_whole(self.branching, "branching", 2, 8))
        among(self.split, "split", SPLITS)
        among(self.composition, "composition", COMPOSITIONS)
        among(self.nodes, "nodes", NODES)
        among(self.assignment, "assignment", ASSIGNMENTS)
        if self.split == "users" or self.composition == "basic":
            self._take_share()
        else:
            self._check_share()

    def _take_share(self) -> None:
        share = self.epsilon if self.split == "users" else self.epsilon / self.levels
        if self.delta != 0:
            raise ParameterError("delta is for a budget split by advanced or exact composition; else it must be 0")
        if self.level_epsilon is not None and exact(self.level_epsilon, "level_epsilon") != share:
            raise ParameterError(f"`level_epsilon` must be {share} here, got {quoted(self.level_epsilon)}")
        object.__setattr__(self, "level_epsilon", check_epsilon(share, "level_epsilon"))

    def _check_share(self) -> None:
        if self.delta == 0:
            raise ParameterError(f"{self.composition} composition needs a delta above 0; without one use basic")
        loss = ApproxDP(self.epsilon, self.delta)
        if self.level_epsilon is None:
            raise ParameterError(
                f"{self.composition} composition needs `level_epsilon`; ogive.local.design_tree computes it"
            )
        object.__setattr__(self, "level_epsilon", check_epsilon(self.level_epsilon, "level_epsilon"))
        if slack_of_responses(self.chance, self.levels, loss.epsilon) > loss.delta:
            raise ParameterError(f"{self.levels} answers of this `level_epsilon` cost more than the epsilon and delta")

    @cached_property
    def levels(self) -> int:
        """Levels that are asked, L."""
        levels, nodes = 1, self.branching
        while nodes < self.size:
            levels, nodes = levels + 1, nodes * self.branching
        return levels

    @property
    def padded(self) -> int:
        """Symbols with padding, branching^levels."""
        return int(self.branching**self.levels)

    @cached_property
    def _spans(self) -> Int64:
        """Symbols of a node at each level."""
        return np.array([self.branching ** (self.levels - level) for level in range(1, self.levels + 1)], np.int64)

    @cached_property
    def layout(self) -> Layout:
        """Where bits lie and sums go."""
        nodes = tuple(self.branching**level for level in range(1, self.levels + 1))
        unary = tuple(self.nodes == "unary" and count <= MAX_UNARY_NODES for count in nodes)
        return Layout(nodes, unary, self.split == "budget")

    @cached_property
    def levels_of(self) -> Assignment | None:
        """Who is asked which level; None where everybody is asked all."""
        if self.split == "budget":
            return None
        return Assignment.equal(self.seed, self.levels, self.assignment == "even")

    @property
    def tallied(self) -> int:
        """Number of levels with tallies, from the first; reports on other levels must be stored."""
        return sum(length > 0 for length in self.layout.tallies)

    @cached_property
    def _threshold(self) -> int:
        assert self.level_epsilon is not None
        return flip_threshold(self.level_epsilon)

    @property
    def loss(self) -> PureDP | ApproxDP:
        """The epsilon of the oracle."""
        return ApproxDP(self.epsilon, self.delta) if self.delta else PureDP(self.epsilon)

    @property
    def reach(self) -> float:
        """People that one report counts for at most, in every node of its level: 2 / (1 - 2 q), over its chance.

        With "even" assignment this assumes equal numbers of reports; a level with fewer reports has larger weights.
        """
        return 2 * self.scale * (1 if self.levels_of is None else 1 / min(self.levels_of.chances))

    def randomize(self, symbols: Int64, numbers: Int64, *, source: RandomWords) -> UInt8:
        """The reports of participants, shape (n, payload_bytes)."""
        symbols, numbers = check_symbols(symbols, numbers, self.size)
        if self.levels_of is None:
            places = [symbols // span for span in self._spans]
            return self.layout.answer_all(places, self._threshold, source=source)
        levels = self.levels_of.of(numbers)
        return self.layout.answer_one(levels, symbols // self._spans[levels], self._threshold, source=source)

    def read(self, numbers: Int64, payloads: UInt8) -> tuple[Int64, Int64, Int64]:
        """Decode Hadamard reports for levels too large for a tally.

        Args:
            numbers: Numbers of the participants, shape (n,).
            payloads: Their reports, shape (n, payload_bytes).

        Returns:
            Level of each report, 1..levels, or 0 if it is malformed or its level is unary; index j; sign -1 or 1.
            Each of shape (n,); if the budget is split (n, levels), where a malformed report has zeros throughout.
        """
        numbers, rows = np.asarray(numbers, np.int64), np.asarray(payloads)
        shape = (len(rows), self.levels) if self.levels_of is None else (len(rows),)
        results = [np.zeros(shape, dtype=np.int64) for _ in range(3)]
        own = None if self.levels_of is None else self.levels_of.of(numbers)
        sums = np.zeros(self.shape, dtype=np.int64)
        fine = self.add(sums, numbers, rows)
        for level in np.flatnonzero(~np.array(self.layout.unary)):
            chosen = np.flatnonzero(fine if own is None else fine & (own == level))
            indices, signs = self.layout.read(rows[chosen], int(level))
            place: Any = chosen if own is not None else (chosen, int(level))
            for array, values in zip(results, (level + 1, indices, signs), strict=True):
                array[place] = values
        return results[0], results[1], results[2]

    def factors(self, sums: Int64) -> list[float]:
        """Factor from the counts of each level's reports to counts of everybody, for levels with a tally.

        Raises:
            DataError: a level has no report.
        """
        each = self.layout.reports(check_sums(sums, self.shape))[: self.tallied]
        if self.levels_of is None:
            return [1.0] * self.tallied
        if self.assignment == "independent":
            return [1 / chance for chance in self.levels_of.chances[: self.tallied]]
        if not each.all():
            raise DataError(f"{self.reports(sums)} reports are too few: some of the {self.levels} levels have none")
        return [self.reports(sums) / int(reports) for reports in each]

    def counts(self, sums: Int64) -> list[Float64]:
        """Unbiased counts of everybody in each node, for levels with a tally.

        Returns:
            For level l = 1, 2, ... an array of shape (branching^l,).

        Raises:
            DataError: a level has no report.
        """
        from ogive.local.aggregation import transform

        result = check_sums(sums, self.shape)
        each = self.layout.reports(result)
        counts: list[Float64] = []
        for level, factor in enumerate(self.factors(result)):
            tally = self.layout.tally(result, level)
            if self.layout.unary[level]:
                signal = (tally - int(each[level]) * float(self.chance)) / float(Fraction(1, 2) - self.chance)
            else:
                signal = transform(tally.copy())[: self.layout.nodes[level]] * self.scale
            counts.append(np.asarray(signal * factor, dtype=np.float64))
        return counts

    def variances(self, sums: Int64) -> list[float]:
        """Variance v of the counts of almost empty nodes, for each level with a tally; see also `slopes`.

        Of Hadamard responses v bounds the variance of every node: reports * c^2, times the square of the factor.

        Raises:
            DataError: a level has no report.
        """
        each = self.layout.reports(check_sums(sums, self.shape))
        if self.assignment == "independent" and self.levels_of is not None:
            expected = [self.reports(sums) * chance for chance in self.levels_of.chances]
        else:
            expected = [float(reports) for reports in each]
        square = self.scale**2
        return [
            expected[level] * factor**2 * (square - 1 if self.layout.unary[level] else square)
            for level, factor in enumerate(self.factors(sums))
        ]

    def slopes(self, sums: Int64) -> list[float]:
        """Upper bound of the growth of a count's variance per person in the node; 0 for Hadamard responses.

        Raises:
            DataError: a level has no report.
        """
        return [2 * factor - 1 if self.layout.unary[level] else 0.0 for level, factor in enumerate(self.factors(sums))]


# --- Trees whose budget is split by a rule that needs an accountant; owners get the result, not this


def design_tree(size: int, epsilon: Rational, delta: Rational = 0, **fields: Any) -> TreeOracle:
    """Design a tree oracle with the largest epsilon per level that the composition allows.

    Args:
        size: Number of symbols.
        epsilon: Epsilon of a whole report.
        delta: Delta of a whole report; above 0 for a budget split by advanced or exact composition, else unused.
        fields: Other fields of `TreeOracle`.

    Raises:
        ParameterError: as for `TreeOracle`.
    """
    whole, slack = exact(epsilon, "epsilon"), exact(delta, "delta")
    rule = fields.get("composition", "basic")
    if fields.get("split", "users") == "users" or rule == "basic":
        return TreeOracle(size, whole, Fraction(0), **fields)
    levels = TreeOracle(size, whole, branching=fields.get("branching", 2)).levels
    from ogive.accounting.randomized_responses import per_report_epsilon  # which owners need not

    share = per_report_epsilon(whole, slack, levels, rule)
    return TreeOracle(size, whole, slack, level_epsilon=share, **fields)
