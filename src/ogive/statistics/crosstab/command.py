"""What the command line cannot read off the fields of a cross table."""

from ogive.statistics.options import Command

COMMAND = Command(
    help={
        "rows": "The values of the first column, public: words, or one word with commas.",
        "columns": "The values of the second column, public: words, or one word with commas.",
    },
    groups=dict.fromkeys(("rows", "columns", "other", "missing"), "What is measured"),
    owner_help={
        "other": "What a value that is not declared means: refuse or count.",
        "missing": "What a missing value means: refuse or count.",
    },
    owners={"other": ("refuse", "count"), "missing": ("refuse", "count")},
)
