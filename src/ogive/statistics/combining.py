"""Several releases of the same records as one estimate: what each says of a number counts by how exact it is.

A release measures integers with independent noise, which is independent of that of any other release. So what two
releases say of the same sum, the number of records of a group among them, is combined by inverse variances, and all
intervals follow from the law of what is left of both noises. Nothing is measured again, and nothing is charged.

Source:
    `docs/proofs/posterior.md`.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ogive.core.digits import number
from ogive.errors import DataError, ParameterError, UnsupportedError
from ogive.provenance import Provenance
from ogive.queries import Weights
from ogive.showing.view import aligned
from ogive.statistics.base import Estimate
from ogive.statistics.crosstab.estimate import CrosstabEstimate
from ogive.statistics.describe.estimate import DescribeEstimate
from ogive.statistics.groups.estimate import GroupEstimates
from ogive.statistics.histogram.estimate import HistogramEstimate
from ogive.statistics.sums.estimate import NumberEstimate
from ogive.statistics.sums.measured import LinearForm, Measured, scaled
from ogive.statistics.sums.posterior import joined

SCHEMA = "ogive.combined/1"
Part = NumberEstimate | HistogramEstimate | CrosstabEstimate
Population = tuple[str | None, str | None, str | None]
"""The condition that selects the records of a release, the column of groups, and which of them they are."""


@dataclass(frozen=True)
class Combined:
    """One question of one group, by each release that asked it, and by all of them.

    Fields:
        where: The condition of the release; None for all records.
        by: The column of groups, and `group` which of them it is; None outside of groups.
        sources: Which releases asked it, counted from 0.
        alone: What each of them says.
        together: What all say, with what others say of the number of records.
    """

    where: str | None
    by: str | None
    group: str | None
    sources: tuple[int, ...]
    alone: tuple[Part, ...]
    together: Part

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """For each number its name, what each release says and what all say, with intervals."""
        said = [dict(_cells(each)) for each in (*self.alone, self.together)]
        group = None if self.by is None else f"{self.by} = {self.group}"
        of = ", ".join(filter(None, (group, self.where and f"records where {self.where}")))
        return [(f"{name}{f' ({of})' if of else ''}", *(each.get(name, "-") for each in said)) for name in said[-1]]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        whose = {name: getattr(self, name) for name in ("where", "by", "group")}
        results = self.together.joint_results()
        return {"statistic": _named(self.together), **whose, "releases": list(self.sources), **results}


@dataclass(frozen=True)
class CombinedReleases:
    """All questions of several releases of the same records, each answered by all that was measured.

    Fields:
        parts: One for each question and group.
        left_out: Why parts of releases were not combined, as sentences.
    """

    parts: tuple[Combined, ...]
    left_out: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A table of numbers; those of several releases are followed by what each of them says."""
        lines = []
        for part in self.parts:
            for name, *said in part.rows:
                of_each = [f"release {place + 1}: {cell}" for place, cell in zip(part.sources, said, strict=False)]
                lines.append((name, said[-1], "; ".join(of_each)))
        return "\n".join([*aligned([("number", "all releases", "each alone"), *lines]), *self.left_out])

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "schema": SCHEMA,
            "parts": [part.to_dict() for part in self.parts],
            "left_out": list(self.left_out),
        }

    def to_json(self) -> str:
        """JSON text."""
        return json.dumps(self.to_dict(), indent=1)


