"""Log lines: one line each, nothing a terminal obeys, and no secret."""

from __future__ import annotations

import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from pbmserv import log
from pbmserv.log.writing import BackgroundHandler


@pytest.fixture
def lines(capsys):
    log.configure("INFO")

    def read() -> list[str]:
        for handler in logging.getLogger().handlers:
            if isinstance(handler, BackgroundHandler):
                handler.wait()
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
    line = log.TextFormatter().format(record)
    assert line.isprintable()
    assert line.isascii()


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


def _failure_of(statement: str, **values: object) -> Exception:
    engine = create_engine("sqlite://", hide_parameters=True)
    try:
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE t (a TEXT UNIQUE, b INTEGER PRIMARY KEY)")
            connection.exec_driver_sql("PRAGMA max_page_count = 3")
            connection.execute(text("INSERT INTO t VALUES ('hush', 7)"))
            answer = connection.execute(text(statement), values)
            if answer.returns_rows:
                answer.all()
    except SQLAlchemyError as error:
        return error
    finally:
        engine.dispose()
    raise AssertionError("nothing went wrong")


@pytest.mark.parametrize(
    ("statement", "values", "reason"),
    [
        ("INSERT INTO t VALUES (:a, 8)", {"a": "hush" * 90_000}, "database or disk is full"),
        ("INSERT INTO t VALUES (:a, 8)", {"a": "hush"}, "UNIQUE constraint failed: t.a"),
        ("INSERT INTO gone VALUES (:a)", {"a": "hush"}, "no such table: gone"),
        ("INSERT INTO t VALUES (:a, :a)", {"a": "hush"}, "SQLITE_MISMATCH|datatype"),
        ("SELECT hush", {}, "SQLITE_ERROR"),
        ("SELECT 'hush' FROM t hush hush", {}, "SQLITE_ERROR"),
        ("SELECT CAST(x'68757368ff' AS TEXT)", {}, ""),
    ],
)
def test_sqlite_says_what_ails_it_and_no_value(
    lines, statement: str, values: dict[str, object], reason: str
) -> None:
    logging.getLogger("pbmserv.x").error("failed", exc_info=_failure_of(statement, **values))
    (line,) = lines()
    assert "hush" not in line
    assert re.search(f'because="?(?:{reason})', line) if reason else "because=" not in line


def test_a_real_postgresql_says_so_too(lines, postgres_url: str) -> None:
    engine = create_engine(postgres_url, hide_parameters=True)
    for statement, code in (
        ("SELECT CAST(:a AS INTEGER)", "because=22P02"),
        ("SELECT :a FROM gone", 'because="42P01 relation'),
        ("CREATE TABLE more (a INT)", 'because="25006 cannot execute CREATE TABLE'),
    ):
        with engine.connect() as connection:
            connection.execute(text("SET TRANSACTION READ ONLY"))
            with pytest.raises(DBAPIError) as raised:
                connection.execute(text(statement), {"a": "hush"} if ":a" in statement else {})
        logging.getLogger("pbmserv.x").error("failed", exc_info=raised.value)
        (line,) = lines()
        assert "hush" not in line
        assert code in line
    engine.dispose()


def test_a_librarys_warning_is_one_line_too_and_its_chatter_is_not_kept(lines) -> None:
    logging.getLogger("mail.log").warning("unrecognised: %s", "hush")
    library = logging.getLogger("asyncio")
    library.info("said %r", b"AUTH PLAIN hush")
    library.warning("strange\n%s", "thing")
    library.error("strange", exc_info=(None, None, None))
    warning, error = lines()
    assert warning.endswith(r'warning asyncio "strange\nthing"')
    assert error.endswith("error asyncio strange fault=unknown")
