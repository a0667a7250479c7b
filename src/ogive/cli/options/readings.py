"""--max-fpr, --at-specificity and --at-sensitivity: parts of a released ROC curve, read at no cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from ogive.cli.help import READINGS
from ogive.errors import ParameterError

if TYPE_CHECKING:
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
        from ogive.statistics.roc.partial import checked_range, checked_rate

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
