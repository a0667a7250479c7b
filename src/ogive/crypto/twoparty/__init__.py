"""Two people evaluate a public circuit on what only each of them knows, and an aggregator alone sees the outputs.

    1 invite    aggregator -> each             nonce, key for this pair                             signed
    2 hello     each -> aggregator, partner    nonce, key for this pair                             signed
    3 transfer  base transfers: of the garbler if they are extended, else of the evaluator          sealed
    4 extension evaluator -> garbler           its base transfers, 16 bytes an input                sealed
    5 garbled   garbler -> evaluator           labels of its bits and tables, and where transfers   sealed
                                               are not extended its base transfers and corrections
    6 half      each -> aggregator             permute bits of the outputs                          sealed

A garbler's half are the permute bits of the outputs' zero labels, an evaluator's those of the labels that it found:
their xor is the outputs, and either alone is uniform. `PairParty` and `PairAggregator` are state machines from bytes to
bytes. Whoever carries the messages sees who writes to whom, and how much; it has to keep the order of what each one
sends and of what each one is sent. The evaluator is invited after the garbler's hello, so that then nothing reaches
anybody before it is expected.

Learns: the aggregator the outputs; the two parties nothing, but that they took part.

Assumed: both parties follow the protocol, whoever else the other one is in league with. It does not protect against

- a garbler that garbles another circuit, whose outputs may tell the aggregator more of the evaluator's values;
- an evaluator that lies about its half, which flips outputs of its own pairs, or about its choices in an extension,
  which tells it bits of the garbler's secret and so of its values;
- selective failure: a garbler that spoils some labels learns from whether the evaluator gives up;
- an aggregator that a party tells everything it knows: together they know the outputs, as the aggregator does alone;
  what the circuit adds to them is hidden as long as the other party drew its bits uniformly;
- anybody who withholds messages, or sees them and counts.

When a release is made: neither half says anything, and both together are the outputs. A party counts a pair as spent
when its own half leaves it, for the partner and the aggregator may already hold all else; a pair that failed before may
be tried again with another partner, and costs it nothing. An aggregator that has given a pair up takes no half any
more, however late it comes: with both it would have an output that is counted nowhere.

Source:
    `crypto.md`, sections 7, 8 and 10; `ustatistics.md`, 7.1.
"""

from ogive.crypto.twoparty.messages import AGGREGATOR, Outgoing, PairSettings, Participant
from ogive.crypto.twoparty.party import PairAggregator, PairParty, drawn_bits

__all__ = ["AGGREGATOR", "Outgoing", "PairAggregator", "PairParty", "PairSettings", "Participant", "drawn_bits"]
