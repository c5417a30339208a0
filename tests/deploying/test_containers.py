"""The Dockerfile and the compose file, as far as it goes without a Docker engine."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "docker"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
STEPS = [
    tuple(line.split(None, 1))
    for line in re.sub(r"\\\n", "", DOCKERFILE).splitlines()
    if line and not line.startswith("#")
]


def test_hadolint_has_nothing_to_warn_of() -> None:
    linter = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if linter is None:
        pytest.skip("NOT RUN: hadolint has no wheel for this system")
    done = subprocess.run(
        [linter, "--no-color", "--failure-threshold", "warning", str(FOLDER / "Dockerfile")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_every_program_is_started_without_a_shell() -> None:
    for word, rest in STEPS:
        if word in {"RUN", "CMD", "ENTRYPOINT"}:
            assert isinstance(json.loads(rest), list), rest
        if word == "HEALTHCHECK":
            assert isinstance(json.loads(rest.partition("CMD ")[2]), list), rest


def test_the_server_is_nobody_in_the_container() -> None:
    users = [rest for word, rest in STEPS if word == "USER"]
    assert users
    assert all(re.fullmatch(r"[1-9]\d*:[1-9]\d*", user) for user in users)
    last_of = {word: number for number, (word, _) in enumerate(STEPS)}
    assert last_of["USER"] > last_of["COPY"] > last_of["FROM"]
    assert last_of["USER"] > last_of["RUN"]


def test_the_copied_files_are_enough_to_install_and_not_ignored() -> None:
    """`tests/packaging` builds and installs a wheel of what `pyproject.toml` names here."""
    copied = {
        name
        for word, rest in STEPS
        if word == "COPY" and not rest.startswith("--from")
        for name in rest.split()[:-1]
    }
    let_through = (FOLDER / "Dockerfile.dockerignore").read_text().splitlines()
    assert {f"!{name}" for name in copied} <= {*let_through}
    described = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = described["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", described["project"]["readme"]}
    needed |= {*wheel["packages"], *wheel["force-include"]}
    assert {name.partition("/")[0] for name in needed} <= copied
    runs = [json.loads(rest) for word, rest in STEPS if word == "RUN"]
    assert runs[0] == ["python3", "-m", "venv", "/opt/pbmserv"]
    (install,) = [run for run in runs if "pip" in run]
    assert install[:4] == ["/opt/pbmserv/bin/python", "-m", "pip", "install"]
    assert install[-3:] == ["-c", "constraints.txt", ".[postgresql,pictures]"]


def test_the_compose_file_keeps_to_its_schema_and_has_no_password_in_it() -> None:
    compose = shutil.which("docker-compose")
    if compose is None:
        pytest.skip("NOT RUN: docker-compose is not installed here (.ci/run installs it)")
    done = subprocess.run(
        [compose, "-f", str(FOLDER / "compose.yaml"), "config"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    environment = re.findall(
        r"^ +(\w*(?:PASSWORD|TOKEN|SECRET)\w*): (.*)$", done.stdout, re.MULTILINE
    )
    assert [name for name, _ in environment] == ["POSTGRES_PASSWORD_FILE"]
    assert "PBMSERV_DATABASE" not in done.stdout
    assert "PBMSERV_RELAY" not in done.stdout
