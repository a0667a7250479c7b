"""What people see of a statistic of pairs: its value with the parts of its error, and its intervals as a picture."""

from __future__ import annotations

import math
from typing import Any, Unpack

from ogive.core.digits import number
from ogive.errors import ParameterError
from ogive.kernels.tuples import TripleTable
from ogive.provenance import trust_rows
from ogive.showing import words
from ogive.showing.axis import plain_number
from ogive.showing.parts import Html, Row, fine, say, strong, table
from ogive.showing.pictures import GRAY, Style, caption, intervals, lighten, new_axes
from ogive.showing.view import View
from ogive.statistics.confidence import TARGETS
from ogive.statistics.significance import brief, sentence
from ogive.statistics.ustatistic.estimate import UstatisticEstimate, tests_alone

_READ = {
    "gini": "The mean distance of two records.",
    "gini_coefficient": "0 if all records are equal, close to 1 if few records have almost everything.",
    "variance": "The mean squared distance of records from their mean.",
    "collision": "How spread out the categories are: 0 if all records are alike, larger if they are more varied.",
    "collision_probability": "The probability that two records are alike.",
    "kendall": "The share of pairs of records that both columns put in the same order, minus the share in opposite "
    "orders.",
    "kendall_b": "Kendall's tau, corrected for ties in each column.",
    "gamma": "Kendall's tau over the pairs that are tied in neither column.",
    "auc": "The probability that a positive record has a larger score than a negative one: 0.5 is chance, 1 is "
    "perfect.",
    "vus": "The probability that the scores of one record of each class are in the order of the classes.",
}

_CLIPPED = (
    "Noise follows a noisy bound of the largest count. With a probability of at most 0.001 the bound was too small, "
    "and equal pairs are too few; the interval has room for that."
)


