"""Batches of comparison keys, with their shares, and batches that must be refused, each named for its one defect.

    python tests/vectors/make_comparison_keys.py

Writes `comparison_keys.json`. Seeds are fixed, so the same bytes come out every time.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from helpers import comparison_oracle as oracle

FILE = Path(__file__).with_name("comparison_keys.json")
STUDY = bytes(range(32))
SETTINGS = [
    oracle.Setting(group, bits, early, STUDY)
    for group, bits, early in (("ring32", 3, 1), ("ring64", 3, 1), ("field", 3, 1), ("ring32", 2, 2), ("field", 1, 0))
]
GROUP_NUMBERS = {"ring32": 1, "ring64": 2, "field": 3}
CLIENTS = 2
HEAD = 44


def batch(setting):
    """What both servers get of two clients, and the shares of both at every point."""
    generator = np.random.default_rng(setting.bits)
    pairs = []
    for client in range(CLIENTS):
        alpha, beta = (client + 1) % 2**setting.bits, 5 + client
        roots = tuple(int.from_bytes(generator.bytes(16), "little") & ~1 for _ in range(2))
        pairs.append(oracle.generate(setting, alpha, beta, roots))
    header = b"OGK1" + bytes([GROUP_NUMBERS[setting.group], setting.bits, setting.early, 0])
    header += CLIENTS.to_bytes(4, "little") + setting.study
    points = range(2**setting.bits)
    return [
        {
            "data": (header + level_major(setting, [pair[server] for pair in pairs])).hex(),
            "shares": [[oracle.evaluate(setting, server, pair[server], x) for x in points] for pair in pairs],
        }
        for server in (0, 1)
    ]


def level_major(setting, keys):
    width = setting.width // 8
    text = b"".join(key.root.to_bytes(16, "little") for key in keys)
    for level in zip(*(key.levels for key in keys), strict=True):
        text += b"".join(seed.to_bytes(16, "little") for seed, _, _, _ in level)
        text += b"".join(value.to_bytes(width, "little") for _, value, _, _ in level)
        text += bytes(left | right << 1 for _, _, left, right in level)
    return text + b"".join(value.to_bytes(width, "little") for key in keys for value in key.leaf)


def defects(setting, data):
    """The same batch with one defect each, and what is said of it."""

    def put(place, *values):
        return data[:place] + bytes(values) + data[place + len(values) :]

    width, levels = setting.width // 8, setting.bits - setting.early
    level = HEAD + 16 * CLIENTS
    controls = level + (16 + width) * CLIENTS
    found = {
        "empty": (b"", "ends after 0 bytes"),
        "header_cut": (data[: HEAD - 1], "ends after 43 bytes"),
        "another_format": (b"OGK2" + data[4:], "another beginning"),
        "another_group": (put(4, GROUP_NUMBERS[setting.group] % 3 + 1), "another group"),
        "unknown_group": (put(4, 9), "another group"),
        "more_bits": (put(5, setting.bits + 1), "another number of bits"),
        "shallower_leaf": (put(6, setting.early + 1), "another depth of leaves"),
        "reserved_byte": (put(7, 1), "another reserved byte"),
        "no_keys": (put(8, 0, 0, 0, 0), "says that it has 0 keys"),
        "one_key_less": (put(8, CLIENTS - 1), "says that it has 1 keys"),
        "one_key_more": (put(8, CLIENTS + 1), "says that it has 3 keys"),
        "four_billion_keys": (put(8, 255, 255, 255, 255), "says that it has 4294967295 keys"),
        "another_study": (put(12, data[12] ^ 1), "another study"),
        "last_byte_cut": (data[:-1], "says that it has 2 keys"),
        "byte_left_over": (data + b"\0", "says that it has 2 keys"),
        "root_with_control_bit": (put(HEAD, data[HEAD] | 1), "root whose lowest bit"),
        "last_root_with_control_bit": (put(HEAD + 16, data[HEAD + 16] | 1), "root whose lowest bit"),
    }
    if levels:
        found["seed_correction_with_control_bit"] = (put(level, data[level] | 1), "seed correction whose lowest bit")
        found["third_control_bit"] = (put(controls, data[controls] | 4), "control bits beyond")
        found["eighth_control_bit"] = (put(controls + 1, data[controls + 1] | 128), "control bits beyond")
    if setting.group == "field":
        prime = (2**61 - 1).to_bytes(8, "little")
        found["value_is_the_modulus"] = (put(level + 16 * CLIENTS, *prime), "value of a level outside the field")
        found["leaf_is_the_modulus"] = (put(len(data) - 8, *prime), "value of a leaf outside the field")
        found["leaf_is_all_ones"] = (put(len(data) - 8, *[255] * 8), "value of a leaf outside the field")
    return {name: {"data": changed.hex(), "message": message} for name, (changed, message) in found.items()}


def make():
    """Everything, as written."""
    found = []
    for setting in SETTINGS:
        servers = batch(setting)
        found.append(
            {
                "group": setting.group,
                "bits": setting.bits,
                "early": setting.early,
                "servers": servers,
                "defects": defects(setting, bytes.fromhex(servers[1]["data"])),
            }
        )
    return {"study": STUDY.hex(), "shapes": found}


if __name__ == "__main__":
    FILE.write_text(json.dumps(make(), indent=1) + "\n")
