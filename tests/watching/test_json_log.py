"""With ``log_format=json`` each line of a server is JSON, from its start to its end."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import fork_server
import pytest

from pbmserv import log

PATIENCE_S = 60


def environment(folder: Path, **settings: str) -> dict[str, str]:
    ours = {
        "DATA_DIR": str(folder),
        "DATABASE": f"sqlite:///{folder}/pbmserv.sqlite3",
        "SMTP": "127.0.0.1:0",
        "WEB": "",
        "MAILBOX": "",
        "LOG_FORMAT": "json",
        **settings,
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PBMSERV_")}
    return clean | {f"PBMSERV_{name}": value for name, value in ours.items()}


def lines_of(text: str) -> list[dict[str, Any]]:
    """Return the lines, each of which is an object with the same first words."""
    lines = [json.loads(line) for line in text.splitlines()]
    assert all(list(line)[:4] == ["time", "level", "room", "event"] for line in lines)
    return lines


@pytest.mark.slow
def test_each_line_of_a_server_is_json(tmp_path: Path) -> None:
    read, write = os.pipe()
    served = fork_server.Forked(["serve"], environment(tmp_path, NOSUCH="1"), write, write)
    os.close(write)
    with os.fdopen(read) as output:
        text = ""
        for line in output:
            text += line
            if json.loads(line)["event"] == "ready":
                break
        else:
            raise AssertionError(text)
        served.send_signal(signal.SIGTERM)
        text += output.read()
    assert served.wait(PATIENCE_S) == 0
    lines = lines_of(text)
    events = [line["event"] for line in lines]
    assert any("PBMSERV_NOSUCH is not a setting" in event for event in events)
    assert "mail in    SMTP" in lines[events.index("ready")]["greeting"]


@pytest.mark.parametrize("is_in_file", [True, False])
def test_refused_settings_are_json(tmp_path: Path, *, is_in_file: bool) -> None:
    variables, arguments = environment(tmp_path, ADDRESS="nobody", SIGNUP="perhaps"), ["serve"]
    if is_in_file:
        del variables["PBMSERV_LOG_FORMAT"]
        (tmp_path / "own.toml").write_text('log_format = "json"\n')
        arguments += ["--config", str(tmp_path / "own.toml")]
    done = fork_server.run(arguments, variables, timeout=PATIENCE_S)
    assert done.returncode == 2
    events = [line["event"] for line in lines_of(done.stderr)]
    assert events[0] == "2 settings are wrong:"
    assert len(events) == 3


def test_warnings_and_unhandled_errors_are_json(capfd: pytest.CaptureFixture[str]) -> None:
    hooks = sys.excepthook, threading.excepthook
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            log.configure("INFO", "json", forks=True)
            warnings.warn("old ways", DeprecationWarning, stacklevel=1)
        thread = threading.Thread(target=lambda: 1 // 0, name="x")
        thread.start()
        thread.join()
        lines = lines_of(capfd.readouterr().err)
    finally:
        log.configure("INFO", "text")
        sys.excepthook, threading.excepthook = hooks
    assert "old ways" in lines[0]["event"]
    assert (lines[1]["event"], lines[1]["fault"]) == (
        "an error was not handled",
        "ZeroDivisionError",
    )
