"""The file of a new study of servers, with one release to be edited."""

from __future__ import annotations

from collections.abc import Mapping

from ogive.study.common import FORMAT
from ogive.study.servers.document import SERVERS, ServersStudy

_TEXT = """\
# What is computed, by whom, and at what price. Everybody reads the same bytes: compare `sha256sum` of the file.
ogive-study = {format}
name = "{name}"
title = ""
# people split their record into shares for these servers, of which at least one must be honest
trust = "{trust}"
# about how many people will upload; what is uploaded and methods are chosen by it
records = {records}
# where organizations upload the sums of their records instead: how many there are, such as
# parties = 4
# how many uploads there are at the least before a release ends them; with fewer it is refused, and nothing is spent
min_uploads = 1
# what all releases together may cost the record of each person
budget = {{ epsilon = 1 }}

[unit]
# "replace" makes the number of records public; "add_or_remove" keeps it private, and the servers have to as well
adjacency = "replace"
{servers}
[[release]]
name = "age"
statistic = "ecdf"
privacy = {{ epsilon = 1 }}
column = "age"
bounds = [0, 120]
grid = "integers"
"""


def template(name: str, *, servers: Mapping[str, tuple[str, str]], records: int) -> str:
    """The text of a study of servers, which `ServersStudy.parse` reads.

    Args:
        name: Of the study.
        servers: Name -> public key and public key for uploads, as text; the first takes the uploads.
        records: How many there will be, about.

    Raises:
        ParameterError: a name, a key or a number is none.
    """
    written = "".join(
        f'\n[[server]]\nname = "{each}"\nkey = "{key}"\nsealing = "{sealing}"\n'
        for each, (key, sealing) in servers.items()
    )
    text = _TEXT.format(format=FORMAT, name=name, trust=SERVERS, records=records, servers=written)
    ServersStudy.parse(text.encode())
    return text
