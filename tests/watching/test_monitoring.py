"""The alarms and the dashboard of deploy/monitoring ask for numbers that the server has."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from probing import get
from programs import program
from prometheus_client.parser import text_string_to_metric_families
from running import start

FOLDER = Path(__file__).parents[2] / "deploy" / "monitoring"
NUMBER = re.compile(r"\b(?:pbmserv|process)_[a-z_]+")


def test_promtool_accepts_the_rules_and_their_examples() -> None:
    promtool = program("promtool")
    for command in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        result = subprocess.run(
            [promtool, *command], cwd=FOLDER, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture
def numbers(tmp_path: Path) -> Iterator[set[str]]:
    """The names of all samples that a server with a certificate and a copy has."""
    (tmp_path / "last-backup").touch()
    with start(tmp_path, metrics="127.0.0.1:0") as running:
        _, page = get(running.metrics_port, "/metrics")
        families = list(text_string_to_metric_families(page))
        samples = {sample.name for family in families for sample in family.samples}
        yield samples | {f"{f.name}_total" for f in families if f.type == "counter"}


def test_alarms_and_dashboard_ask_for_numbers_that_there_are(numbers: set[str]) -> None:
    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    expressions = [
        *re.findall(r"expr: (.*)", (FOLDER / "alerts.yml").read_text()),
        *(target["expr"] for panel in dashboard["panels"] for target in panel["targets"]),
    ]
    assert len(expressions) > 20
    numbers |= {
        "pbmserv_mail_seconds_bucket",  # with the first mail
        "pbmserv_game_away_boards",  # with a game that is stopped
        "pbmserv_certificate_end_timestamp_seconds",  # with a certificate
    }
    for expression in expressions:
        names = set(NUMBER.findall(expression))
        assert names or expression.startswith("up{"), expression
        assert names <= numbers, expression
