"""What the command line cannot read off the fields of a proportion."""

from ogive.statistics.options import Command

COMMAND = Command(
    help={
        "positive": "Value or values that count as positive, public; every other value does not.",
        "negative": "Value or values that do not count as positive, public; with them, a value that is neither is an "
        "error.",
    },
    groups=dict.fromkeys(("positive", "negative", "missing"), "What is measured"),
    owners={"missing": ("refuse", "no")},
    compared="number",
)
