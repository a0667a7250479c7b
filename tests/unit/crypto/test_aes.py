"""Expansion by AES under fixed keys."""

import numpy as np
import pytest

from ogive.crypto.domains import Block, Blocks, Permutation, block_key

# FIPS 197, appendix C.1
KEY = bytes(range(16))
PLAIN = bytes.fromhex("00112233445566778899aabbccddeeff")
CIPHER = bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")


@pytest.mark.parametrize("count", [1, 2, 7, 64, 1000])
def test_every_block_is_encrypted_on_its_own(count):
    blocks, out = Blocks(count), Blocks(count)
    blocks.words[:] = np.frombuffer(PLAIN, "<u8").tolist() * count
    Permutation(KEY).encrypt(blocks, out)
    assert out.words.tobytes() == CIPHER * count
    assert blocks.words.tobytes() == PLAIN * count


def test_a_permutation_is_used_again_from_the_start():
    permutation, blocks, out = Permutation(KEY), Blocks(1), Blocks(1)
    blocks.words[:] = np.frombuffer(PLAIN, "<u8")
    for _ in range(3):
        permutation.encrypt(blocks, out)
        assert out.words.tobytes() == CIPHER


def test_keys_of_studies_levels_and_blocks_are_distinct():
    studies = bytes(32), bytes(31) + b"\1"
    keys = {block_key(study, level, block) for study in studies for level in range(41) for block in Block}
    assert len(keys) == 2 * 41 * 4
    assert {len(key) for key in keys} == {16}
