"""Log lines: one line each, nothing a terminal obeys, and no secret."""

from __future__ import annotations

import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv import log
from pbmserv.errors import RelayTemporary


@pytest.fixture(autouse=True)
def _own_logging():
    root, ours = logging.getLogger(), logging.getLogger("pbmserv")
    before = (list(root.handlers), root.level, ours.level)
    yield
    root.handlers[:], root.level = before[0], before[1]
    ours.setLevel(before[2])


@pytest.fixture
def lines(capsys):
    log.configure(logging.INFO)

    def read() -> list[str]:
        return capsys.readouterr().err.splitlines()

    return read


def test_a_line_is_time_level_event_and_facts(lines) -> None:
    logging.getLogger("pbmserv.receive").info(
        "mail %s", "taken", extra={"board": 12, "peer": "192.0.2.1", "text": "a b"}
    )
    (line,) = lines()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z info receive "
        r'"mail taken" board=12 peer=192\.0\.2\.1 text="a b"',
        line,
    )


def test_secrets_are_blanked_by_name_and_in_urls(lines) -> None:
    logging.getLogger("pbmserv.x").warning(
        "tried", extra={"password": "hush", "reply_token": "hush", "to": "smtp://u:hush@mx"}
    )
    (line,) = lines()
    assert "password=*** reply_token=*** to=" in line
    assert "hush" not in line


@given(value=st.text(max_size=30) | st.text("\x7f\x00 a", max_size=5) | st.binary(max_size=10))
def test_any_value_is_one_line_of_printable_characters(value: object) -> None:
    record = logging.makeLogRecord(
        {"name": "x", "msg": "%s", "args": ("seen",), "levelname": "INFO", "value": value}
    )
    line = log.LineFormatter().format(record)
    assert line.isprintable()
    assert line.isascii()


def test_a_long_value_is_cut(lines) -> None:
    logging.getLogger("pbmserv.x").info("seen", extra={"value": "a" * 5000})
    (line,) = lines()
    assert len(line) < 600


def _fails(error: Exception) -> Exception:
    try:
        raise error
    except Exception as fault:  # noqa: BLE001 - any
        return fault


def test_a_fault_is_named_with_its_place_but_a_librarys_words_are_left_out(lines) -> None:
    logging.getLogger("pbmserv.x").error(
        "a page failed", exc_info=_fails(ValueError("hush")), extra={"board": 3}
    )
    (line,) = lines()
    assert re.search(r'error x "a page failed" board=3 fault=ValueError at=test_log\.py:\d+$', line)


def test_our_own_faults_and_the_systems_say_why(lines) -> None:
    logging.getLogger("pbmserv.x").error("failed", exc_info=_fails(RelayTemporary("busy,\nlater")))
    logging.getLogger("pbmserv.x").error(
        "failed", exc_info=_fails(FileNotFoundError(2, "No such file"))
    )
    ours, systems = lines()
    assert r'fault=RelayTemporary because="busy,\nlater"' in ours
    assert 'because="[Errno 2] No such file"' in systems


def test_a_librarys_warning_is_one_line_too_and_its_chatter_is_not_kept(lines) -> None:
    library = logging.getLogger("mail.log")
    library.info("said %r", b"AUTH PLAIN hush")
    library.warning("strange\n%s", "thing")
    library.error("strange", exc_info=(None, None, None))
    warning, error = lines()
    assert warning.endswith(r'warning mail.log "strange\nthing"')
    assert error.endswith("error mail.log strange fault=unknown")


def test_what_is_below_the_level_is_not_written_and_configuring_twice_is_once(lines) -> None:
    log.configure(logging.WARNING)
    logging.getLogger("pbmserv.x").info("seen")
    logging.getLogger("pbmserv.x").debug("seen")
    logging.getLogger("pbmserv.x").warning("odd")
    assert len(lines()) == 1
    log.configure("debug")
    logging.getLogger("pbmserv.x").debug("seen")
    assert len(lines()) == 1
