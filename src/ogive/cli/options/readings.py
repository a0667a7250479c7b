"""What is read off a release at no cost: groups compared, and parts of a ROC curve."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ogive.cli.help import OF_GROUPS, READINGS
from ogive.errors import ParameterError, plain

if TYPE_CHECKING:
    from ogive.columns import LabelValue
    from ogive.statistics.kinds import Kind
    from ogive.statistics.roc.estimate import RocEstimate


@Parameter(name="*", group=READINGS)
@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Which parts of the curve are read."""

    max_fpr: float | None = None
    """Also show the area under the beginning of the curve, up to this false positive rate; it costs nothing more."""

    min_fpr: float | None = None
    """Where the range of --max-fpr begins, 0 by default."""

    at_specificity: float | None = None
    """Also show the sensitivity at this specificity, with its interval."""

    at_sensitivity: float | None = None
    """Also show the specificity at this sensitivity, with its interval."""

    def check(self, output_is_json: bool) -> None:
        """Refuse, before anything is spent, what no curve has.

        Args:
            output_is_json: Whether the release is written as JSON in place of a table.

        Raises:
            ParameterError: a rate is outside [0, 1], the range is empty, or there is no table to add lines to.
        """
        if not self.asked:
            return
        from ogive.statistics.roc.points import checked_range, checked_rate

        if self.max_fpr is None and self.min_fpr is not None:
            raise ParameterError("--min-fpr says where the range of --max-fpr begins; add --max-fpr")
        if self.max_fpr is not None:
            checked_range(self.min_fpr or 0.0, self.max_fpr)
        for name in ("at_specificity", "at_sensitivity"):
            if getattr(self, name) is not None:
                checked_rate(getattr(self, name), name)
        if output_is_json:
            raise ParameterError(
                f"{self._option} adds lines to the table; leave out --json, or write the release to a file with -o "
                f"and read it by ogive show FILE {self._option}"
            )

    @property
    def asked(self) -> bool:
        """Whether anything is read."""
        return (self.max_fpr, self.min_fpr, self.at_specificity, self.at_sensitivity) != (None,) * 4

    def added_to(self, table: Callable[[Any], str]) -> Callable[[Any], str]:
        """A table with the lines of what is read, of a curve or of those of groups."""

        def longer(estimate: Any) -> str:
            return "\n".join([table(estimate), *self._told(estimate)])

        return longer if self.asked else table

    def refuse(self) -> None:
        """Refuse readings of what is no ROC curve.

        Raises:
            ParameterError: some were asked for.
        """
        if self.asked:
            raise ParameterError(f"{self._option} reads a ROC curve; leave it out here")

    @property
    def _option(self) -> str:
        named = {
            "--max-fpr": self.max_fpr,
            "--min-fpr": self.min_fpr,
            "--at-specificity": self.at_specificity,
            "--at-sensitivity": self.at_sensitivity,
        }
        return next(option for option, given in named.items() if given is not None)

    def _told(self, estimate: Any) -> Iterator[str]:
        from ogive.statistics.groups.estimate import GroupEstimates
        from ogive.statistics.roc.estimate import RocEstimate

        if isinstance(estimate, RocEstimate):
            yield from (f"  {line}" for line in self._lines(estimate))
        elif isinstance(estimate, GroupEstimates) and isinstance(estimate.estimates[0], RocEstimate):
            for group, each in estimate:
                yield from (f"{group}: {line}" for line in self._lines(each))
        else:
            self.refuse()

    def _lines(self, estimate: RocEstimate) -> list[str]:
        from ogive.statistics.roc.text import partial_lines, rate_line

        lines: list[str] = []
        if self.max_fpr is not None:
            lines += partial_lines(estimate.partial_auc(self.max_fpr, min_fpr=self.min_fpr or 0.0))
        if self.at_specificity is not None:
            found = estimate.sensitivity_at(self.at_specificity)
            lines.append(rate_line("sensitivity", "specificity", self.at_specificity, found))
        if self.at_sensitivity is not None:
            found = estimate.specificity_at(self.at_sensitivity)
            lines.append(rate_line("specificity", "sensitivity", self.at_sensitivity, found))
        if estimate.defined:
            lines.append(f"intervals: {100 * estimate.confidence_level:.6g} %, for the population")
        return lines


NOTHING_READ = ReadingOptions()


# --- --difference and --ratio

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
        from ogive.statistics.base import innermost
        from ogive.statistics.contrast import check_probability
        from ogive.statistics.groups.contrast import check_compared
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
    """The group that a word stands for; if there is no such group, the word's own meaning."""
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
