"""What the command line cannot read off the fields of a description."""

from ogive.statistics.options import Command

COMMAND = Command(
    names={"groups": "by-groups"},
    help={
        "groups": "The values of that column, public: all of them, also those that no record has. A word stands for "
        "the number or truth value that it writes, which is also the text. By default those that enough records have "
        "are found, which needs --delta.",
        "columns": "The variables, in the order of the table. By default all columns but those of persons and groups.",
        "public_groups": (
            "Each record's group is public knowledge: only the other values are hidden, with less noise. The default "
            "if --public declares the column."
        ),
    },
    groups={
        **dict.fromkeys(
            ("columns", "bounds", "values", "numbers", "missing", "count_missing", "weights", "search"), "Variables"
        ),
        **dict.fromkeys(("by", "groups", "public_groups"), "Groups"),
    },
)
