"""Words that people stumbled over do not come back, in what the program says, in the manual and in README."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from helpers.sources import nodes, parsed

import ogive

SOURCE = Path(ogive.__file__).parent
ROOT = SOURCE.parent.parent
REJECTED = {
    r"began (the|a) (account|new ledger|ledger)": "created",
    r"\b[Ww]hat is granted\b": "privacy guarantee",
    r"\bmore than (the|was) granted\b": "more than the privacy guarantee",
    r"\b[Gg]rant more\b": "use a larger privacy budget",
    r"\bsay how much privacy\b": "give a privacy guarantee",
    r"\bnobody's\b": "synthetic, or a sentence with a subject",
    r"\b[Ww]hether \w+ is right about\b": "calibration of",
    r"\bfalse alarms\b": "false positive rate",
    r"\ba coin would\b": "chance",
    r"\ba model that is right\b": "perfect calibration",
    r"\bwithout what noise adds\b": "corrected for noise",
    r"\bhow far off it may be\b": "accuracy",
    r"\bneeds --[\w-]+ [\w ]*beside it\b": "requires",
    r"\btakes for granted that everybody\b": "public",
    r"\bis had\b": "a verb with a subject",
    r"\bsay what (they|it) means? with\b": "choose their treatment with",
    r"\bsays? whose (row|record) it is\b": "the person's identifier",
    r"\bWho asks (says|does)\b": "the collector",
    r"\banybody can send\b": "possible",
    r"\bshape of your own\b": "other data",
    r"\btrained on other terms\b": "trained with other settings",
    r"\b(is|are) no (probabilit|plan\b|JSON\b|sanitized)": "is not a, are not",
    r"\bkeeps? no books\b": "records no charge",
    r"\bthe dearest (one|part|batch|release)\b": "the most expensive",
    r"\bnobody approves \w+ \w+ but who\b": "only participants approve",
    r"\band nobody does here\b": "a sentence with a subject",
    r"\bso that a release tells that there (is|are) none\b": "reveals that no value is missing",
    r"\bthere is none of more than\b": "it may have at most",
    r"\b(has|of|on|with) so many (records|thresholds|parties|votes)\b(?! that| as)": "this many, or the number",
    r"\bfewer than about so many\b": "a number, or fewer records",
    r"\bthe farthest quantile\b": "the largest quantile error",
}
LOUD = re.compile("|".join(f"(?:{each})" for each in REJECTED))
# sections of papers and proofs, and tests of private functions
LEFT_OUT = ("crypto",)


# modules, classes and functions, which may have a docstring
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def said(below, documented):
    """Every text of a module that is no docstring, with a space for each value that is filled in."""
    hidden = {id(node.body[0].value) for node in documented if node.body and isinstance(node.body[0], ast.Expr)}
    for node in below:
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else " " for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            yield node.value


def found(text):
    return [match[0] for match in LOUD.finditer(" ".join(text.split()))]


class Texts:
    """What a module says, in its docstrings and elsewhere."""

    def __init__(self, path):
        below = nodes(parsed(path.read_text(encoding="utf-8")))
        documented = [node for node in below if isinstance(node, DOCUMENTED)]
        self.name = path.name
        self.docstrings = [ast.get_docstring(node) or "" for node in documented]
        self.others = [*said(below, documented)]


@cache
def modules():
    paths = sorted(SOURCE.rglob("*.py"))
    return [Texts(path) for path in paths if path.relative_to(SOURCE).parts[0] not in LEFT_OUT]


def test_the_reference_has_no_rejected_words():
    texts = [(module.name, text) for module in modules() for text in module.docstrings]
    assert len(texts) > 5_000
    assert [(name, words) for name, text in texts if (words := found(text))] == []


def test_what_the_program_says_has_no_rejected_words():
    texts = [(module.name, text) for module in modules() for text in module.others]
    assert len(texts) > 5_000
    assert [(name, words) for name, text in texts if (words := found(text))] == []


def test_the_manual_has_no_rejected_words():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    assert len(pages) > 20
    assert [(page.name, words) for page in pages if (words := found(page.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize(
    "text",
    [
        "began the account 'patients' with limit epsilon = 3",
        "What is granted",
        "would cost epsilon = 2, more than the granted epsilon = 1",
        "Grant more privacy loss, or take more records.",
        "outliers that are nobody's records",
        "Whether score is right about TenYearCHD",
        "--delta needs --epsilon beside it",
        "for each share of\n   false alarms",
        "column 'x' has missing values; say what they mean with missing='low'",
        "column 'id' says whose record it is",
        "Who asks says that it is for gini",
        "more than anybody can send",
        "give like= for a shape of your own",
        "teachers that were trained on other terms",
        "values that are no probabilities",
        "None keeps no books",
        "no more than the dearest one",
    ],
)
def test_rejected_words_are_found(text):
    assert len(found(text)) == 1
    assert found("Calibration of score: the privacy guarantee of epsilon = 1; created account 'patients'") == []


# --- names of values

PARTICIPLES = ("found",)
FIELDS = {"statistics/describe/estimate.py"}
"""Files that read a stored field of that name."""
SHOWN = {"statistics/labels/view.py", "statistics/ustatistic/view.py"}
"""Files with a public function whose argument has that name."""


def participles(text):
    """Names of values, arguments and attributes that are a participle and not a noun."""
    for node in nodes(parsed(text)):
        name = getattr(node, "id", None) or getattr(node, "arg", None) or getattr(node, "attr", None)
        if isinstance(node, ast.Name | ast.arg | ast.Attribute) and name in PARTICIPLES:
            yield name


def test_values_have_names_of_things():
    places = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    named = {place for place, path in places.items() if [*participles(path.read_text(encoding="utf-8"))]}
    assert named <= FIELDS | SHOWN, "name the value by what it is: estimate, result, query"


def test_a_value_that_is_named_by_a_participle_is_noticed():
    """The control."""
    assert [*participles("def f(found):\n    return found.found\n")] == ["found"] * 3
