"""The file of a new study, with one release to be edited."""

from __future__ import annotations

from collections.abc import Mapping

from ogive.study.common import FORMAT
from ogive.study.document import MERGE, SECAGG, Study, StudyTrust

_TEXT = """\
# What is computed, by whom, and at what price. Everybody reads the same bytes: compare `sha256sum` of the file.
ogive-study = {format}
name = "{name}"
title = ""
# about how many records all parties have together; methods are chosen by it
records = {records}
{terms}dropouts = {dropouts}
# what all releases together may cost the records of each party
budget = {{ epsilon = 1 }}

[unit]
# "replace" makes the number of records public; "add_or_remove" keeps it private
adjacency = "replace"
# person = "patient"

[coordinator]
key = "{coordinator}"
{parties}
[[release]]
name = "age"
statistic = "ecdf"
privacy = {{ epsilon = 1 }}
column = "age"
bounds = [0, 120]
grid = "integers"
{method}"""

_TERMS = {
    SECAGG: """\
# how many parties may collude with the coordinator, or read the release; how many may leave a release
colluding = 1
""",
    MERGE: """\
# each party releases its own curves, which are added up; how many parties may be missing from the sum
trust = "merge"
""",
}
_METHOD = {SECAGG: "", MERGE: 'method = "hat_ls"\n'}


def template(
    name: str, *, coordinator: str, parties: Mapping[str, str], records: int, trust: StudyTrust = "secagg"
) -> str:
    """The text of a study, which `Study.parse` reads.

    Args:
        name: Of the study.
        coordinator: Its public key, as text.
        parties: Name -> public key, as text.
        records: How many all parties have together, about.
        trust: How the parties come together.

    Raises:
        ParameterError: a name, a key or a number is none.
    """
    written = "".join(f'\n[[party]]\nname = "{each}"\nkey = "{key}"\n' for each, key in parties.items())
    text = _TEXT.format(
        format=FORMAT,
        name=name,
        records=records,
        dropouts=1 if len(parties) > 3 else 0,
        coordinator=coordinator,
        parties=written,
        terms=_TERMS[trust],
        method=_METHOD[trust],
    )
    Study.parse(text.encode())
    return text
