"""The section of a data-dependent cost that was published with noise, and why the exact one must not be published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.accounting.rounding import shown_up
from ogive.html.markup import Html, join, tag
from ogive.html.parts import Row, card, figure, fine, say, strong, table

if TYPE_CHECKING:
    from ogive.pate import SanitizedCost

TITLE = "What labels cost at the votes held"

MEANING = (
    "Where teachers agree, an answer tells little about any one of them, so that one run may reveal less than it is "
    "charged for. A data-dependent epsilon is about one run at the votes that were held: with any one teacher "
    "replaced, "
)
JOINT = "what was seen would have been at most e to the epsilon times less likely, except for an added chance of delta."
ADDITIVE = (
    "the answers that were given would have been at most e to the epsilon times less likely; this fails with a chance "
    "of at most delta."
)
LIMITS = (
    "With other votes the same run may reveal more. So this is not differential privacy, fits in no budget, and is not "
    "part of any total on this page."
)
SECRET = (
    "It is computed from the votes without noise. Two sets of votes that differ in one teacher have different costs, "
    "so whoever sees the exact number learns something about the votes that nothing hides: a number that moves when "
    "a hospital joins shows how that hospital votes."
)
NOISY = "What is shown here has noise as wide as one teacher could move it, and counts what publishing it cost."


def cost_section(cost: SanitizedCost, *, number: int, alone: bool = False) -> Html:
    """The section of one published cost.

    Args:
        cost: As it was published.
        number: Which section of the page, from 1.
        alone: Whether it is the only one, so that there are no contents to go back to.

    Privacy:
        Post-processing.
    """
    return tag(
        "article",
        tag("h2", TITLE, id=f"release-{number}"),
        tag("p", headline(cost), class_="lead"),
        tag("div", _numbers(cost), class_="tables"),
        tag(
            "div",
            card(
                "What a data-dependent epsilon means",
                say(MEANING, JOINT if cost.form == "joint" else ADDITIVE),
                say(LIMITS),
            ),
            card("Why the exact number must not be published", say(SECRET), say(NOISY)),
            card("How far off it may be", *_error(cost)),
            card(
                "What holds whatever the votes are",
                figure(f"epsilon = {shown_up(cost.independent_epsilon, '.3f')}, delta = {shown_up(cost.delta)}"),
                say(f"This is differential privacy, for at most {cost.max_answers:,} answers: what a ledger takes."),
            ),
            class_="cards",
        ),
        _details(cost),
        None if alone else tag("p", tag("a", "Back to the contents", href="#contents"), class_="fine back"),
        aria_labelledby=f"release-{number}",
    )


def headline(cost: SanitizedCost) -> str:
    """The cost in a sentence."""
    answered = "" if cost.answered is None else f", of which {cost.answered:,} were answered,"
    return (
        f"{cost.queries:,} queries to {cost.teachers:,} teachers{answered} cost about epsilon = {cost.epsilon:.3f} "
        f"at delta = {shown_up(cost.delta)}, at the votes that were held."
    )


def _numbers(cost: SanitizedCost) -> Html:
    rows: list[Row] = [("About, at these votes", [f"{cost.epsilon:.3f}"])]
    if cost.upper_limit is not None:
        rows.append(("At most, 95 % sure", [f"{shown_up(cost.upper_limit, '.3f')}"]))
    rows.append(("At any votes", [f"{shown_up(cost.independent_epsilon, '.3f')}"]))
    return table(f"Epsilon at delta = {shown_up(cost.delta)}", ["Cost", "Epsilon"], rows)


def _error(cost: SanitizedCost) -> tuple[Html, ...]:
    said = [say(strong("An estimate, not a bound:"), " half of the time it is below the true cost.")]
    if cost.upper_limit is not None:
        said.append(say(f"With 95 % confidence the true cost is at most {shown_up(cost.upper_limit, '.3f')}."))
        if cost.upper_limit >= cost.independent_epsilon:
            said.append(say("That is no less than what holds whatever the votes are, which is the number to go by."))
    return (*said, fine("How wide the noise was depends on the votes, and is secret too."))


def _details(cost: SanitizedCost) -> Html:
    entries = [
        ("Aggregator", cost.aggregator),
        ("Classes", f"{cost.classes:,}"),
        ("Form", "whatever is answered" if cost.form == "joint" else "the answers that were given"),
        ("Renyi order", f"{cost.order:g}"),
        ("Smoothness", f"{cost.smoothness:.4g}"),
        ("Scale of the noise", f"{cost.scale:.4g} smooth sensitivities"),
        ("Publishing took", f"{cost.release_rdp:.3f} of Renyi cost, counted above"),
        ("Sensitivity by", cost.method),
    ]
    rows = join(*(tag("div", tag("dt", name), tag("dd", value)) for name, value in entries))
    return tag("section", tag("h3", "Details"), tag("dl", rows), class_="details")
