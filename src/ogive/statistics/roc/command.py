"""What the command line cannot read off the fields of an ROC curve."""

from ogive.statistics.options import Command

COMMAND = Command(
    names={"budget": "division"},
    help={
        "public_labels": "Everybody may know each record's class, which --public declares and then is the default; "
        "only the score is hidden, with less noise.",
        "budget": "joint: one price covers both classes. split: half of it for each, as in the paper.",
        "method": "auto (smallest predicted error), path, tree_ls, hat_ls or sqrt.",
        "smooth": "auto, shrinkage, least_squares, least_absolute or isotonic.",
    },
)
