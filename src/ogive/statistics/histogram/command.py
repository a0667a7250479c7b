"""What the command line cannot read off the fields of a histogram."""

from ogive.statistics.options import Command

COMMAND = Command(
    help={
        "values": "The categories, public, in the order in which they are shown: words, or one word with commas. By "
        "default those that enough records have are found, which needs --delta."
    },
    groups=dict.fromkeys(("values", "other", "missing"), "What is measured"),
    owner_help={
        "other": "What a value that is not declared means: refuse or count.",
        "missing": "What a missing value means: refuse or count.",
    },
    owners={"other": ("refuse", "count"), "missing": ("refuse", "count")},
)
