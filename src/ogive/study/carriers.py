"""How questions reach an agent over HTTPS: it connects outwards, waits for questions and sends replies."""

from __future__ import annotations

import random
import re
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from ogive.errors import LedgerError, ParameterError, PeerError, plain
from ogive.study.agent import Agent
from ogive.study.common import LOG
from ogive.study.https import believing, read_address
from ogive.study.https.mailbox import Mailbox, Unavailable, UnknownToken

# --- An agent's connection to its coordinator over HTTPS

WAIT_SECONDS = 25.0
LONGEST_PAUSE = 15.0
_PAUSE = 0.5
_NUMBER = re.compile(r"\[Errno -?[0-9]+\] ")


class Connection:
    """The connection of one agent, which connects outwards, waits for questions and sends replies."""

    def __init__(
        self,
        url: str,
        name: str,
        token: str,
        *,
        authority: Path | None = None,
        certificate: tuple[Path, Path] | None = None,
    ) -> None:
        read_address(url, "the coordinator")
        context = believing(authority)
        if certificate is not None:
            try:
                context.load_cert_chain(*certificate)
            except OSError as problem:  # ssl.SSLError is one
                raise ParameterError(
                    f"the certificate {plain(certificate[0])} cannot be used: {problem.strerror}"
                ) from None
        self._mailbox = Mailbox(url, name, token, context, wait=WAIT_SECONDS)
        self._line = ""

    def run(self, agent: Agent, stop: threading.Event) -> None:
        """Answer questions until told to stop; a connection that is lost is tried again."""
        pause = _PAUSE
        while not stop.is_set():
            try:
                busy = self.once(agent)
            except UnknownToken as problem:
                raise PeerError(str(problem)) from None
            except (httpx.HTTPError, LedgerError, Unavailable) as problem:
                self._say(f"waiting for the coordinator, which is tried again: {_reason(problem)}")
                stop.wait(pause * (1 + random.random()) / 2)  # so that agents do not return all at once
                pause = min(2 * pause, LONGEST_PAUSE)
                continue
            pause = _PAUSE
            if not busy:
                stop.wait(0.01)

    def once(self, agent: Agent) -> bool:
        """Wait for one question and answer it; False if there was none."""
        question = self._mailbox.question()
        self._say("connected to the coordinator; its questions are answered as they come")
        if question is None:
            return False
        try:
            reply = agent.answer(question)
        except PeerError as problem:
            LOG.warning("a question of %d bytes is not answered: %s", len(question), problem)
            raise Unavailable("its questions are not those of this study") from None
        self._mailbox.leave(reply)  # it may come too late
        return True

    def _say(self, line: str) -> None:
        if line != self._line:
            self._line = line
            LOG.info("%s", line)

    def close(self) -> None:
        self._mailbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()


def _reason(problem: Exception) -> str:
    text = str(problem) or type(problem).__name__
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return f"its certificate is not valid ({plain(text.rpartition(': ')[2])[:200]})"
    return plain(_NUMBER.sub("", text))[:200]
