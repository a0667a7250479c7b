"""The client of 40 lines in the page on local reports: its chances and the law of its reports are those of Python.

Level 1e-9, 40,000 reports a case, or 20,000 of the binary tree, seeded; the controls are the laws of another answer
and of another epsilon.
"""

import dataclasses
import json
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers.choices import randomizer
from helpers.goodness import LEVEL
from helpers.local_service import described
from helpers.scope import size
from helpers.waiting import PATIENCE
from scipy import stats

import ogive
from ogive.local import Collection, HaarOracle, TreeOracle, UnaryOracle
from ogive.local.base import flip_threshold

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="no Node on this machine (Debian: nodejs)")
PAGE = (Path(__file__).parents[2] / "docs" / "local.md").read_text(encoding="utf-8")
CLIENT = re.findall(r"```js\n(.*?)```", PAGE, re.DOTALL)[1]
DRAWS = size(40_000, part=20_000)

# random bytes that follow from a seed stand in for those of the browser
BEGINS = """
import { createCipheriv } from "node:crypto";
import { readFileSync } from "node:fs";
const asked = JSON.parse(readFileSync(0, "utf8"));
const { text, number, limit } = asked;
const stream = createCipheriv("aes-128-ctr", Buffer.alloc(16, 9), Buffer.alloc(16));
let bytes = Buffer.alloc(0), at = 0;
function getRandomValues(wanted) {
  const room = new Uint8Array(wanted.buffer);
  if (at + room.length > bytes.length) [bytes, at] = [stream.update(Buffer.alloc(1 << 20)), 0];
  room.set(bytes.subarray(at, at += room.length));
  return wanted;
}
Object.defineProperty(globalThis, "crypto", {
  configurable: true, value: { subtle: globalThis.crypto.subtle, getRandomValues },
});
const hex = (report) => Buffer.from(report).toString("hex");
"""
# what the client computes for each report anew, from the description alone, it computes once for many reports
REPORTS = """
const known = new Map(), whole = { flips, digest: crypto.subtle.digest.bind(crypto.subtle) };
function once(name, key, ...given) {
  if (!known.has(key)) known.set(key, whole[name](...given));
  return known.get(key);
}
flips = (epsilon) => once("flips", `flips ${epsilon}`, epsilon);
const digest = (kind, content) => once("digest", kind + hex(content), kind, content);
Object.defineProperty(globalThis, "crypto", { value: { subtle: { digest }, getRandomValues } });
const found = [];
for (const value of asked.values) {
  found.push(await report(text, value, number ?? found.length, limit).then(hex, String));
}
console.log(JSON.stringify(found));
"""


def node(script, asked):
    """What a script prints, as JSON."""
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", BEGINS + CLIENT + script],
        input=json.dumps(asked), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def study_of(oracle, participants=10):
    asked = described(participants, statistic=ogive.Ecdf("x", bounds=(0, oracle.size), bins=oracle.size))
    return dataclasses.replace(asked, oracle=oracle, privacy=ogive.PureDP(oracle.epsilon))


def fits(found, law):
    """P-value of the chi-square test; payloads that are expected less than ten times are taken together."""
    sent = dict.fromkeys(law, 0)
    for report in found:
        sent[bytes.fromhex(report)[9:]] += 1
    observed, expected = np.array(list(sent.values())), np.array([float(each) * DRAWS for each in law.values()])
    few = expected < 10
    if few.any():
        observed = np.append(observed[~few], observed[few].sum())
        expected = np.append(expected[~few], expected[few].sum())
    return stats.chisquare(observed, expected).pvalue


def test_the_client_has_forty_lines_and_no_dependency():
    lines = [line for line in CLIENT.splitlines() if line.strip()]
    assert len(lines) <= 40
    assert "import" not in CLIENT


def test_its_chances_are_those_of_python_to_the_last_of_64_bits():
    epsilons = [*(Fraction(k, 16) for k in range(1, 200)), Fraction(1, 10**9), Fraction(7, 1000), Fraction(64)]
    found = node("console.log(JSON.stringify(asked.map((each) => String(flips(each)))));", list(map(str, epsilons)))
    assert list(map(int, found)) == list(map(flip_threshold, epsilons))


@pytest.mark.parametrize(
    "oracle",
    [
        pytest.param(TreeOracle(8, 1), id="binary"),
        # fewer reports would not tell its law from that of another epsilon
        pytest.param(
            TreeOracle(9, Fraction(1, 2), branching=3, seed=12345), id="ternary", marks=pytest.mark.everything
        ),
    ],
)
def test_its_reports_follow_the_law_of_python(oracle, monkeypatch):
    text = study_of(oracle).canonical.decode()
    larger = dataclasses.replace(oracle, epsilon=oracle.epsilon * Fraction(6, 5), level_epsilon=None)
    laws = []
    for each in (oracle, larger):
        law_of = randomizer(each, monkeypatch)
        laws.append([law_of(symbol, number) for number, symbol in asked_of(oracle)])
    for place, (number, symbol) in enumerate(asked_of(oracle)):
        found = node(REPORTS, {"text": text, "number": number, "limit": 1, "values": [symbol + 0.5] * DRAWS})
        assert fits(found, laws[0][place]) > LEVEL
        assert fits(found, laws[1][place]) < LEVEL
        law_of = randomizer(oracle, monkeypatch)
        other = law_of(symbol - 1 if symbol else oracle.size - 1, number)
        assert other == laws[0][place] or fits(found, other) < LEVEL


def asked_of(oracle):
    """Participants of several levels, and what each answers."""
    return (0, 0), (1, oracle.size - 1), (5, oracle.size // 2)


def test_its_reports_are_accepted_and_give_the_curve():
    description = described(4_000)
    values = np.random.default_rng(2).normal(50, 10, 4_000).tolist()
    found = node(REPORTS, {"text": description.canonical.decode(), "values": values, "limit": 1})
    collection = Collection(description)
    counts = collection.add(bytes.fromhex("".join(found)))
    assert (counts.accepted, counts.refused) == (4_000, 0)
    curve = ogive.estimate_collection(collection)
    assert abs(curve(50) - 0.5) < 5 * curve.rmse()
    assert curve(20) < curve(80)


@pytest.mark.parametrize(
    ("study", "change", "words"),
    [
        (study_of(TreeOracle(8, 2)), {}, "would tell too much"),
        (study_of(UnaryOracle(8, 1)), {}, "unknown"),
        (study_of(HaarOracle(8, 1)), {}, "unknown"),
        (study_of(TreeOracle(8, 1, split="budget")), {}, "unknown"),
        (study_of(TreeOracle(8, 1, nodes="unary")), {}, "unknown"),
        (study_of(TreeOracle(8, 1, assignment="independent")), {}, "unknown"),
        (study_of(TreeOracle(8, 1, seed=2**62)), {}, "unknown"),
        (study_of(TreeOracle(8, 1)), {"number": 10}, "no such participant"),
        (study_of(TreeOracle(8, 1)), {"number": 0.5}, "no such participant"),
        (study_of(TreeOracle(8, 1)), {"values": ["4"]}, "no number"),
        (study_of(TreeOracle(8, 1)), {"values": [None]}, "no number"),
    ],
)
def test_what_it_does_not_know_is_refused(study, change, words):
    good = {"text": study.canonical.decode(), "number": 3, "limit": 1, "values": [4]}
    (said,) = node(REPORTS, good | change)
    assert words in said