def combine(*releases: Estimate) -> CombinedReleases:
    """Answer the questions of several releases of the same records by all that they measured.

    Counts, proportions, means, sums, histograms and cross tables are combined, also of groups and of the variables of a
    description. Releases that ask the same are averaged by inverse variances. Of releases that ask other things of the
    same groups, each takes the number of records from all of them, so that shares and means are nearer and agree.

    Args:
        releases: Two or more estimates. You affirm that they are of the same records; what the releases state of
            account, batch, number of records and person is compared.

    Raises:
        ParameterError: fewer than two releases were given, or one twice.
        DataError: releases state that they are of different records.
        UnsupportedError: nothing of them can be combined.

    Privacy:
        Post-processing of what was released: free.

    Source:
        `docs/proofs/posterior.md`.

    Example:
        >>> import ogive
        >>> session = ogive.Session({"age": [31, 42, 53] * 400}, limit=ogive.PureDP(2))
        >>> first = session.mean("age", bounds=(0, 100), privacy=ogive.PureDP("1/2"))
        >>> second = session.mean("age", bounds=(0, 100), privacy=ogive.PureDP(1))
        >>> mean = ogive.combine(first, second).parts[0].together
        >>> mean.noise_error < min(first.noise_error, second.noise_error)
        True
    """
    _check(releases)
    held: dict[tuple[Population, Any], list[tuple[int, Part]]] = {}
    left_out: list[str] = []
    for place, release in enumerate(releases):
        for by, group, part in _parts(release):
            if not isinstance(part, Part):
                left_out.append(f"release {place + 1}: {_named(part)} is not combined with others")
            elif (reason := _reason(part)) is not None:
                left_out.append(f"release {place + 1}: {_named(part)} {reason}")
            else:
                held.setdefault(((_source(release).where, by, group), _question(part)), []).append((place, part))
    together: dict[Any, Measured] = {}
    families: dict[Any, dict[str | None, list[Any]]] = {}
    for key, each in held.items():
        first, *others = (part for _, part in each)
        together[key] = functools.reduce(_with, (part.measured for part in others), first.measured)
        if any(together[key].size.coefficients) and "drop" not in str(first.missing):
            families.setdefault(key[0][:2], {}).setdefault(key[0][2], []).append(key)
    for family, rows in families.items():
        for keys, blocks in _joined(rows, _whole(releases, family, list(rows)), together):
            together.update(zip(keys, blocks, strict=True))
    parts = tuple(
        Combined(
            *key[0],
            tuple(place for place, _ in each),
            tuple(part for _, part in each),
            dataclasses.replace(each[0][1], measured=together[key]),
        )
        for key, each in held.items()
    )
    if len({place for part in parts for place in part.sources}) < 2:
        raise UnsupportedError(
            "; ".join(["fewer than two of these releases have counts, sums, means or tables to combine", *left_out])
        )
    return CombinedReleases(parts, tuple(dict.fromkeys(left_out)))


def _check(releases: Sequence[Estimate]) -> None:
    """Refuse what is not of several private releases of the same records."""
    if len(releases) < 2:
        raise ParameterError("name two releases or more, of the same records")
    stated = [each.provenance for each in releases]
    known = [each for each in stated if each is not None and each.private]
    if len(known) < len(stated):
        raise DataError("only private releases are combined; exact values need no other release")
    if len({each.release_id for each in known}) < len(known):
        raise ParameterError("a release was given twice; its noise is no less for that")
    for name, words in (
        ("account", "accounts of their ledgers"),
        ("batch", "batches"),
        ("adjacency", "adjacencies"),
        ("person", "columns of persons"),
        ("max_rows_per_person", "numbers of rows of a person"),
    ):
        if len({getattr(each, name) for each in known} - {None}) > 1:
            raise DataError(f"these releases state different {words}, so they are not of the same records")
    totals: dict[str | None, set[int]] = {}
    for each in known:
        if each.total is not None:
            totals.setdefault(each.where, set()).add(each.total)
    if any(len(each) > 1 for each in totals.values()):
        raise DataError("these releases state different numbers of records, so they are not of the same records")


def _source(release: Estimate) -> Provenance:
    assert release.provenance is not None, "checked"
    return release.provenance


def _parts(release: Estimate) -> Iterator[tuple[str | None, str | None, Estimate]]:
    """The groups of a release with their estimates, each by what was measured of it alone."""
    if isinstance(release, GroupEstimates):
        for group, each in release:
            yield release.by, str(group), each.alone() if isinstance(each, Part) else each
    elif isinstance(release, DescribeEstimate):
        for value, part in release.alone():
            yield (None, None, part) if value is None else (release.by, str(value), part)
    else:
        yield None, None, release.alone() if isinstance(release, Part) else release


