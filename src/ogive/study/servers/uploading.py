"""One call that uploads: shares are made here, and sent until the server acknowledges them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ogive.core.checks import Progress
from ogive.errors import ParameterError
from ogive.study.https.sending import Sender
from ogive.study.servers.document import ServersStudy
from ogive.study.servers.enrolment import credential
from ogive.study.servers.uploads import columns_of_study, make_reports


def upload(
    study: ServersStudy | str | Path,
    records: Any,
    *,
    tokens: str | Sequence[str],
    connect: str,
    authority: str | Path | None = None,
    progress: Progress = lambda done, whole: None,
) -> int:
    """Split records into shares for the servers of a study, and send them.

    Nobody but this process sees a record. A person uploads once: with a token whose upload is stored already, nothing
    changes.

    Args:
        study: The study, or its file.
        records: One value, or a list or array of values, where the study asks for one column, else a table with a row
            for each token, in any form that `Records.of` reads.
        tokens: The person's token, or one for each record.
        connect: Address of the first server of the study, such as "https://north.example.org:8443".
        authority: File with the certificate that its certificate was issued with; None for those the system trusts.
        progress: Called with how many uploads were acknowledged, and how many there are.

    Returns:
        How many are new; the others were stored before.

    Raises:
        ParameterError: the study, a token or the address is none, tokens are not as many as records, or a table is to
            be read, or votes are asked, by an installation without what that takes.
        DataError: a record does not fit the study.
        PeerError: the server refuses an upload.
        RefusalError: the server does not answer, after several tries.

    Privacy: each server, and all but one of them together, sees random numbers. What all of them see together and
        what is published is said by `ogive study check`.

    Source:
        `methods/crypto.md`; `docs/servers.md`.
    """
    shown = [tokens] if isinstance(tokens, str) else list(tokens)
    try:
        read = study if isinstance(study, ServersStudy) else ServersStudy.read_to_upload(study)
        made = make_reports(read, _table(read, records), shown)
        new = 0
        with Sender(read.digest, connect, authority=None if authority is None else Path(authority)) as sender:
            for done, (report, token) in enumerate(zip(made, shown, strict=True), 1):
                new += sender.send(report, credential(token, study=read.digest, server=0).hex())
                progress(done, len(shown))
        return new
    except ModuleNotFoundError as missing:
        raise ParameterError(
            f"this upload needs the whole installation, pip install ogive: {missing}; one value, or a list of values, "
            "of another study than one of votes needs numpy and cryptography alone"
        ) from None


def _table(study: ServersStudy, records: Any) -> Any:
    """A table of what may be the values of a single column."""
    if isinstance(records, np.generic | np.ndarray) and records.ndim < 2 and records.dtype.kind in "biufU":
        records = records.tolist()
    if isinstance(records, int | float | datetime.date):
        records = [records]
    if not isinstance(records, list | tuple):
        return records
    columns = columns_of_study(study)
    if len(columns) > 1:
        raise ParameterError(f"the study asks for the columns {', '.join(columns)}; give a table with these")
    return {columns[0]: list(records)}
