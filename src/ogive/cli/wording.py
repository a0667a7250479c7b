"""The library's messages in the words of the command line: its advice is Python, ours are options."""

from __future__ import annotations

import re

# options of one word that advice gives a value, as bins=100; words with underscores are in `_LONG_NAMES`
_NAMES = (
    "missing|method|smooth|grid|outside|positive|negative|records|bins|base|smallest|largest|part|batch|person|delta"
    "|split|composition|branching|parties|colluding|dropouts|servers|upload|noise"
)
_LONG_NAMES = "max_rows_per_person|positive_share|positive_when|false_alarm|expected_records"

_NAMES_IN_QUOTES = re.compile(r"'([^']*)'")

_PHRASES = (
    (r"\b(column|columns|score|probability|label)=(?= and |;)", r"--\1"),
    (r"\bor give votes with like=(?!\S)", "or give votes with --like"),
    (r"\bADD_OR_REMOVE keeps\b", "--adjacency add_or_remove keeps"),
    (r"\bsigma_([12]) must\b", r"--sigma\1 must"),
    (r"\bmax_answers\b", "--max-answers"),
    (r"\bwith name: ", "with --name: "),
    (r"^name is for\b", "--name is for"),
    (r"\btarget_delta\b=?", "--delta"),
    (r"privacy=, or --delta to spend what it costs", "--epsilon, or with --delta alone what it costs"),
    (r"\bhow much with privacy=(?!\S)", "how much with --epsilon and --delta"),
    (r"\bneeds the student's probabilities, a row for every query", "needs --student, the student's probabilities"),
    (r"bounds=\((\S+), (\S+)\)", r"--bounds \1 \2"),
    (r"groups=\('(\w+)', '(\w+)'\)", r"--groups \1 \2"),
    (r"categories=\('(\w+)', '(\w+)'\)", r"--categories \1 \2"),
    (r"\bleave out rounding='randomized'", "leave out --rounding randomized"),
    (r"\bwith groups=(?!\S)", "with --groups"),
    (r"\bgroups need by,", "--groups needs --by,"),
    (r"\bpublic_groups needs by,", "--public-groups needs --by,"),
    (r"limit=PureDP\((\S+)\)", r"--limit-epsilon \1"),
    (r"unit=PrivacyUnit\(Adjacency\.REPLACE\)", "--adjacency replace"),
    (r"privacy=\[?PureDP\(([^\s()]+)\)\]?", r"--epsilon \1"),
    (r"missing='(\w+)', '(\w+)' or '(\w+)'", r"--missing \1, \2 or \3"),
    (r"\b(missing|method)='(\w+)' or '(\w+)'", r"--\1 \2 or \3"),
    (r"\bunder ADD_OR_REMOVE, 'drop'", "under --adjacency add_or_remove, drop"),
    (r"\band part='([^\s']+)'", r"--part \1"),
    (r"\band part=('[^']+')", r"--part \1"),
    (rf"\b({_NAMES})='(\w+)'", r"--\1 \2"),
    (rf"\b({_NAMES})=(-?\d[\d.e+-]*\d|\d)", r"--\1 \2"),
    (r"\b(positive|negative)=(?![\w'])", r"--\1"),
    (r"\bname='([^\s']+)'", r"--data-set \1"),
    (r"\bname=('[^']+')", r"--data-set \1"),
    (r"^trust (\w+) needs (\w+),", r"--trust \1 needs --\2,"),
    (
        r"^(parties|colluding|dropouts|servers|upload|circuits|absent|rounds|design|noise|bits) must be\b",
        r"--\1 must be",
    ),
    (r"ApproxDP\(([^\s()]+), \"([^\s()]+)\"\)", r"--epsilon \1 --delta \2"),
    (r"\bgive a list of their tables, or\b", "say how many with --parties, or"),
    (r"^name must be\b", "--data-set must be"),
    (r"^name at least one column$", "name at least one column with --columns"),
    (r"\bcategories=\{'?([^\s':]+)'?: \((\w+), (\w+), (\w+)\)\}", r"--categories \1=\2,\3,\4"),
    (r"\bcategories=\{'?([^\s':]+)'?: \('(\w+)', '(\w+)'\)\}", r"--categories \1=\2,\3"),
    (r"\bcategories=\{('[^']+'): \((\w+), (\w+), (\w+)\)\}", r"--categories \1=\2,\3,\4"),
    (r"\bcategories=\{('[^']+'): \('(\w+)', '(\w+)'\)\}", r"--categories \1=\2,\3"),
    (r"\bcolumns=\('(\w+)', '(\w+)'\)", r"--columns \1 \2"),
    (r"\bpublic_groups=True", "--public-groups"),
    (r"\bpublic_labels=False", "--private-labels"),
    (r"\bpublic_labels=True", "--public-labels"),
    (r"\bwithout public_labels or public_groups\b", "without --public-labels or --public-groups"),
    (r"\bpublic=\[([^\[\]]+)\]", lambda found: " ".join(["--public", *map(_word, _NAMES_IN_QUOTES.findall(found[1]))])),
    (r"\bupdated=True", "--updated"),
    (r"\bother_people=True", "--other-people"),
    (r"\bprune=False", "--prune no"),
    (r"\bdf must be None, 'fitted' or\b", "--degrees-of-freedom must be fitted or"),
    (r"\bneeds person,", "needs --person,"),
    (r"^like has\b", "--like has"),
    (r"^jobs must be\b", "--jobs must be"),
    (r"\banswered must be\b", "--answered must be"),
    (r"\bsimulated on like;", "simulated on --like;"),
    (r"\bleave out auc=(\d)", r"leave out --auc \1"),
    (r"\bgive like= for\b", "give --like for"),
    (r"\bgiven as like\b", "given as --like"),
    (r"\(auc_interval\(\) simulates .* thresholds\)", "(no interval on so many thresholds; take fewer --bins for one)"),
    (rf"(?<!['\w])({_LONG_NAMES})=(\d+)", lambda found: f"{_option(found[1])} {found[2]}"),
    (rf"(?<!['\w])({_LONG_NAMES})(?!['\w])", lambda found: _option(found[1])),
    (r"\bAccount\.set_limit\b", "ogive ledger limit"),
    (r"adjacency ADD_OR_REMOVE", "--adjacency add_or_remove"),
    (r"adjacency REPLACE", "--adjacency replace"),
    # not in quotes, where they are what the user wrote
    (r"(?<!['\w])ZeroConcentratedDP(?!['\w])", "--rho"),
    (r"(?<!['\w])ApproxDP(?!['\w])", "--epsilon with --delta"),
    (r"(?<!['\w])PureDP(?!['\w])", "--epsilon without --delta"),
)

# advice on what a statistic asks for, which a description fixes
_ABOUT_THE_STUDY = "(say what|say which|widen the bounds|name all|write them as|check positive|use grid)"
_FIXED = "the description fixes what is accepted, and who wrote it with ogive local describe can"


def in_options(message: str) -> str:
    """Replace arguments in a message by the options that stand for them."""
    for phrase, options in _PHRASES:
        message = re.sub(phrase, options, message)
    return message


def to_owners(message: str) -> str:
    """What is said of records that a description does not accept: who asked can change that, their owners cannot."""
    return re.sub(rf"; (?={_ABOUT_THE_STUDY}\b)", f"; {_FIXED} ", message)


def _word(name: str) -> str:
    """A name as a word of the command line: in quotes only where it needs them."""
    return name if re.fullmatch(r"[\w.-]+", name) else f"'{name}'"


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
