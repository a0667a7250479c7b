"""A SuperNode that looks for messages often, and whose death is noticed after 20 s instead of 60: tests end soon."""

import time
import types

from flwr.supercore import heartbeat
from flwr.supernode import fleet_http_connection, start_client_internal
from flwr.supernode.cli.flower_supernode import flower_supernode

POLL_SECONDS = 0.2
HEARTBEAT_SECONDS = 10  # the least that a SuperLink takes; a node is gone after two


def sleep(seconds):
    time.sleep(min(seconds, POLL_SECONDS))


heartbeat.HEARTBEAT_DEFAULT_INTERVAL = HEARTBEAT_SECONDS
fleet_http_connection.HEARTBEAT_DEFAULT_INTERVAL = HEARTBEAT_SECONDS
start_client_internal.time = types.SimpleNamespace(**vars(time) | {"sleep": sleep})
flower_supernode()
