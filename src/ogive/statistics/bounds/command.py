"""What the command line cannot read off the fields of bounds."""

from ogive.statistics.options import Command

COMMAND = Command(
    help={
        "smallest": "Smallest magnitude that is told apart, public; 2^-20 by default. Smaller ones are rounded away "
        "from 0.",
        "beside": "Largest probability that a bin without records, next to the bounds, extends them; a bin one place "
        "further off has a quarter of that. Without it every bin must pass the threshold of --false-alarm.",
        "largest": "Largest magnitude that is told apart, public; 2^63 by default. Larger ones count as this one.",
    },
    groups=dict.fromkeys(("smallest", "largest", "base", "beside"), "Question"),
)
