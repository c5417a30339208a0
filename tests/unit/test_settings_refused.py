"""Every setting refuses nonsense in a sentence that names it and an example that is accepted."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from examples import DEEP, examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.config.descriptions import Description, descriptions
from pbmserv.config.settings import load
from pbmserv.errors import ConfigError

SETTINGS = list(descriptions())
NUMBERS = [setting for setting in SETTINGS if setting.default.isdigit()]
RATES = [setting for setting in SETTINGS if setting.key.startswith("rate_")]
SOME = slice(None) if DEEP else slice(None, None, 8)
"""The settings of one type that a usual run asks about each text."""
NONSENSE = "\x07 ;!"
"""Not a name, number, address, network, path or word."""

TOO_MUCH = {
    "mail_days": "36501",
    "authserv_hops": "26",
    "mail_seconds": "0",
    "away_days": "367",
}


def by_name(settings: list[Description]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return rows("setting", settings, ids=lambda setting: setting.key)


def refusal_of(setting: Description, text: str) -> str:
    """Return the refusal of a text; ``""`` if it is accepted."""
    environ = {setting.variable: text}
    if setting.key in {"smtps", "tls_key"}:
        environ["PBMSERV_TLS_CERT"] = "cert.pem"  # which they need
    if setting.key == "operator_pages":
        environ["PBMSERV_OPERATOR_TOKEN"] = "token"
    try:
        load(environ, None)
    except ConfigError as error:
        return str(error)
    return ""


def is_helpful(setting: Description, refusal: str) -> bool:
    """Return whether a refusal names the setting and gives an example that is accepted."""
    example = re.search(r"such as (\S+?)[,;)]*(?:\s|$)", refusal)
    return (
        refusal.startswith(f'{setting.variable} = "')
        and refusal.isprintable()
        and "for example" not in refusal
        and example is not None
        and refusal_of(setting, example[1]) == ""
    )


@by_name(SETTINGS)
def test_nonsense_is_refused(setting: Description) -> None:
    refusal = refusal_of(setting, NONSENSE)
    assert is_helpful(setting, refusal), refusal


@pytest.mark.slow
@examples(2)
@given(text=st.text(max_size=30))
def test_any_text_is_accepted_or_refused_helpfully(text: str) -> None:
    for setting in SETTINGS:
        refusal = refusal_of(setting, text)
        assert not refusal or is_helpful(setting, refusal), refusal


@by_name(NUMBERS[SOME])
@rows("text", ["", "-1", "1.5", "٣", "9" * 400, "4 days"])
def test_texts_that_are_not_whole_numbers(setting: Description, text: str) -> None:
    assert is_helpful(setting, refusal_of(setting, text))


@by_name(NUMBERS)
def test_numbers_out_of_range(setting: Description) -> None:
    assert is_helpful(setting, refusal_of(setting, TOO_MUCH.get(setting.key, "1000000")))


@by_name(RATES[SOME])
@rows(
    "text",
    [
        *("0/hour", "-1/hour", "5", "hour", "5/fortnight", "1000001/day"),
        *("5/hour; 0/day", "9" * 400 + "/hour", "1/" + "9" * 30 + " days"),
    ],
)
def test_rates_out_of_range(setting: Description, text: str) -> None:
    assert is_helpful(setting, refusal_of(setting, text))


@rows(
    ("key", "text"),
    [
        ("data_dir", ""),
        ("data_dir", "var?mode=memory"),
        ("data_dir", ":"),  # nothing is wrong with the database that is to lie in it
        ("tls_cert", "~no-such-user/cert.pem"),
        ("dkim_keys", "s1=~no-such-user/s1.pem"),
        ("relay", "maildir:~no-such-user/mail"),
        ("database", ""),
        ("database", "sqlite:///"),
        ("database", "postgresql+psycopg://u@h:port/n"),
        ("smtp", "/run/pbmserv.sock"),
        ("smtp", "127.0.0.1:65536"),
        ("lmtp", "/" + "x" * 104),
        ("lmtp", "unix:/run/lmtp.sock"),
        ("mail_servers", "10.0.0.0/33"),
        ("mail_servers", "0.0.0.0/0"),
        ("web_proxies", "127.0.0.1, ::/0"),
        ("web_url", "https://u:p@x.example"),
        ("address", "nineteen-characters@x.example"),
        ("address", "a@b_c"),
        ("relay", "pigeon://h"),
        ("relay", "maildir:"),
        ("dkim_keys", "s1=a.pem,s1=b.pem"),
        ("operators", "alice@players.example"),
    ],
)
def test_other_mistakes(key: str, text: str) -> None:
    setting = next(setting for setting in SETTINGS if setting.key == key)
    assert is_helpful(setting, refusal_of(setting, text)), refusal_of(setting, text)
