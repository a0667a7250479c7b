"""What the command line cannot read off the fields of a distribution function."""

from ogive.statistics.options import Command

OWNERS = {
    "missing": ("refuse", "low", "high"),
    "method": ("auto", "reports", "histogram"),
    "expected_records": (),
}
"""What is left of a curve's options where owners are asked."""

OWNER_HELP = {
    "missing": "What a missing value means: an error, the lower bound, the upper bound, or the value that is named.",
    "method": "reports (the choice of auto): where in a hierarchy over all thresholds a value lies. histogram: in "
    "which "
    "of a few groups.",
}
"""Of a curve's options, in few words."""

HELP = {
    "missing": "What a missing value means: refuse (an error), low or high (the lower or the upper bound), a public "
    "value (within the bounds, as which it counts), or drop (not counted; --adjacency add_or_remove only).",
    "expected_records": "A public guess of the number of records; for auto and the methods that need it, if that "
    "number is private. It is never taken from the records.",
}

COUNTED = {
    "counted": "rows, or people: all rows of a person (--person) share one weight, so the noise is that of one row "
    "each and the curve that of a random row of a random person; --max-rows-per-person has no effect then.",
}
"""Of a curve alone."""

COMMAND = Command(
    help=HELP | COUNTED,
    groups={"counted": "Options of methods"},
    owners=OWNERS | {"counted": ()},
    owner_help=OWNER_HELP,
    compared="quantile",
)
