"""Secure aggregation: a server learns the sum of the parties' vectors and nothing else of them.

Roles and messages are in `party` and `server`; `settings` says what all have to know beforehand.

Assumed: at most as many parties as the settings say leave, or tell the server what they know. The server may lie, where
parties confirm to each other who is in the sum. A party can add whatever it likes to the sum, and a party or a server
can keep it from being opened.

Source:
    Bonawitz et al. 2017; Bell et al. 2020 for many parties.
"""

from ogive.crypto.aggregation.messages import Round as Round
from ogive.crypto.aggregation.party import AggregationParty as AggregationParty
from ogive.crypto.aggregation.server import AggregationServer as AggregationServer
from ogive.crypto.aggregation.settings import MOST_PARTIES as MOST_PARTIES
from ogive.crypto.aggregation.settings import AggregationSettings as AggregationSettings
from ogive.crypto.aggregation.settings import check_threshold as check_threshold
from ogive.crypto.aggregation.settings import choose_neighbours as choose_neighbours
from ogive.crypto.aggregation.settings import least_threshold as least_threshold
