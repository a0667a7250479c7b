"""The section of a data-dependent cost that was published with noise, and why the exact one must not be published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.accounting.rounding import shown_up
from ogive.html.markup import Html, join, tag
from ogive.html.parts import Row, card, figure, fine, say, strong, table

if TYPE_CHECKING:
    from ogive.pate import SanitizedCost

TITLE = "Data-dependent cost of labels"

MEANING = (
    "Where teachers agree, an answer reveals little about any one of them, so one run may reveal less than it is "
    "charged for. A data-dependent epsilon describes one run on the actual votes: with any one teacher replaced, "
)
JOINT = "the outputs would have been at most e to the epsilon times less likely, except for an added chance of delta."
ADDITIVE = (
    "the answers that were given would have been at most e to the epsilon times less likely; this fails with a chance "
    "of at most delta."
)
LIMITS = (
    "With other votes the same run may reveal more. So this cost is not differential privacy, cannot be charged to a "
    "budget, and is not part of any total on this page."
)
SECRET = (
    "The exact number is computed from the votes without noise. Two sets of votes that differ in one teacher have "
    "different costs, so the exact number reveals something about the votes that nothing hides: if it changes when "
    "a hospital joins, the change shows how that hospital votes."
)
NOISY = (
    "The number shown here has noise scaled to the largest change that one teacher can cause, and includes the cost of "
    "publishing it."
)


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
            card("Accuracy", *_error(cost)),
            card(
                "Cost that holds for any votes",
                figure(f"epsilon = {shown_up(cost.independent_epsilon, '.3f')}, delta = {shown_up(cost.delta)}"),
                say(
                    f"This is differential privacy, for at most {cost.max_answers:,} answers. A ledger charges this "
                    "cost."
                ),
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
        f"at delta = {shown_up(cost.delta)}, for the actual votes."
    )


def _numbers(cost: SanitizedCost) -> Html:
    rows: list[Row] = [("Estimate for these votes", [f"{cost.epsilon:.3f}"])]
    if cost.upper_limit is not None:
        rows.append(("Upper limit, 95 % confidence", [f"{shown_up(cost.upper_limit, '.3f')}"]))
    rows.append(("Bound for any votes", [f"{shown_up(cost.independent_epsilon, '.3f')}"]))
    return table(f"Epsilon at delta = {shown_up(cost.delta)}", ["Cost", "Epsilon"], rows)


def _error(cost: SanitizedCost) -> tuple[Html, ...]:
    said = [say(strong("An estimate, not a bound:"), " half of the time it is below the true cost.")]
    if cost.upper_limit is not None:
        said.append(say(f"With 95 % confidence the true cost is at most {shown_up(cost.upper_limit, '.3f')}."))
        if cost.upper_limit >= cost.independent_epsilon:
            said.append(say("This limit is not below the cost that holds for any votes; use that one."))
    return (*said, fine("The scale of the noise depends on the votes and is secret too."))


def _details(cost: SanitizedCost) -> Html:
    entries = [
        ("Aggregator", cost.aggregator),
        ("Classes", f"{cost.classes:,}"),
        ("Form", "all outputs" if cost.form == "joint" else "the answers that were given"),
        ("Renyi order", f"{cost.order:g}"),
        ("Smoothness", f"{cost.smoothness:.4g}"),
        ("Scale of the noise", f"{cost.scale:.4g} smooth sensitivities"),
        ("Cost of publishing", f"{cost.release_rdp:.3f} of Renyi cost, included above"),
        ("Sensitivity computed by", cost.method),
    ]
    rows = join(*(tag("div", tag("dt", name), tag("dd", value)) for name, value in entries))
    return tag("section", tag("h3", "Details"), tag("dl", rows), class_="details")
