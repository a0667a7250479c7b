"""The carrier of tests and demonstrations: coordinator and agents in one process."""

from __future__ import annotations

from collections.abc import Mapping

from ogive.errors import PeerError
from ogive.study.agent import Agent
from ogive.study.coordinator import Coordinator


def carry(coordinator: Coordinator, agents: Mapping[int, Agent]) -> None:
    """Move bytes between the coordinator and the agents until no agent has anything to answer.

    Args:
        coordinator: Of the study.
        agents: By the numbers of their parties; others do not answer.
    """
    moved = True
    while moved:
        moved = False
        for number, agent in agents.items():
            question = coordinator.question(number)
            if question is not None:
                reply = agent.answer(question)
                try:
                    coordinator.receive(number, reply)
                except PeerError:
                    continue  # it came too late
                moved = True
