"""A study of people who meet in pairs: its file, keys, and its service on loopback."""

import threading
from datetime import UTC, datetime, timedelta

import uvicorn
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from helpers.pairs_network import Watched
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, ended, until

from ogive.study.common import key_text
from ogive.study.document import PeopleStudy
from ogive.study.enrolment import equip
from ogive.study.https.service import configuration
from ogive.study.pairs.joining import join, largest_frame
from ogive.study.pairs.service import PairsService
from ogive.study.pairs.study import Meeting
from ogive.study.store import Store

RELEASE = """
[[release]]
name = "ward"
statistic = "ustat"
privacy = { epsilon = 140 }
columns = "ward"
kernel = "collision"
categories = [1, 2, 3, 4, 5, 6, 7, 8]
"""


def key_of(number):
    """The key of a person, from 1; 0 is the coordinator's."""
    return Ed25519PrivateKey.from_private_bytes((500 + number).to_bytes(32, "big"))


def public_text(number):
    return key_text(key_of(number).public_key().public_bytes_raw())


def study_text(count=8, *, seconds=2 * PATIENCE, release=RELEASE, **fields):
    """A study's file; `fields` are written instead of its own, as TOML, None for none."""
    listed = ", ".join(f'"{public_text(number)}"' for number in range(1, count + 1))
    deadline = datetime.now(UTC) + timedelta(seconds=seconds)
    written = {
        "ogive-study": "1",
        "name": '"wards"',
        "trust": '"pairs"',
        "deadline": deadline.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "budget": "{ epsilon = 140 }",
        "people": f"[{listed}]",
        "coordinator": f'{{ key = "{public_text(0)}" }}',
        **fields,
    }
    lines = [f"{name} = {value}" for name, value in written.items() if value is not None]
    return ("\n".join(lines) + "\n" + release).encode()


class Serving:
    """The service of a study with TLS, until the block ends.

    Args:
        folder: For all its files.
        study: The study.
        coming: How many people come; the pairs begin when they are there. None for all.
        pair_seconds: How long a pair may take.
    """

    def __init__(self, folder, study, *, coming=None, pair_seconds=PATIENCE):
        self.study, self.folder, self.port = study, folder, free_port()
        equip(folder / "service", study, hosts=("127.0.0.1",))
        self.store = Store(folder / "state.db")
        meeting = Meeting.of(study)
        self.service = PairsService(
            meeting, key=key_of(0), store=self.store, patience=PATIENCE, pair_seconds=pair_seconds
        )
        self.collector = self.service._collector
        if coming is not None:
            self.collector.__class__ = type("Expecting", (Watched,), {"coming": coming})
        longest = largest_frame(meeting.protocol)
        config = configuration(self.service.application(), folder / "service", longest_frame=longest)
        config.host, config.port, config.timeout_graceful_shutdown = "127.0.0.1", self.port, 1
        self._server = uvicorn.Server(config)

    def __enter__(self):
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        until(lambda: self._server.started or not self._thread.is_alive())
        assert self._server.started, "the service did not start"
        return self

    def __exit__(self, *_):
        self._server.should_exit = True
        try:
            ended(self._thread)
        finally:
            self.store.close()

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    @property
    def authority(self):
        return self.folder / "service" / "ca.pem"

    def join(self, number, ward, **more):
        """Takes part as a person, in this thread."""
        chosen = {
            "key": key_of(number),
            "ledger": str(self.folder / f"ledger-{number}"),
            "connect": self.url,
            "authority": self.authority,
            **more,
        }
        return join(self.study, {"ward": [ward]}, **chosen)

    def people(self, wards):
        """Everybody with a ward, each in a thread; what each of them returned or raised, by number."""
        found = {}

        def one(number, ward):
            try:
                found[number] = self.join(number, ward)
            except Exception as problem:
                found[number] = problem

        threads = [threading.Thread(target=one, args=each, daemon=True) for each in wards.items()]
        for thread in threads:
            thread.start()
        ended(*threads)
        return found


def study_of(**more):
    return PeopleStudy.parse(study_text(**more))
