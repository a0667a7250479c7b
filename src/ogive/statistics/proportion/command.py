"""What the command line cannot read off the fields of a proportion."""

from ogive.statistics.options import Command

COMMAND = Command(
    help={"positive": "Value or values that count as positive, public; every other value does not."},
    groups=dict.fromkeys(("positive", "missing"), "What is measured"),
    owners={"missing": ("refuse", "no")},
    compared="number",
)
