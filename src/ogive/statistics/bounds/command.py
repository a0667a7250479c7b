"""What the command line cannot read off the fields of bounds."""

from ogive.statistics.options import Command

COMMAND = Command(
    help={
        "smallest": "Smallest magnitude that is told apart, public; 2^-20 by default. Smaller ones are rounded away "
        "from 0.",
        "largest": "Largest magnitude that is told apart, public; 2^63 by default. Larger ones count as this one.",
    },
    groups=dict.fromkeys(("smallest", "largest", "base", "beside"), "Question"),
)
