"""Which relay a URL names, and what is said of a URL that names none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.errors import ConfigError
from pbmserv.outbound.relay_url import RelayAddress, read_relay_url
from pbmserv.outbound.relays import open_relay


@rows(
    ("url", "address"),
    [
        ("maildir:/var/lib/mail", RelayAddress("maildir", path="/var/lib/mail")),
        ("maildir:mail here", RelayAddress("maildir", path="mail here")),
        ("smtp://localhost:2525", RelayAddress("smtp", "localhost", 2525)),
        ("SMTP://Relay.example", RelayAddress("smtp", "relay.example", 25)),
        ("smtp://[::1]:26/", RelayAddress("smtp", "::1", 26)),
        ("smtp://u:p@h.example", RelayAddress("smtp", "h.example", 587, "", "u", "p")),
        ("smtp://u%40x:p%2F%3Aw@h:25", RelayAddress("smtp", "h", 25, "", "u@x", "p/:w")),
        ("smtps://u:p@h.example", RelayAddress("smtps", "h.example", 465, "", "u", "p")),
        ("smtps://u:p@h.example:1465", RelayAddress("smtps", "h.example", 1465, "", "u", "p")),
        ("lmtp://localhost", RelayAddress("lmtp", "localhost", 24)),
        ("lmtp:/run/lmtp.sock", RelayAddress("lmtp", path="/run/lmtp.sock")),
        ("lmtp:///run/lmtp.sock", RelayAddress("lmtp", path="/run/lmtp.sock")),
    ],
)
def test_urls_that_name_a_relay(url: str, address: RelayAddress) -> None:
    assert read_relay_url(url) == address
    read_relay_url(f" {url}\n")


@rows(
    ("url", "message"),
    [
        ("", "begin with maildir:"),
        ("localhost", "begin with maildir:"),
        ("maildir:", "needs a folder"),
        ("smtp://", "needs a host"),
        ("smtp://u:p@", "needs a host"),
        ("lmtp:", "begin with"),
        ("smtp://h:0", "a number from 1 to 65535"),
        ("smtp://h:70000", "a number from 1 to 65535"),
        ("smtp://u:hunter2/x@h", "%2F"),
        ("smtp://u:hunter2#x@h", "%23"),
        ("smtp://u:hunter2?x@h", "%3F"),
        ("smtp://[h", "%3A"),
        ("smtp://u@h", "a user and a password"),
        ("smtp://:hunter2@h", "a user and a password"),
        ("lmtp://u:hunter2@h", "LMTP has no login"),
        ("smtp://u:hunter2é@h", "ASCII"),
        ("smtp://u:hunter2%00@h", "ASCII"),
    ],
)
def test_urls_that_name_none_say_what_would_be_right(url: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_relay_url(url)
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@given(st.text(max_size=40) | st.text(max_size=40).map(lambda rest: f"smtp://{rest}"))
def test_any_text_is_a_relay_or_a_config_error(url: str) -> None:
    try:
        read_relay_url(url)
    except ConfigError:
        return


def test_a_password_is_in_no_repr() -> None:
    url = "smtp://someone:hunter2@relay.example"
    assert "hunter2" not in repr(read_relay_url(url)) + repr(open_relay(url))
