"""SIGHUP: keys and certificates are read again, and nothing else happens."""

from __future__ import annotations

import base64
import re
import signal
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import dkim
import pytest
import trustme
from processes import Process, wait_until
from smtp_client import Wire, mail
from sqlalchemy import delete

from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.outbound.dkim_keys import Key, KeyFile, load_key, make_key
from pbmserv.store.accounts import signing_keys
from pbmserv.store.core.database import Database
from pbmserv.store.tables.accounts import keys

pytestmark = pytest.mark.slow

OURS = "pbmserv@games.example"
ALICE = "alice@players.example"
BOB = "bob@players.example"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
STAGES = "door", "play", "post", "bots"


class Files:
    """A certificate with its key, and a key that signs letters; all can be made anew."""

    def __init__(self, folder: Path) -> None:
        self.ca = trustme.CA()
        self.chain, self.key = folder / "chain.pem", folder / "key.pem"
        self.signing = folder / "s1.pem"
        self.renew()

    def renew(self) -> Key:
        """New ones in their places; the key that signs comes back."""
        certificate = self.ca.issue_cert("games.example")
        certificate.private_key_pem.write_to_path(self.key)
        self.chain.write_bytes(b"".join(pem.bytes() for pem in certificate.cert_chain_pems))
        self.signing.unlink(missing_ok=True)
        return make_key("s1", "ed25519", self.signing)

    def client(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self.ca.configure_trust(context)
        return context


class Served:
    """A server process with these files, and what it shows of them."""

    def __init__(self, folder: Path, url: str, files: Files) -> None:
        self.files = files
        self.box = folder / "mail" / ALICE / "new"
        self.process = Process(
            folder,
            url,
            tls_cert=str(files.chain),
            tls_key=str(files.key),
            dkim_keys=f"s1={files.signing}",
        )

    def hang_up(self) -> str:
        """Send SIGHUP, wait until all is read, and give back what the log says of it."""
        before = self.process.errors
        self.process.process.send_signal(signal.SIGHUP)

        def new_log() -> str:
            return self.process.errors.removeprefix(before)

        def is_read_everywhere() -> bool:
            lines = [line for line in new_log().splitlines() if "keys of reply addresses" in line]
            return all(any(f"stage={stage}" in line for line in lines) for stage in STAGES)

        wait_until(is_read_everywhere, "everything to be read again")
        return new_log()

    def serial(self) -> object:
        """Of the certificate that a new session is shown."""
        with Wire(self.process.port) as wire:
            assert wire.ask("STARTTLS").startswith("220")
            wire.encrypt(self.files.client())
            return wire.certificate["serialNumber"]

    def letter(self, wire: Wire) -> bytes:
        """The letter that a mail of Alice's leads to."""
        before = set(self.box.iterdir()) if self.box.exists() else set()
        assert wire.mail(ALICE, OURS, mail(ALICE, f"help {len(before)}")).startswith("250")
        wait_until(lambda: self.box.exists() and set(self.box.iterdir()) > before, "a letter")
        (new,) = set(self.box.iterdir()) - before
        return new.read_bytes()


def is_signed(letter: bytes, key: Key) -> bool:
    raw = re.sub(rb"\AReturn-Path:.*\n", b"", letter).replace(b"\n", b"\r\n")
    return bool(dkim.verify(raw, dnsfunc=lambda *_, **__: key.record.encode()))


@pytest.mark.sqlite_alone
def test_new_keys_and_certificates_are_taken_up_and_nothing_else_changes(
    database_url: str, tmp_path: Path
) -> None:
    files = Files(tmp_path)
    old = load_key(KeyFile("s1", files.signing))
    served = Served(tmp_path, database_url, files)
    first = served.serial()
    with Wire(served.process.port) as plain, Wire(served.process.port) as secret:
        assert secret.ask("STARTTLS").startswith("220")
        secret.encrypt(files.client())
        assert secret.ask("EHLO players.example").startswith("250")
        plain.begin(BOB, OURS)  # in the middle of a mail
        assert is_signed(served.letter(secret), old)

        new = files.renew()
        log = served.hang_up()
        (line,) = [line for line in log.splitlines() if "the certificate was read again" in line]
        assert "asked=SIGHUP stage=door" in line
        assert 'keys="s1 (ed25519)"' in log
        assert plain.ask(mail(BOB, "help") + b"\r\n.\r\n").startswith("250")
        letter = served.letter(secret)  # the session of before, by the certificate of before
        assert is_signed(letter, new)
        assert not is_signed(letter, old)
        second = served.serial()
        assert second != first

        # Once more, and broken: everything stays as it was, and a sentence says so of each.
        files.key.write_text("broken")
        files.signing.write_text("broken")
        log = served.hang_up()
        assert 'the one before stays" asked=SIGHUP stage=door why=' in log
        assert "a DKIM key stays as it was" in log
        assert "Traceback" not in log
        assert "fault=" not in log
        assert served.serial() == second
        assert is_signed(served.letter(plain), new)
        newest = files.renew()
        served.hang_up()
        assert served.serial() not in {first, second}
        assert is_signed(served.letter(plain), newest)
    _hang_up_while_it_stops(served.process)


def _hang_up_while_it_stops(process: Process) -> None:
    """See that the mail in hand is still taken."""
    with Wire(process.port) as busy:
        busy.begin(ALICE, OURS)
        process.ask_to_stop()
        process.process.send_signal(signal.SIGHUP)
        assert busy.ask(mail(ALICE, "help") + b"\r\n.\r\n").startswith("250")
    process.process.send_signal(signal.SIGHUP)
    assert process.stopped() == 0


def changed(url: str, change: Callable[[object], object]) -> None:
    database = Database(url)
    with database.writing.begin() as connection:
        change(connection)
    database.close()


@pytest.mark.sqlite_alone  # keys are rows like others
def test_keys_of_reply_addresses(database_url: str, tmp_path: Path) -> None:
    database = Database(database_url)
    served = Served(tmp_path, database_url, Files(tmp_path))
    with database.reading.connect() as connection:
        first = signing_keys.valid_secrets(connection)
    second = {7: b"another secret of 32 octets, yes"}

    def takes(ring: dict[int, bytes]) -> bool:
        house = MailDomain("pbmserv", "games.example", KeyRing(ring))
        address = house.address_of(ReplyAddress(Purpose.PLAYER, 1))
        with Wire(served.process.port) as wire:
            assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")
            return wire.ask(f"RCPT TO:<{address}>").startswith("250")

    assert takes(first)
    assert not takes(second)
    changed(database_url, lambda c: signing_keys.add(c, 7, second[7], NOW))
    assert 'keys="1, 7" signs=7' in served.hang_up()
    assert takes(first)
    assert takes(second)
    with Wire(served.process.port) as wire:
        letter = served.letter(wire)
    token = re.search(rb"Return-Path: <pbmserv\+([a-z2-7]+)@", letter)
    assert token is not None
    assert base64.b32decode(token[1].upper() + b"=" * (-len(token[1]) % 8))[0] == 7
    # The old one is withdrawn; then a table that cannot be meant changes nothing.
    changed(database_url, lambda c: c.execute(delete(keys).where(keys.c.id == 1)))
    served.hang_up()
    assert not takes(first)
    assert takes(second)
    changed(database_url, lambda c: c.execute(delete(keys)))
    assert "the table of keys is empty" in served.hang_up()
    changed(database_url, lambda c: signing_keys.add(c, 256, second[7], NOW))
    assert "key 256 cannot be used" in served.hang_up()
    assert takes(second)
    assert served.process.stop() == 0
    database.close()
