"""Pairs of people as processes, by the name that users import; the code is in `ogive.study.meeting`."""

from ogive.study.meeting import Channel, Collected, Collector, PairsStudy, Person, Relay, collect, take_part

__all__ = ["Channel", "Collected", "Collector", "PairsStudy", "Person", "Relay", "collect", "take_part"]
