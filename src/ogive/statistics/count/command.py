"""What the command line cannot read off the fields of a count."""

from ogive.statistics.options import Command

COMMAND = Command(
    help={"among": "Values that count, public; by default any value that is not missing."},
    groups=dict.fromkeys(("among", "missing"), "What is measured"),
    owners={},
    compared="number",
)
