"""Pairs of people as processes: each person one, an aggregator, and a relay that all of them are connected to.

The relay carries messages that it cannot read; it sees who writes to whom and how much. People and the aggregator are
state machines from bytes to bytes (`Person`, `Collector`). The aggregator runs beside the relay (`collect`); people
connect to it by any `Channel` (`take_part`), such as a WebSocket (`study.pairs.joining`). Everything that all have
to agree on is in a `PairsStudy`, which nobody takes from anybody else.

A person who leaves, stalls or sends what does not belong costs the pair at hand and no other, and may come back. People
who lost a partner before a pair had begun are paired anew in further passes; with whom is drawn when it is known who is
there. A pair has begun when both have said hello to the aggregator: from then on either half may have left its owner,
arrived or not, and the pair counts as taken part in. The aggregator takes no half of a pair that it has given up, and a
person gives no more halves than the pairs it agreed to, whatever it is asked: nobody spends more than epsilon.

Source:
    `ustatistics.md`, 7.1; `crypto.md`, section 10.
"""

from ogive.study.pairs.collector import Collector, History, Person
from ogive.study.pairs.relay import Channel, Relay, collect, take_part
from ogive.study.pairs.study import Collected, PairsStudy

__all__ = ["Channel", "Collected", "Collector", "History", "PairsStudy", "Person", "Relay", "collect", "take_part"]