class UstatisticEstimateView(View):
    """A value, its error and its interval."""

    estimate: UstatisticEstimate
    facts_width = 16
    guarantee_first = True
    truth_words = "the exact value of the same columns"

    @property
    def name(self) -> str:
        return self.estimate.title

    @property
    def short(self) -> str:
        return f"{self.name}: {self.estimate.value:.4g}"

    @property
    def subject(self) -> str:
        return " and ".join(self.estimate.columns)

    @property
    def facts(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        rows = [] if estimate.provenance is None else trust_rows(estimate.provenance.assumption)
        if not estimate.defined:
            warning = "these records leave this statistic undefined: it is a ratio whose denominator is 0"
            if estimate.private:
                warning = "noise leaves this statistic undefined; use a larger privacy budget or more records"
            return [*rows, ("warning", warning)]
        ends = estimate.interval()
        rows.append(("value", number(estimate.value, ends[1] - ends[0])))
        if not estimate.possible:
            rows.append(("note", self.impossible))
        if estimate.method == "degrees":
            rows.append(("note", "with probability 0.001 at most a frequent value was clipped, and pairs are too few"))
        if estimate.clipped:
            rows.append(("note", "a mean was set to the nearest possible value"))
        errors = [f"{name} {'at most ' * most}{value:.3g}" for name, value, most in self._errors]
        known = estimate.sampling_is_included or estimate.sampling_error is not None
        if not known:
            errors.insert(1, "sampling not known")
        rows.append(("error", f"{estimate.total_error:.3g} ({', '.join(errors)})"))
        if estimate.quantization > 0 and estimate.bins:
            rows.append(("rounding", f"to {self._bins} bins"))
            if estimate.quantization > estimate.standard_error:
                rows.append(("", "a grid of integers does not round whole numbers, and keeps their ties"))
        of = "the population" if known else "these records"
        rows.append((f"{100 * estimate.confidence_level:.6g} % CI", f"{_between(ends)} for {of}"))
        if estimate.private and estimate.sampling_error is not None:
            rows.append(("", f"{_between(estimate.interval(target='sample'))} for these records"))
        if tests_alone(estimate):
            rows.append(("test", brief(estimate.test())))
        return rows

    @property
    def impossible(self) -> str:
        low, high = self.estimate.limits
        return f"outside the possible values, {low:.6g} to {high:.6g}, because of noise"

    @property
    def _errors(self) -> list[tuple[str, float, bool]]:
        """Parts of the total error: from what, how large, and whether it is the most."""
        estimate = self.estimate
        noise = "noise, choice of pairs and sampling" if estimate.sampling_is_included else "randomization"
        parts = [(noise, estimate.randomization_error, False)]
        if estimate.sampling_error is not None:
            parts.append(("sampling", estimate.sampling_error, estimate.sampling_is_a_bound))
        if estimate.quantization > 0:
            parts.append(("rounding", estimate.quantization, True))
        return parts

    @property
    def _bins(self) -> str:
        return " x ".join(f"{size:,}" for size in self.estimate.bins)

    @property
    def columns(self) -> dict[str, Any]:
        low, high = self.estimate.interval()
        return {
            "statistic": [self.name],
            "value": [self.estimate.value],
            "total_error": [self.estimate.total_error],
            "low": [low],
            "high": [high],
        }

    def draw(self, ax: Any = None, **style: Unpack[Style]) -> Any:
        return plot_interval(self.estimate, ax, **style)

    # the chapter of a report

    @property
    def truth_for(self) -> str:
        return self.name

    def alike(self, truth: UstatisticEstimate) -> bool:
        return (truth.kernel, truth.columns) == (self.estimate.kernel, self.estimate.columns)

    @property
    def headline(self) -> str:
        estimate, what = self.estimate, _within(self.name)
        opening = f"{what[0].upper()}{what[1:]} is"
        if not estimate.defined:
            cause = "Noise hides" if estimate.private else "These records do not determine"
            return f"{cause} {what}: it is not defined."
        value = plain_number(estimate.value)
        if not estimate.private:
            return f"{opening} {value}."
        ends = " to ".join(map(plain_number, estimate.interval()))
        interval = f"({words.percent(estimate.confidence_level)} CI {ends})"
        if not estimate.possible:
            return f"{opening} released as {value} {interval}, {self.impossible}."
        return f"{opening} about {value} {interval}."

    @property
    def error(self) -> list[Html | str]:
        estimate, parts = self.estimate, list[Html | str]()
        if not estimate.defined:
            return ["There is no error to state: there is no value."]
        if estimate.private:
            ends = " to ".join(map(plain_number, estimate.interval(target="sample")))
            sure = words.percent(estimate.confidence_level)
            exact = f" contains the exact value of these records, with {sure} confidence."
            parts.append(say(strong(ends), exact))
        else:
            parts.append("The value is exact for these records.")
        if estimate.quantization > 0:
            parts.append(
                f"Rounding values to {'bins' if estimate.bins else 'steps'} changes it by at most "
                f"{plain_number(estimate.quantization)}, included above."
            )
        if tests_alone(estimate):
            parts.append(sentence(estimate.test()))
        return [*parts, fine("Intervals rest on the normal approximation.")]

    @property
    def released(self) -> list[Html | str]:
        estimate = self.estimate
        tuples = "triples" if any(mean.kernel == TripleTable.name for mean in estimate.means) else "pairs"
        parts: list[Html | str] = [f"One number about {tuples} of records, computed from {self.subject}."]
        kernel = "auc" if estimate.kernel == "auc_private" else estimate.kernel
        parts += [_READ[kernel]] if kernel in _READ else []
        if estimate.method == "degrees":
            parts.append(fine(_CLIPPED))
        if estimate.clipped:
            parts.append("Noise moved a part of it out of its range; it was set to the nearest possible value.")
        if estimate.private and estimate.classes is not None:
            parts.append("The class of each record is public, and so is the number of records in each class.")
        return parts

    @property
    def details(self) -> list[tuple[str, str]]:
        estimate = self.estimate
        entries = [("Kernel", estimate.kernel)]
        if estimate.bins:
            entries.append(("Bins", self._bins))
        if all(map(math.isfinite, estimate.limits)):
            entries.append(("Possible values", " to ".join(map(plain_number, estimate.limits))))
        if estimate.classes is not None:
            entries.append(("Classes", " and ".join(f"{size:,}" for size in estimate.classes)))
        return entries

    @property
    def useless(self) -> str | None:
        estimate = self.estimate
        if not estimate.private:
            return None if estimate.defined else "It is a ratio whose denominator is 0 for these records."
        if not estimate.defined:
            return "A denominator cannot be told from noise. Use a larger privacy budget or more records."
        if estimate.interval() == estimate.limits:
            return "Every possible value is consistent with this answer. Use a larger privacy budget or more records."
        return None

    def tables(self, exact: Any) -> list[Html]:
        estimate = self.estimate
        if not estimate.defined:
            return []
        numbers = [("Value", estimate.value)]
        if exact is not None:
            numbers.append(("True value of these records", exact.estimate.value))
        numbers.append(("Total error", estimate.total_error))
        parts = self._errors if estimate.private else self._errors[1:]
        numbers += [(f"from {name}{', at most' * most}", value) for name, value, most in parts]
        rows: list[Row] = [(name, [plain_number(value)]) for name, value in numbers]
        return [table("Value and errors", ("Number", "Released" if estimate.private else "Exact"), rows)]


def _between(ends: tuple[float, float]) -> str:
    return " to ".join(number(each, ends[1] - ends[0]) for each in ends)


def _within(title: str) -> str:
    """A title inside a sentence: with an article unless it begins with a person's name, which keeps its capital."""
    if title.startswith(("Kendall's", "Goodman")):
        return title
    common = title.startswith(("Variance", "Collision", "Volume", "Mean"))
    return f"the {title[0].lower() + title[1:] if common else title}"


def plot_interval(found: UstatisticEstimate, ax: Any = None, **style: Unpack[Style]) -> Any:
    """Draw a value as a point, with its intervals for the population and for these records.

    A value that noise moved out of what is possible is an empty point at the nearest possible one.

    Args:
        found: What to draw.
        ax: Axes to draw into; new ones by default.
        style: Of the intervals; see `ogive.plots.Style`.

    Returns:
        Matplotlib axes.

    Raises:
        ParameterError: matplotlib is not installed, the style is none, or the value is undefined.
    """
    if not math.isfinite(found.value):
        if found.private:
            raise ParameterError(
                "noise leaves this value undefined, so there is nothing to draw; use a larger privacy budget"
            )
        raise ParameterError("these records leave this value undefined, so there is nothing to draw")
    axes = new_axes(ax)
    least, most = found.limits
    place = min(max(found.value, least), most) if found.private else found.value
    moved = place != found.value
    level = f"{100 * found.confidence_level:.6g} % interval"
    ends = [found.interval(target=target) for target in TARGETS]
    intervals(axes, ["for the\npopulation", "for these\nrecords"], [place] * len(ends), ends, style, hollow=moved)
    axes.axvline(place, color=GRAY, linewidth=0.8, linestyle=(0, (5, 2)))
    low, high = found.interval()
    room = 0.6 * (high - low) or 0.05 * (abs(place) or 1.0)
    axes.set_xlim(min(low, place) - room, max(high, place) + room)
    for end in found.limits:
        if math.isfinite(end):
            axes.axvline(end, color=GRAY, linewidth=1.2)
    note = f"; noise moved it to {found.value:.4g}, drawn at the nearest possible value" if moved else ""
    axes.set_xlabel(f"{found.title} ({level}{note})")
    caption(axes, found.title, found.caption, private=found.private)
    lighten(axes, grid="x")
    return axes
