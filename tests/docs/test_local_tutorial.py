"""The tutorial of a service for local reports, command by command, on two machines that are folders."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from helpers.local_service import described
from helpers.machines import Machines
from helpers.waiting import PATIENCE

from ogive.study.local import service as pages

PAGE = (Path(__file__).parents[2] / "docs" / "local.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^(lab|ana)\$ (.+)$", PAGE, re.MULTILINE)


@pytest.fixture
def machines(tmp_path):
    found = Machines(tmp_path, ("lab", "ana"))
    yield found
    found.end()


@pytest.mark.slow
def test_the_tutorial_works_as_it_is_written(machines):
    assert len(COMMANDS) == 11
    said = {}
    for machine, command in COMMANDS:
        for _ in range(600):  # a service that was started a moment ago may not answer yet
            done = machines.run(machine, command)
            if done is None or done.returncode == 0 or not command.startswith("ogive local send"):
                break
            time.sleep(0.5)
        if done is not None:
            assert done.returncode == 0, (machine, command, done.stderr)
            said[command.split(" ")[2 if command.startswith("ogive") else 0]] = done.stdout + done.stderr
    assert "epsilon = 1: no report is more than 2.72 times as likely" in said["show"]
    assert said["send"] == "1 report was sent\n"
    assert "1 report accepted" in said["aggregate"]


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node on this machine (Debian: nodejs)")
def test_the_script_of_the_page_makes_a_report(tmp_path):
    script, _ = re.findall(r"```js\n(.*?)```", PAGE, re.DOTALL)
    client = Path(pages.__file__).with_name(pages.CLIENT)
    service = f"""
    const asked = {json.dumps(described(100).canonical.decode())}, digest = "00", token = "17-0";
    globalThis.fetch = async (url, sent) => {{
      if (sent !== undefined) console.log(url, sent.method, sent.body.length, sent.headers.Authorization);
      return {{ text: async () => asked }};
    }};
    """
    head, _, rest = script.partition("\n")
    (tmp_path / "page.mjs").write_text(head.replace("./local_report.mjs", client.as_uri()) + service + rest)
    done = subprocess.run(
        ["node", tmp_path / "page.mjs"], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.stdout == "/v1/tasks/00/reports POST 10 Bearer 17-0\n", done.stderr
