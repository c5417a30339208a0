"""Our lines below what Debian's installer writes: the trap of `mydestination`, and the way out."""

from __future__ import annotations

import re
import smtplib
import subprocess
from pathlib import Path

from mailers import Player
from postfix import Postfix, postfix
from processes import Process, wait_until
from programs import free_port, program

DEBIAN = """\
smtpd_banner = $myhostname ESMTP $mail_name (Debian/GNU)
biff = no
append_dot_mydomain = no
readme_directory = no
smtpd_relay_restrictions = permit_mynetworks permit_sasl_authenticated defer_unauth_destination
myorigin = games.example
mydestination = $myhostname, games.example, localhost.example, localhost
relayhost =
mailbox_size_limit = 0
recipient_delimiter = +
"""
"""The settings of an "Internet Site": the domain of its mail name is among its destinations. Lines
about TLS, and tables that only an installed Postfix has, are left out."""

MEND = "mydestination = localhost"
README = Path(__file__).parents[2] / "deploy" / "README.md"


def output_of(mta: Postfix, name: str, *arguments: str) -> str:
    """Return the output of a command of Postfix about this configuration."""
    command = [program(name), "-c", str(mta.folder / "etc"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


def test_our_lines_below_debian_s_bring_mail_to_us(tmp_path: Path) -> None:
    """Mail of the machine itself goes where the README sends it."""
    for name in ("postfix", "swaks"):
        program(name)
    (line,) = re.findall(r"^`(virtual_alias_maps = .*)`\.$", README.read_text(), re.MULTILINE)
    for old, new in (
        ("games.example.org", "games.example"),
        ("you@example.net", "cron@players.example"),
    ):
        line = line.replace(old, new)
    lmtp = free_port()
    with postfix(lmtp, ("alice", "cron"), own_lines=f"{DEBIAN}\n{line}") as mta:
        with Process(
            tmp_path,
            lmtp=f"127.0.0.1:{lmtp}",
            relay=f"smtp://127.0.0.1:{mta.port}",
        ):
            assert output_of(mta, "postconf", "-h", "mydestination") == "localhost"
            alice = Player("alice", mta, tmp_path / "alice")
            alice.writes("signup alice wonder-land")
            assert "alice" in str(alice.wait_for(1)["Subject"]) + alice.wait_for(1).as_string()
        assert "in BOTH" not in mta.log
        with smtplib.SMTP("127.0.0.1", mta.port) as client:
            client.sendmail("root@games.example", ["root@games.example"], "Subject: cron\n\n")
        wait_until(lambda: any(mta.maildir("cron").glob("new/*")), "cron's mail")


def test_the_readme_names_these_ways_to_see_it() -> None:
    readme = README.read_text()
    for words in (MEND, "postconf mydestination", "in BOTH mydestination", "postmap -q"):
        assert words in readme
