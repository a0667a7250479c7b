"""--difference and --ratio: a number of two groups is compared after the release, which costs nothing more."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ogive.cli.help import OF_GROUPS
from ogive.errors import ParameterError, plain

if TYPE_CHECKING:
    from ogive.columns import LabelValue
    from ogive.statistics.kinds import Kind

Pairs = Annotated[tuple[tuple[str, str], ...], Parameter(show_default=False)]
"""Two groups; said once for each comparison."""


@Parameter(name="*", group=OF_GROUPS)
@dataclass(frozen=True, kw_only=True)
class ComparedOptions:
    """Which groups are compared."""

    difference: Pairs = ()
    """Two of the groups: also show the number of the first minus that of the second, with an interval. Give it once for
    each comparison. It costs nothing more."""

    ratio: Pairs = ()
    """Two of the groups: also show the number of the first divided by that of the second, with an interval."""

    @property
    def probability(self) -> float | None:
        """Of the quantile that is compared; None where none was named."""
        return None

    def check(self, statistic: Any) -> None:
        """Refuse, before anything is spent, comparisons that the estimate of a statistic would not have.

        Args:
            statistic: Of groups, or of a subset of them, or of all records.

        Raises:
            ParameterError: there are no groups, or none of these names, or the quantile is not released.
        """
        if not self._asked:
            return
        from ogive.contrast import check_probability
        from ogive.statistics.base import innermost
        from ogive.statistics.groups.compared import check_compared
        from ogive.statistics.groups.statistic import Grouped

        grouped = statistic if isinstance(statistic, Grouped) else getattr(statistic, "statistic", None)
        if not isinstance(grouped, Grouped):
            raise ParameterError(
                f"{self._option} compares two groups; name their column and its values, for example --by ward "
                "--by-groups A B"
            )
        if grouped.groups is None:
            raise ParameterError(
                f"{self._option} needs --by-groups, since a group that is not found cannot be compared; or write the "
                f"release to a file with -o, and compare groups that were found by ogive show FILE {self._option}"
            )
        check_probability(self._share, getattr(innermost(statistic), "probabilities", None))
        for _, group, other in self._pairs(grouped.groups):
            check_compared(group, other, grouped.by, grouped.groups)

    def added_to(self, estimate: Any) -> Any:
        """An estimate with the comparisons of its groups; the estimate as it is where none was asked for.

        Raises:
            ParameterError: it is not of groups, has no such groups, or no number to compare.
        """
        if not self._asked:
            return estimate
        from ogive.statistics.groups.estimate import GroupEstimates

        if not isinstance(estimate, GroupEstimates):
            self._refuse_without_number(estimate)
            self.refuse()
        compared = {"difference": estimate.difference, "ratio": estimate.ratio}
        return estimate.with_contrasts(
            *(
                compared[kind](group, other, probability=self._share)
                for kind, group, other in self._pairs(estimate.groups)
            )
        )

    def refuse(self) -> None:
        """Refuse comparisons of what has no groups.

        Raises:
            ParameterError: some were asked for.
        """
        if self._asked:
            raise ParameterError(f"{self._option} compares two groups of a release with --by; leave it out here")

    def _refuse_without_number(self, estimate: Any) -> None:
        """Refuse comparisons of an estimate which has several numbers, with groups or without.

        Raises:
            ParameterError: it has no number by which groups are compared.
        """
        from ogive.statistics.kinds import SCHEMAS

        kind = SCHEMAS[estimate.schema]
        if kind.command_options.compared is None:
            raise ParameterError(
                f"{self._option} compares one number of two groups, and a release of {kind.name} has none for that; "
                "release the number with --by, for example by ogive mean, proportion or quantiles"
            )

    @property
    def _asked(self) -> bool:
        if not self.difference and not self.ratio and self.probability is not None:
            raise ParameterError("--compared-quantile says what --difference or --ratio compares; add one of them")
        return bool(self.difference or self.ratio)

    @property
    def _option(self) -> str:
        return "--difference" if self.difference else "--ratio"

    @property
    def _share(self) -> float:
        return 0.5 if self.probability is None else self.probability

    def _pairs(self, groups: Sequence[LabelValue]) -> Iterator[tuple[str, LabelValue, LabelValue]]:
        for kind, pairs in (("difference", self.difference), ("ratio", self.ratio)):
            for one, other in pairs:
                yield kind, _group(one, groups), _group(other, groups)


@Parameter(name="*", group=OF_GROUPS)
@dataclass(frozen=True, kw_only=True)
class QuantileComparedOptions(ComparedOptions):
    """Which groups are compared by which quantile."""

    compared_quantile: float | None = None
    """Probability of the quantile that --difference and --ratio compare; the median (0.5) by default."""

    @property
    def probability(self) -> float | None:
        """Of the quantile that is compared; None where none was named."""
        return self.compared_quantile


NOTHING_COMPARED = QuantileComparedOptions()


def compared_options(kind: Kind) -> ComparedOptions | None:
    """The options of the command of a kind, where its estimates have a number by which groups are compared."""
    compared = kind.command_options.compared
    if compared is None:
        return None
    return QuantileComparedOptions() if compared == "quantile" else ComparedOptions()


def _group(word: str, groups: Sequence[LabelValue]) -> LabelValue:
    """The group that a word stands for; the word's own meaning where there is none."""
    from ogive.cli.forms.plain import group_of, meanings

    meant = meanings((word,))
    return next((group for group in groups if group in meant), group_of(word))


def check_pairs(arguments: Sequence[str], unused: str) -> None:
    """Refuse more words after --difference or --ratio than two groups.

    Args:
        arguments: Of a command.
        unused: Its first words that no option takes.

    Raises:
        ParameterError: they follow two groups.
    """
    for place, word in enumerate(arguments):
        option, groups = word, [*itertools.takewhile(lambda each: not each.startswith("-"), arguments[place + 1 :])]
        if option in ("--difference", "--ratio") and len(groups) > 2 and unused.startswith(groups[2]):
            one, other, more = map(plain, groups[:3])
            raise ParameterError(
                f"{option} takes two groups, and {more} is a third; give it once for each comparison, for example "
                f"{option} {one} {other} {option} {one} {more}; DATA comes before the options"
            )
