"""Sending reports that were made on a device, each with the token of its participant."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from ogive.errors import ParameterError, plain
from ogive.local.codec import read_numbers
from ogive.local.description import Description
from ogive.study.https.sending import Sender

_MOST = 1 << 30
_TOKEN = re.compile(r"[0-9]+-[0-9a-f]{64}", re.ASCII)


def send(
    description: Description, reports: Path, *, tokens: Path, connect: str, authority: Path | None = None
) -> tuple[int, int]:
    """Send the reports in a file.

    Args:
        description: What they answer.
        reports: File of reports.
        tokens: File with a token of each of their participants, one a line; others are not used.
        connect: Address of the service, such as "https://lab.example.org:8443".
        authority: File with the certificate that its certificate was issued with; None for those the system trusts.

    Returns:
        How many the service has now, and of how many participants it has another report.

    Raises:
        ParameterError: a file cannot be read or is none, or a participant's token is not there; nothing is sent.
        PeerError: the service refuses a report.
        RefusalError: the service does not answer, after several tries.
    """
    data, size = _read(reports), description.report_bytes
    if len(data) > _MOST:
        raise ParameterError(f"{plain(reports)} has more than {_MOST} bytes; send parts of it")
    if not data or len(data) % size:
        raise ParameterError(f"{plain(reports)} holds no reports to this description, of {size} bytes each")
    numbers = read_numbers(np.frombuffer(data, np.uint8).reshape(-1, size)).tolist()
    shown = {each.partition("-")[0]: each for each in _read(tokens).decode("ascii", errors="replace").split()}
    for number in numbers:
        if not _TOKEN.fullmatch(shown.get(str(number), "")):
            raise ParameterError(f"{plain(tokens)} has no token of participant {number}; it begins with {number}-")
    with Sender(description.digest, connect, authority=authority) as sender:
        new = sum(
            sender.send(data[place * size : (place + 1) * size], shown[str(number)])
            for place, number in enumerate(numbers)
        )
    return new, len(numbers) - new


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST + 1)
    except OSError as problem:
        raise ParameterError(f"cannot read {plain(path)}: {problem.strerror}") from None
