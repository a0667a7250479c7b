"""A collection of local reports with tokens, reports of all its participants, and its service as a process."""

import ssl

import httpx
import numpy as np
from helpers.forked import Forked
from helpers.study_service import free_port
from helpers.waiting import PATIENCE, until

import ogive
from ogive.local import Randomizer
from ogive.study.local import LIST, LocalReports, Participants, equip


class Seeded:
    """Random words that follow from a seed."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def words(self, count):
        return self._rng.integers(0, 1 << 32, count, dtype=np.uint32)


def ages(people, seed=1):
    return np.random.default_rng(seed).integers(18, 95, people)


def described(people, *, epsilon=1, statistic=None, title="Ages <of> people"):
    """What owners are asked."""
    asked = ogive.Ecdf("age", bounds=(0, 120), bins=64) if statistic is None else statistic
    return ogive.describe_collection(asked, privacy=ogive.PureDP(epsilon), participants=people, title=title)


def reports_of(description, values, *, seed=7):
    """The report of each participant."""
    data = Randomizer(description, source=Seeded(seed)).reports(values)
    size = description.report_bytes
    return [data[start : start + size] for start in range(0, len(data), size)]


class LocalTrial:
    """A collection in a folder.

    Args:
        folder: For all its files.
        people: How many have a token.
        asked: How many the description asks; by default as many.
    """

    def __init__(self, folder, *, people=40, asked=None, **options):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.description = described(people if asked is None else asked, **options)
        (folder / "study.json").write_text(self.description.to_json())
        equip(folder / "tls", self.description, count=people, hosts=("127.0.0.1",))
        self.tokens = (folder / "tls" / "tokens").read_text().split()
        self.values = ages(people)
        self.reports = reports_of(self.description, self.values)

    @property
    def store(self):
        return self.folder / "store"

    def participants(self):
        return Participants.read(self.folder / "tls" / LIST, self.description)

    def opened(self):
        return LocalReports(self.description, self.store, len(self.participants()))


class LocalProcess:
    """The service of a trial, a process of its own."""

    def __init__(self, trial):
        self.trial, self.port, self.running = trial, free_port(), None
        self.base = f"https://127.0.0.1:{self.port}"
        self.path = f"/v1/tasks/{trial.description.digest.hex()}/reports"

    @property
    def context(self):
        return ssl.create_default_context(cafile=str(self.trial.folder / "tls" / "ca.pem"))

    def start(self):
        words = ["local", "serve", "study.json", "--service", "tls", "--store", "store", "--port", str(self.port)]
        self.running = Forked(words, self.trial.folder, self.trial.folder / "log")

    def kill(self):
        if self.running is not None:
            self.running.kill(PATIENCE)
            self.running = None

    def status(self):
        """What the service tells, once it answers."""
        context = self.context

        def answer():
            try:
                return httpx.get(f"{self.base}/v1/status", verify=context, timeout=PATIENCE, trust_env=False).json()
            except httpx.HTTPError:
                return None

        return until(answer, told=lambda: (self.trial.folder / "log").read_text()[-1500:], every=0.05)

    def client(self):
        return httpx.Client(verify=self.context, base_url=self.base, timeout=PATIENCE, trust_env=False)

    def __enter__(self):
        try:
            self.start()
            self.status()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_):
        self.kill()