def _whole(releases: Sequence[Estimate], family: tuple[str | None, str | None], groups: list[str | None]) -> int | None:
    """The public number of all records of these groups; None where it is private, or there may be other groups."""
    for each in releases:
        if not isinstance(each, GroupEstimates | DescribeEstimate) or each.threshold is not None:
            continue
        if (_source(each).where, each.by, {*map(str, each.groups)}) == (*family, {*groups}):
            return _source(each).total
    return None


def _joined(
    rows: Mapping[str | None, list[Any]], whole: int | None, together: Mapping[Any, Measured]
) -> Iterator[tuple[list[Any], list[Measured]]]:
    """The blocks of groups beside what others say of their numbers of records."""
    blocks = [[together[key] for key in keys] for keys in rows.values()]
    if len({len(row) for row in blocks}) == 1:
        yield from zip(rows.values(), joined(blocks, whole), strict=True)
    else:  # a question was asked of some groups alone
        for keys, row in zip(rows.values(), blocks, strict=True):
            yield keys, joined([row], None)[0]


def _reason(part: Part) -> str | None:
    """Why an estimate is not combined; None where it is."""
    if part.measured.law is None:
        return "has reports of owners, which are not combined with others"
    if isinstance(part, HistogramEstimate) and part.threshold is not None:
        return "has categories that were found, of which only large counts are shown"
    return None


def _named(part: Estimate) -> str:
    return str(part.view().about)


def _cells(part: Part) -> list[tuple[str, str]]:
    """Each number of an estimate by its name, with its interval."""
    if isinstance(part, NumberEstimate):
        error = part.standard_error
        texts = [number(each, error) for each in (part.value, *part.interval())] if part.defined else ["-", "-", "-"]
        return [(_named(part), "{} ({} to {})".format(*texts))]
    if isinstance(part, HistogramEstimate):
        names = [f"{part.column} = {each}" for each in part.categories]
    else:
        pairs = itertools.product(part.row_names, part.column_names)
        names = [f"{part.row} = {row}, {part.column} = {column}" for row, column in pairs]
    counts, ends = (list(np.ravel(each)) for each in (part.counts, part.count_intervals()))
    shown = [
        f"{count:,.0f} ({low:,.0f} to {high:,.0f})"
        for count, low, high in zip(counts, ends[::2], ends[1::2], strict=True)
    ]
    return list(zip(names, shown, strict=True))


def _sums(weights: Weights | None) -> list[str]:
    """The sums that are measured."""
    return [name for name in ("count", "slope", "square") if getattr(weights, name, 0)]


def _question(part: Part) -> tuple[Any, ...]:
    """What was asked, without how exactly."""
    own = {"measured", "provenance", "confidence_level"}
    fields = [each.name for each in dataclasses.fields(part) if each.name not in own]
    measured = part.measured
    form = measured.form, len(measured.values), measured.total, *_sums(measured.weights)
    return type(part), form, *(json.dumps(getattr(part, name), default=str, sort_keys=True) for name in fields)


def _with(one: Measured, other: Measured) -> Measured:
    """The integers of one release, beside what another says of each of them."""
    for place, unit in enumerate(np.eye(len(one.values)).tolist()):
        factor, constant = _factor(one, other, place)
        if factor is not None:
            form = LinearForm(tuple(unit))
            known = scaled(np.array(other.known(form)), factor)
            one = one.given(form, (known[0] + constant, *known[1:]))
    return one


def _factor(one: Measured, other: Measured, place: int) -> tuple[float | None, float]:
    """By what, and with what added, an integer of one release is that of another; None where it is not."""
    if one.form == "cells":
        return 2.0 ** (one.bits - other.bits), 0.0
    mine, theirs = one.weights, other.weights
    assert mine is not None, "sums have weights"
    assert theirs is not None, "sums have weights"
    name = _sums(mine)[place]
    factor = getattr(mine, name) / getattr(theirs, name)
    if name != "slope" or mine.shift == theirs.shift * factor:
        return factor, 0.0
    return (None, 0.0) if one.total is None else (factor, one.total * (mine.shift - theirs.shift * factor))
