"""Pairs of people as processes, by the name that users import; the code is in `ogive.study.pairs`."""

from ogive.study.pairs import Channel, Collected, Collector, PairsStudy, Person, Relay, collect, take_part

__all__ = ["Channel", "Collected", "Collector", "PairsStudy", "Person", "Relay", "collect", "take_part"]
