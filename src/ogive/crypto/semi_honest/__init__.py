"""Two parties evaluate one public circuit on many inputs at once, if both follow the protocol.

    1 transfer   garbler -> evaluator    its base transfers, in which it chooses the bits of its secret
    2 extension  evaluator -> garbler    its base transfers, 16 bytes for each of its input bits
    3 garbled    garbler -> evaluator    labels of its input bits, 32 bytes for each AND gate

Each then has a half of every output: the permute bit of the output's zero label, and that of the label that was found.
The xor of both is the output, and either half alone is uniform. Who is given the other's half, and so learns outputs,
is up to whoever runs the parties. They are machines from bytes to bytes, for one session, over channels that nobody
else reads or changes.

All instances of a session have the same secret of the garbler, as the gates of one large circuit have. A session and
its secret are used once.

Learns: either party nothing but what halves it is given.

Assumed: **both parties follow the protocol** (they are semi-honest) and do not tell each other what they know. A
garbler that does not may garble another circuit, whose outputs tell of the evaluator's inputs; an evaluator that does
not may flip outputs, or learn bits of the secret by lying in the extension. The types are named for it.

Source:
    Yao 1986; Zahur, Rosulek and Evans 2015; Asharov, Lindell, Schneider and Zohner 2013; `crypto.md`, sections 7 and 8.
"""

from ogive.crypto.semi_honest.parties import (
    MOST_INSTANCES,
    SemiHonestEvaluator,
    SemiHonestGarbler,
    Task,
    instances_at_once,
    sent_bytes,
)

__all__ = [
    "MOST_INSTANCES",
    "SemiHonestEvaluator",
    "SemiHonestGarbler",
    "Task",
    "instances_at_once",
    "sent_bytes",
]
