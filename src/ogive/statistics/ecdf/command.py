"""What the command line cannot read off the fields of a distribution function."""

from ogive.statistics.options import Command

OWNERS = {"missing": ("refuse", "low", "high"), "method": ("auto", "reports", "histogram"), "expected_records": ()}
"""What is left of a curve's options where owners are asked."""

OWNER_HELP = {
    "missing": "What a missing value means: an error, the lower bound, the upper bound, or the value that is named.",
    "method": "reports (the choice of auto): where in a hierarchy over all thresholds a value lies. histogram: in "
    "which "
    "of a few groups.",
}

COMMAND = Command(owners=OWNERS, owner_help=OWNER_HELP)
