"""The party's side of the relay: asks the local agent, and carries its reply back.

It knows nothing of records and keys, and runs as a user who cannot read them. Where the agent listens, and for which
party, is in the SuperNode's own configuration, which no run can change.
"""

from __future__ import annotations

import time
from pathlib import Path

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from ogive.study.local_client import ask_at, lacking

AGENT_SECONDS = 20.0
"""How long an agent that does not answer is tried again: it may just be starting."""

app = ClientApp()


@app.query("hello")  # type: ignore[untyped-decorator]
def hello(message: Message, context: Context) -> Message:
    """Say for which party this node runs, and what keeps its Flower from being quiet."""
    return _reply(message, {"party": str(context.node_config.get("party", "")), "lacking": lacking()})


@app.query("ask")  # type: ignore[untyped-decorator]
def ask(message: Message, context: Context) -> Message:
    """Carry a question to the agent, and its reply back; no bytes if it does not answer."""
    question = bytes(message.content["ogive"]["question"])
    return _reply(message, {"reply": _asked(Path(str(context.node_config["agent"])), question)})


def _asked(agent: Path, question: bytes) -> bytes:
    until = time.monotonic() + AGENT_SECONDS
    while True:
        try:
            return ask_at(agent, question) or b""
        except OSError as problem:
            if time.monotonic() > until:
                print(f"the agent at {agent} does not answer: {problem}")
                return b""
            time.sleep(0.2)


def _reply(message: Message, said: dict[str, str | bytes]) -> Message:
    return Message(RecordDict({"ogive": ConfigRecord(said)}), reply_to=message)
