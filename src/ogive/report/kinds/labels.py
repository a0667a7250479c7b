"""The chapter of labels: how many queries teachers answered, with which classes, and how close the noisy votes were."""

from __future__ import annotations

import numpy as np

from ogive.errors import ParameterError
from ogive.report import words
from ogive.report.chapter import Chapter
from ogive.report.markup import Html
from ogive.report.parts import Row, fine, say, strong, table
from ogive.statistics.labels_estimate import LabelsEstimate


def labels_chapter(found: LabelsEstimate, truth: LabelsEstimate | None) -> Chapter:
    """What labels say.

    Args:
        found: As released.
        truth: The labels of the exact votes on the same queries, or None.

    Raises:
        ParameterError: the truth is private or of other queries.
    """
    if truth is not None and not (
        isinstance(truth, LabelsEstimate)
        and truth.ballots == found.ballots
        and truth.provenance is not None
        and not truth.provenance.private
    ):
        raise ParameterError("the truth for labels must be labels of the exact votes on the same queries")
    assert found.provenance is not None
    return Chapter(
        title="Labels by the votes of teachers",
        subject="labels",
        provenance=found.provenance,
        headline=_headline(found),
        error=_error(found, truth),
        released=_released(found),
        tables=(_table(found, truth),),
        details=tuple((name.replace("_", " ").capitalize(), str(value)) for name, value in found.aggregator.items()),
        exact=truth is not None,
    )


def _headline(found: LabelsEstimate) -> str:
    queries = len(found.labels)
    asked = "" if found.asked == queries else f", of which {found.asked:,} were asked before the run ended"
    teachers = "Teachers" if found.total is None else f"{found.total:,} teachers"
    own = int((found.labels >= 0).sum()) - found.answered
    student = "" if own == 0 else f" The student was sure of {own:,} more."
    return f"{teachers} answered {found.answered:,} of {queries:,} queries{asked}.{student}"


def _error(found: LabelsEstimate, truth: LabelsEstimate | None) -> tuple[Html, ...]:
    said = []
    if truth is not None:
        wrong = found.errors(truth)["wrong"]
        said.append(say(strong(words.percent(wrong, 1)), " of the labels are not those of the exact votes."))
    if found.provenance is not None and not found.provenance.private:
        return (*said, say("These are the votes of most teachers, without noise."))
    margins = found.margins
    if margins is not None and found.answered:
        least = float(np.min(margins[found.taught]))
        said.append(
            say(f"Where a label was given, its noisy count leads the second one by at least {least:.1f} votes.")
        )
        if found.answered < len(found.labels):
            said.append(fine("Those with the largest margins were labelled: they are easier than the rest."))
    said.append(fine("Noise can turn a vote that is close. What most teachers get wrong, labels get wrong."))
    return tuple(said)


def _released(found: LabelsEstimate) -> tuple[Html, ...]:
    if found.opened is None:
        return (say("Which queries were answered, and a label for each of them. Votes were not opened."),)
    queries, classes = found.ballots.shape
    return (
        say(f"Noisy votes of {queries:,} queries for each of {classes:,} classes, and the labels read off them."),
        fine("Anything else may be read off the noisy votes at no further cost, such as soft labels for a student."),
    )


def _table(found: LabelsEstimate, truth: LabelsEstimate | None) -> Html:
    classes = found.ballots.shape[1]

    def counts(estimate: LabelsEstimate) -> list[int]:
        return [int(count) for count in np.bincount(estimate.labels[estimate.labels >= 0], minlength=classes)]

    columns = [counts(found), *([] if truth is None else [counts(truth)])]
    head = ["Class", "Labels", *([] if truth is None else ["Of exact votes"])]
    rows: list[Row] = [
        (str(number), [f"{each:,}" for each in cells]) for number, cells in enumerate(zip(*columns, strict=True))
    ]
    return table("How often each class was given", head, rows)
