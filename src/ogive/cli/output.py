"""Where results go, checked before privacy is spent, and what is read off them at no cost."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ogive.cli import forms
from ogive.cli.help import OF_GROUPS, READINGS
from ogive.cli.options import OutputOptions
from ogive.core.checks import Progress
from ogive.core.files import check_writable, permissions, write_atomically
from ogive.errors import ParameterError, RefusalError, plain, quoted
from ogive.provenance import publishable

if TYPE_CHECKING:
    from ogive.columns import LabelValue
    from ogive.records.foreign import Table
    from ogive.statistics.kinds import Kind
    from ogive.statistics.roc.estimate import RocEstimate


def check_outputs(
    data: Path | str | Table | None, *outputs: Path | None, plot: Path | None = None, keep: Sequence[Path] = ()
) -> None:
    """Refuse, before anything is spent, outputs that could not be written or would destroy a file of this run.

    Args:
        data: The file that holds the records, if there is one; an address is not a file that is written.
        outputs: What will be written.
        plot: The picture that will be drawn, if any.
        keep: Other files of this run, such as its ledger.
    """
    if plot is not None:
        _check_picture(plot)
    inputs = {Path(path).resolve() for path in (data, *keep) if isinstance(path, os.PathLike)}
    for path in filter(None, (*outputs, plot)):
        if path.resolve() in inputs:
            raise ParameterError(f"the output {plain(path)} would overwrite another file of this run; name another")
        inputs.add(path.resolve())
        check_writable(path)


def _check_picture(path: Path) -> None:
    from ogive.showing.pictures import SUFFIXES

    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"--plot must name a {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file, got {quoted(str(path))}"
        )
    try:
        import matplotlib.figure  # noqa: F401
    except ModuleNotFoundError:
        raise ParameterError("--plot needs matplotlib; install it with: pip install 'ogive[plots]'") from None


@contextlib.contextmanager
def busy(message: str) -> Iterator[Progress]:
    """Show on standard error, where that is a terminal, that something is being done.

    It yields what may be called with steps done and to do, which are then shown too.
    """
    if not sys.stderr.isatty():
        yield lambda done, whole: None
        return
    from rich.console import Console

    with Console(stderr=True).status(message) as status:
        yield lambda done, whole: status.update(f"{message}: {done} of {whole}")


def write_result(
    result: Any,
    output: OutputOptions,
    *,
    text: Callable[[Any], str] = str,
    public: bool | None = None,
    kept_in: str | None = None,
    plot: Path | None = None,
) -> None:
    """Write a result where it was asked for, and draw it.

    Args:
        result: An estimate, a plan or a document.
        output: Where it goes.
        text: The result as text.
        public: Whether it may be published; else the file is for its owner alone. By default as its provenance says.
        kept_in: The ledger that has the result too, if one does.
        plot: Where a picture of it goes, if one was asked for.
    """
    public = publishable(result.provenance) if public is None else public
    write_out(result.to_json, lambda: text(result), output, public=public, kept_in=kept_in)
    if plot is not None:
        draw(result.plot, plot)


def write_out(
    as_json: Callable[[], str],
    as_table: Callable[[], str],
    output: OutputOptions,
    *,
    public: bool,
    kept_in: str | None = None,
) -> None:
    """Write a result to standard output as a table, or with --json as JSON and nothing else; a file has JSON besides.

    A file that could not be written although it could when it was checked is a refusal: the result is then in the
    ledger, or else on standard output, so what was paid for is not lost.
    """
    content = as_json() if output.json or output.output is not None else ""
    if output.output is not None:
        try:
            write_atomically(output.output, f"{content}\n".encode(), mode=permissions(public=public))
        except ParameterError as problem:
            if kept_in is not None:
                raise RefusalError(f"{problem.marked}; the ledger has the result: ask again at no cost") from None
            print(content)
            raise RefusalError(f"{problem.marked}; the result went to standard output instead") from None
        print(f"wrote {output.output}", file=sys.stderr)
    print(content if output.json else as_table())


def draw(plot: Callable[[Any], Any], path: Path) -> None:
    """Draw into a file whose suffix was checked before; for its owner alone where the picture is not private."""
    from ogive.showing.pictures import save

    drawn = plot(None)
    try:
        save(drawn, path)
    except ParameterError as problem:
        raise RefusalError(f"{problem.marked}; the rest of the result is as it was asked for") from None
    print(f"wrote {path}", file=sys.stderr)


# --- What is read off a release at no cost: parts of a ROC curve, and groups compared


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
        """Refuse, before anything is spent, what no curve has."""
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
        return any(value is not None for value in vars(self).values())

    def added_to(self, table: Callable[[Any], str]) -> Callable[[Any], str]:
        """A table with the lines of what is read, of a curve or of those of groups."""

        def longer(estimate: Any) -> str:
            return "\n".join([table(estimate), *self._readings(estimate)])

        return longer if self.asked else table

    def refuse(self) -> None:
        """Refuse readings of what is not a ROC curve."""
        if self.asked:
            raise ParameterError(f"{self._option} reads a ROC curve; leave it out here")

    @property
    def _option(self) -> str:
        given = next(name for name, value in vars(self).items() if value is not None)
        return f"--{given.replace('_', '-')}"

    def _readings(self, estimate: Any) -> Iterator[str]:
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
        from ogive.statistics.roc.view import partial_lines, rate_line

        lines: list[str] = []
        together = sum(each is not None for each in (self.max_fpr, self.at_specificity, self.at_sensitivity)) > 1
        if self.max_fpr is not None:
            lines += partial_lines(estimate.partial_auc(self.max_fpr, min_fpr=self.min_fpr or 0.0))
        if self.at_specificity is not None:
            result = estimate.sensitivity_at(self.at_specificity, simultaneous=together)
            lines.append(rate_line("sensitivity", "specificity", self.at_specificity, result))
        if self.at_sensitivity is not None:
            result = estimate.specificity_at(self.at_sensitivity, simultaneous=together)
            lines.append(rate_line("specificity", "sensitivity", self.at_sensitivity, result))
        if estimate.defined:
            held = ", all at once" if together else ""
            lines.append(f"intervals: {100 * estimate.confidence_level:.6g} %, for the population{held}")
        return lines


NOTHING_READ = ReadingOptions()


@Parameter(name="*", group=READINGS)
@dataclass(frozen=True, kw_only=True)
class PlaceOptions:
    """At which places more is told."""

    at: Annotated[tuple[float, ...], Parameter(consume_multiple=True, show_default=False)] = ()
    """Also tell what is read there: of survival times, of a validation thresholds of the predicted probability."""

    def check(self, output_is_json: bool) -> None:
        """Refuse, before anything is spent, what JSON has no place for."""
        if self.at and output_is_json:
            raise ParameterError(
                "--at adds lines to the table; leave out --json, and read a file by ogive show FILE --at"
            )

    def added_to(self, table: Callable[[Any], str]) -> Callable[[Any], str]:
        """A table with the lines of these places, of one estimate or of those of groups and their differences."""
        return (lambda estimate: "\n".join([table(estimate), *self._lines(estimate)])) if self.at else table

    def _lines(self, estimate: Any) -> Iterator[str]:
        from ogive.statistics.groups.estimate import GroupEstimates

        if not isinstance(estimate, GroupEstimates):
            yield from (f"  {line}" for place in self.at for line in estimate.view().at(place))
            return
        first = estimate.estimates[0].view()
        for place in self.at:
            yield from (f"{group}: {line}" for group, each in estimate for line in each.view().at(place))
            yield from first.between_at(estimate.groups, estimate.estimates, place)


NOWHERE = PlaceOptions()


@Parameter(name="*", group=OF_GROUPS)
@dataclass(frozen=True, kw_only=True)
class TestOptions:
    """Whether groups of a description are compared."""

    tests: Annotated[bool, Parameter(show_default=False)] = False
    """Also compare the groups in every variable: standardized differences, and p-values that know the noise, corrected
    for their number."""

    def check(self, output_is_json: bool, *, groups: bool) -> None:
        """Refuse, before anything is spent, what cannot be told."""
        if self.tests and output_is_json:
            raise ParameterError(
                "--tests adds lines to the table; leave out --json, and read a file by ogive show --tests"
            )
        if self.tests and not groups:
            raise ParameterError("--tests compares groups; name their column with --by")

    def added_to(self, table: Callable[[Any], str]) -> Callable[[Any], str]:
        """A table with a line for each variable."""

        def longer(estimate: Any) -> str:
            compared = getattr(estimate, "differences", None)
            if compared is None:
                raise ParameterError("--tests compares the groups of a description; leave it out here")
            return "\n".join([table(estimate), "Differences of the groups:", *(f"  {each}" for each in compared())])

        return longer if self.tests else table


NOT_TESTED = TestOptions()


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

    def check(self, statistic: Any) -> None:
        """Refuse, before anything is spent, comparisons that the estimate of a statistic would not have."""
        if not self._asked:
            return
        from ogive.statistics.base import innermost
        from ogive.statistics.confidence import check_probability
        from ogive.statistics.groups.estimate import check_compared
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
        """An estimate with the comparisons of its groups; the estimate as it is where none was asked for."""
        if not self._asked:
            return estimate
        from ogive.statistics.groups.estimate import GroupEstimates

        if not isinstance(estimate, GroupEstimates):
            from ogive.statistics.kinds import SCHEMAS

            kind = SCHEMAS[estimate.schema]
            if kind.command_options.compared is None:
                raise ParameterError(
                    f"{self._option} compares one number of two groups, and a release of {kind.name} has none for "
                    "that; release the number with --by, for example by ogive mean, proportion or quantiles"
                )
            self.refuse()
        compared = {"difference": estimate.difference, "ratio": estimate.ratio}
        return estimate.with_contrasts(
            *(
                compared[kind](group, other, probability=self._share)
                for kind, group, other in self._pairs(estimate.groups)
            )
        )

    def refuse(self) -> None:
        """Refuse comparisons of what has no groups."""
        if self._asked:
            raise ParameterError(f"{self._option} compares two groups of a release with --by; leave it out here")

    @property
    def _asked(self) -> bool:
        if not self.difference and not self.ratio and getattr(self, "compared_quantile", None) is not None:
            raise ParameterError("--compared-quantile says what --difference or --ratio compares; add one of them")
        return bool(self.difference or self.ratio)

    @property
    def _option(self) -> str:
        return "--difference" if self.difference else "--ratio"

    @property
    def _share(self) -> float:
        share = getattr(self, "compared_quantile", None)
        return 0.5 if share is None else share

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


NOTHING_COMPARED = QuantileComparedOptions()


def compared_options(kind: Kind) -> ComparedOptions | None:
    """The options of the command of a kind, where its estimates have a number by which groups are compared."""
    compared = kind.command_options.compared
    if compared is None:
        return None
    return QuantileComparedOptions() if compared == "quantile" else ComparedOptions()


def _group(word: str, groups: Sequence[LabelValue]) -> LabelValue:
    """The group that a word stands for; if there is no such group, the word's own meaning."""
    meant = forms.meanings((word,))
    return next((group for group in groups if group in meant), forms.group_of(word))


def check_pairs(arguments: Sequence[str], unused: str) -> None:
    """Refuse more words after --difference or --ratio than two groups."""
    for place, word in enumerate(arguments):
        option, groups = word, [*itertools.takewhile(lambda each: not each.startswith("-"), arguments[place + 1 :])]
        if option in ("--difference", "--ratio") and len(groups) > 2 and unused.startswith(groups[2]):
            one, other, more = map(plain, groups[:3])
            raise ParameterError(
                f"{option} takes two groups, and {more} is a third; give it once for each comparison, for example "
                f"{option} {one} {other} {option} {one} {more}; DATA comes before the options"
            )
