"""The process that takes the reports of a collection."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from ogive.local.description import Description
from ogive.study.https.serving import LOG, listen, log_to_stderr, run
from ogive.study.local.enrolment import LIST, Participants
from ogive.study.local.https import LocalService
from ogive.study.local.released import ReleasedFile
from ogive.study.local.reports import LocalReports


def serve(
    description: Description, *, service: Path, store: Path, host: str, port: int, released: Path | None = None
) -> None:
    """Take reports until the process is told to stop.

    Args:
        description: What is asked.
        service: Folder of `enrolment.equip`.
        store: Folder of the reports, made if it is not there.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        released: File of the estimate that is published, once it is there; None publishes nothing.

    Raises:
        ParameterError: a file of the folder cannot be used, or the address.
        RefusalError: another process has the store, or it cannot be used.
    """
    participants = Participants.read(service / LIST, description)
    with (
        listen(service, host, port) as listening,
        closing(LocalReports(description, store, len(participants))) as reports,
    ):
        log_to_stderr()
        LOG.info(
            "collecting %s at https://%s:%d, %d people may report, %d have",
            description.id, host, listening.getsockname()[1], len(participants), len(reports),
        )  # fmt: skip
        run(LocalService(description, reports, participants, ReleasedFile(released)).application(), listening, service)
