"""The filter in deploy/fail2ban matches log lines of the server."""

from __future__ import annotations

import configparser
import logging
import re
from pathlib import Path

import pytest
from lines import written
from running import Running
from seating import seat_pairs
from smtp_client import Wire, mail

from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.smtpd.refusal_log import note_refusal

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "deploy" / "fail2ban"
ALICE = "alice@players.example"
OURS = "pbmserv@games.example"

SUBNET = r"(?P<subnet>(?:\d{1,3}\.){3}\d{1,3}(?:/\d+)?|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(?:/\d+)?)"
"""The pattern that fail2ban puts in place of its tag."""


def filters(mode: str) -> list[re.Pattern[str]]:
    """Return the filter's expressions as fail2ban builds them, without its date."""
    read = configparser.RawConfigParser()
    read.read(FOLDER / "filter.d" / "pbmserv.conf")
    definition = dict(read["Definition"])
    text = definition[f"mdre-{mode}"]
    for _ in range(3):
        text = re.sub(r"%\((\w+)\)s", lambda match: definition[match[1]], text)
    return [re.compile(line.replace("<SUBNET>", SUBNET)) for line in text.splitlines()]


def networks(mode: str, lines: list[str]) -> list[str]:
    """Return the network of each line that the filter matches."""
    hits = [[pattern.search(line) for pattern in filters(mode)] for line in lines]
    return [next(hit for hit in those if hit)["subnet"] for those in hits if any(those)]


@pytest.fixture
def lines(server: Running, caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the log of a guesser, a spammer and a player."""
    caplog.set_level(logging.INFO, "pbmserv")
    table = seat_pairs(server.server, 1)[0]
    player = table.players[0]
    received = b"Received: from x (mx.example [198.51.100.7])\r\n\tby games.example; today\r\n"
    with Wire(server.port) as wire:
        for guess in ("wonderland", "looking-glass", "jabberwock"):
            raw = mail(ALICE, f"blackbox move {table.board} {player.userid} {guess} b3")
            wire.mail(ALICE, OURS, received + raw)
        wire.mail(ALICE, OURS, received + mail(ALICE, "help"))
        wire.mail(ALICE, OURS, received + b"Subject: from nobody\r\n\r\nx")
        wire.ask(f"MAIL FROM:<{ALICE}>")
        wire.ask("RCPT TO:<pbmserv+aeaqcaiaaaaaaaaaaaaaaaaaaa@games.example>")
    note_refusal("session ended", "2001:db8:1:2::1", "421 x")
    limits = ConnectionLimits("smtp", Bounds(strangers=0, from_network=0, own=0), own=())
    limits.enter("203.0.113.1", lambda: None)  # refused, which does not count
    return list(written(caplog))


FORGED = (
    '2026-11-21T21:48:08.123Z info receive mail mail=1 outcome=ignored network=unknown why="'
    'service \\"wrong password\\" network=192.0.2.0/24 because=wrong"'
)
"""A line with a client's words that pretend to be a line of their own."""

NETWORKS = {
    "password": ["198.51.100.0/24"] * 3,
    "door": ["198.51.100.0/24", "127.0.0.0/24", "2001:db8:1:2::/64"],
}
"""Networks in the lines that each mode of the filter matches."""


@pytest.mark.parametrize("mode", NETWORKS)
def test_refusals_match_in_journald_syslog_and_files_and_nothing_else(
    lines: list[str], mode: str
) -> None:
    """fail2ban takes the time away where it finds it; in the journal's messages ours stays."""
    assert networks(mode, lines) == NETWORKS[mode]
    for before, has_time in (
        ("games pbmserv[77]: ", True),
        ("games pbmserv[77]: ", False),
        ("", False),
    ):
        seen = [before + (line if has_time else line.partition("Z")[2]) for line in lines]
        assert networks(mode, seen) == NETWORKS[mode], before
    assert networks(mode, [FORGED]) == []


def test_jails_use_the_filter_and_count_less_than_a_flood() -> None:
    from pbmserv.log.repeats import FLOOD

    read = configparser.RawConfigParser()
    read.read(FOLDER / "jail.d" / "pbmserv.conf")
    for name in read.sections():
        jail = read[name]
        assert re.fullmatch(r"pbmserv\[mode=(door|password)\]", jail["filter"])
        assert jail.getint("maxretry") <= FLOOD
        assert not jail.getboolean("enabled")
