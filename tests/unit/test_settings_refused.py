"""Every setting refuses nonsense in a sentence that names it and an example that is accepted."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.config.settings import described, load
from pbmserv.config.values import Setting
from pbmserv.errors import ConfigError

NUMBERS = [one for one in described() if one.default.isdigit()]
RATES = [one for one in described() if one.env.startswith("PBMSERV_RATE_")]
NONSENSE = "\x07 ;!"
"""No name, number, address, network, path or word."""

TOO_MUCH = {
    "mail_days": "36501",
    "authserv_hops": "26",
    "domain_letters": "1001",
    "mail_seconds": "0",
    "away_days": "367",
}


def by_name(settings: list[Setting]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return rows("setting", settings, ids=lambda one: one.key)


def refused(setting: Setting, text: str) -> str:
    """What is said of a text; ``""`` = it is taken."""
    given = {setting.env: text}
    if setting.key in {"smtps", "tls_key"}:
        given["PBMSERV_TLS_CERT"] = "cert.pem"  # which they want
    if setting.key == "operator_pages":
        given["PBMSERV_OPERATOR_TOKEN"] = "token"
    try:
        load(given, None)
    except ConfigError as error:
        return str(error)
    return ""


def is_told_well(setting: Setting, said: str) -> bool:
    example = re.search(r"such as (\S+?)[,;)]*(?:\s|$)", said)
    return (
        said.startswith(f'{setting.env} = "')
        and said.isprintable()
        and "for example" not in said
        and example is not None
        and refused(setting, example[1]) == ""
    )


@by_name(list(described()))
def test_nonsense_is_refused(setting: Setting) -> None:
    said = refused(setting, NONSENSE)
    assert is_told_well(setting, said), said


@pytest.mark.slow
@examples(15)
@given(text=st.text(max_size=30))
def test_any_text_is_taken_or_refused_well(text: str) -> None:
    for setting in described():
        said = refused(setting, text)
        assert not said or is_told_well(setting, said), said


@by_name(NUMBERS)
@rows("text", ["", "-1", "1.5", "1e3", "+4", "0x10", "٣", "9" * 400, "4 days"])
def test_what_is_no_number_of_ours(setting: Setting, text: str) -> None:
    assert is_told_well(setting, refused(setting, text))


@by_name(NUMBERS)
def test_numbers_that_nobody_can_mean(setting: Setting) -> None:
    assert is_told_well(setting, refused(setting, TOO_MUCH.get(setting.key, "1000000")))


@by_name(RATES)
@rows(
    "text",
    [
        *("0/hour", "-1/hour", "5/0 hours", "5", "hour", "5/fortnight", "1000001/day"),
        *("1/2 years", "5/hour; 0/day", "9" * 400 + "/hour", "1/" + "9" * 30 + " days"),
    ],
)
def test_rates_that_nobody_can_mean(setting: Setting, text: str) -> None:
    assert is_told_well(setting, refused(setting, text))


@rows(
    ("key", "text"),
    [
        ("data_dir", ""),
        ("data_dir", "var?mode=memory"),
        ("data_dir", ":"),  # nothing is wrong with the database that is to lie in it
        ("data_dir", ":memory:"),
        ("data_dir", "./:var"),
        ("data_dir", "x" * 300),
        ("data_dir", "x\udcff"),
        ("data_dir", "~no-such-user/pbmserv"),
        ("tls_cert", "~no-such-user/cert.pem"),
        ("dkim_keys", "s1=~no-such-user/s1.pem"),
        ("relay", "maildir:~no-such-user/mail"),
        ("database", ""),
        ("database", "sqlite:///"),
        ("database", "postgresql+psycopg://u@h:port/n"),
        ("database", "postgresql+psycopg://u@h"),
        ("database", "postgresql+psycopg://u@h/n?connect_timeout=soon"),
        ("database", "postgresql+psycopg://u@h/n?tcp_user_timeout=-1"),
        ("database", "postgresql+psycopg://u@h/n?connect_timeout=1&connect_timeout=2"),
        ("database", "postgresql+psycopg://u@h/n?nonsense=1"),
        ("database", "postgresql+psycopg://u@h/n?autocommit=1"),
        ("database", "postgresql+psycopg://u@h/n?port=five"),
        ("database", "postgresql+psycopg://u@/n?host=a:5432&host=b:five"),
        ("database", "sqlite:///var/pbmserv.sqlite3?foo=1"),
        ("database", "sqlite:///file:x?uri=true"),
        ("smtp", "/run/pbmserv.sock"),
        ("smtp", "127.0.0.1:65536"),
        ("lmtp", "/" + "x" * 104),
        ("lmtp", "unix:/run/lmtp.sock"),
        ("mail_servers", "10.0.0.0/33"),
        ("web_url", "https://u:p@x.example"),
        ("address", "nineteen-characters@x.example"),
        ("address", "a@b_c"),
        ("relay", "pigeon://h"),
        ("relay", "maildir:"),
        ("relay", "smtp://"),
        ("relay", "smtp://h/path"),
        ("relay", "smtp://ü:ü@h"),
        ("relay", "lmtp://u@h"),
        ("relay", "smtp://u@h"),
        ("dkim_keys", "s1=a.pem,s1=b.pem"),
        ("operators", "alice@players.example"),
    ],
)
def test_other_slips(key: str, text: str) -> None:
    setting = next(one for one in described() if one.key == key)
    assert is_told_well(setting, refused(setting, text)), refused(setting, text)
