"""Encrypted sessions: STARTTLS, TLS at once, words put in before it, renewed certificates."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from running import Running, start
from smtp_client import Wire, mail

from pbmserv.errors import ConfigError
from pbmserv.smtpd.tls import Certificate
from pbmserv.store.tables.mail import inbox

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"


@dataclass(frozen=True)
class Authority:
    """Signs certificates, and is trusted by the clients of these tests."""

    ca: trustme.CA

    def issue(self, folder: Path, name: str = "games.example") -> tuple[Path, Path]:
        certificate = self.ca.issue_cert(name)
        chain, key = folder / "chain.pem", folder / "key.pem"
        certificate.private_key_pem.write_to_path(str(key))
        chain.write_bytes(b"".join(pem.bytes() for pem in certificate.cert_chain_pems))
        return chain, key

    def client(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        self.ca.configure_trust(context)
        return context


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority(trustme.CA())


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory, authority: Authority) -> tuple[Path, Path]:
    return authority.issue(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory, files: tuple[Path, Path]) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("secure")
    chain, key = files
    with start(
        folder,
        tls_cert=str(chain),
        tls_key=str(key),
        smtps="127.0.0.1:0",
        lmtp="127.0.0.1:0",
        sessions_network="4",
    ) as running:
        yield running


def taken(server: Running) -> int:
    return server.server.count(inbox)


def test_a_mail_over_starttls(secure: Running, authority: Authority) -> None:
    with Wire(secure.port) as wire:
        assert "250-STARTTLS" in wire.ask("EHLO players.example").split("\n")
        assert wire.ask("STARTTLS").startswith("220")
        wire.encrypt(authority.client())
        # RFC 3207 section 4.2: all that was known before is forgotten.
        assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("503")
        offered = wire.ask("EHLO players.example")
        assert "STARTTLS" not in offered
        assert "AUTH" not in offered
        assert wire.ask("STARTTLS").startswith("503 5.5.1 this is TLS already")
        assert wire.ask("AUTH PLAIN AGEAYg==").startswith("500")
        raw = mail(ALICE, "help in secret", Message_ID="<tls.1@players.example>")
        assert wire.mail(ALICE, OURS, raw).startswith("250")
        assert wire.ask("QUIT").startswith("221")
    assert len(secure.letters(ALICE)) == 1


def test_no_tls_without_a_certificate(tmp_path: Path) -> None:
    with (
        start(tmp_path) as server,
        Wire(server.port) as wire,
    ):
        assert "STARTTLS" not in wire.ask("EHLO players.example")
        assert wire.ask("STARTTLS").startswith("454")


@pytest.mark.parametrize(
    "put_in",
    [
        f"MAIL FROM:<{ALICE}>\r\n",
        f"EHLO evil\r\nMAIL FROM:<{ALICE}>\r\nRCPT TO:<{OURS}>\r\nDATA\r\n",
        "NOOP\r\n",
        "x",
    ],
)
def test_words_put_in_before_the_handshake_are_never_heard(
    secure: Running, authority: Authority, put_in: str
) -> None:
    """CVE-2011-0411 and its many children: plain words taken for the encrypted client's."""
    before = taken(secure)
    with Wire(secure.port) as wire:
        wire.say(f"STARTTLS\r\n{put_in}".encode())
        answer = wire.answer()
        if answer.startswith("501"):
            assert wire.answer() == ""
        else:  # they came a moment later, and broke the handshake or were forgotten
            assert answer.startswith("220")
            with pytest.raises((ssl.SSLError, OSError)):
                wire.encrypt(authority.client())
    assert taken(secure) == before


def test_a_handshake_that_fails_is_no_error_of_ours(
    secure: Running, caplog: pytest.LogCaptureFixture
) -> None:
    for nonsense in (b"\x16\x03\x01\x00\x05hello", b"EHLO again\r\n", b""):
        with Wire(secure.port) as wire:
            assert wire.ask("STARTTLS").startswith("220")
            if nonsense:
                wire.say(nonsense)
            wire.half_close()
            rest = wire.rest()
            assert b"250" not in rest
    with Wire(secure.port) as wire:
        assert wire.ask("NOOP").startswith("250")
    assert not [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]


def test_a_session_that_we_end_is_no_error_of_ours(
    secure: Running,
    authority: Authority,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("pbmserv.smtpd.session.LINGER_S", 0.01)
    with Wire(secure.port) as wire:
        assert wire.ask("STARTTLS").startswith("220")
        wire.encrypt(authority.client())
        while (answer := wire.ask("NOOP")).startswith("250"):
            pass
        assert answer.startswith("421 4.7.0 too many commands")
        assert wire.rest() == b""
    sleep(0.1)  # by then it would have hung up on a client that was still there
    with Wire(secure.port) as wire:
        assert wire.ask("NOOP").startswith("250")
    assert not [record for record in caplog.records if record.levelname in {"ERROR", "CRITICAL"}]


def test_starttls_does_not_count_a_session_twice(secure: Running, authority: Authority) -> None:
    for _ in range(3):
        with Wire(secure.port) as wire:
            assert wire.ask("STARTTLS").startswith("220")
            wire.encrypt(authority.client())
            assert wire.ask("EHLO players.example").startswith("250")
            assert wire.ask("QUIT").startswith("221")
    wires = [Wire(secure.port, source=f"127.0.2.{n}") for n in range(1, 5)]
    for wire in wires:
        assert wire.ask("STARTTLS").startswith("220")
        wire.encrypt(authority.client())
        assert wire.ask("EHLO players.example").startswith("250")
    late = Wire(secure.port, hello="", source="127.0.2.99")
    assert late.greeting.startswith("421")
    for wire in (*wires, late):
        wire.close()


def test_tls_from_the_first_octet(secure: Running, authority: Authority) -> None:
    with (
        socket.create_connection(("127.0.0.1", secure.smtps_port), 20) as plain,
        authority.client().wrap_socket(plain, server_hostname="games.example") as client,
    ):
        heard = client.makefile("rb")
        assert heard.readline().startswith(b"220 games.example")
        client.sendall(b"EHLO players.example\r\n")
        lines = []
        while not lines or lines[-1][3:4] == b"-":
            lines.append(heard.readline())
        assert not [line for line in lines if b"STARTTLS" in line or b"AUTH" in line]
        client.sendall(b"STARTTLS\r\n")
        assert heard.readline()[:1] in {b"4", b"5"}
        client.sendall(b"QUIT\r\n")
        assert heard.readline().startswith(b"221")


def test_a_plain_client_at_the_encrypted_door_hears_nothing(secure: Running) -> None:
    with socket.create_connection(("127.0.0.1", secure.smtps_port), 20) as plain:
        plain.sendall(b"EHLO players.example\r\n")
        heard = b""
        try:
            while piece := plain.recv(1000):
                heard += piece
        except ConnectionResetError:
            pass
    assert b"250" not in heard


def test_a_mail_server_in_front_may_speak_lmtp_over_tls(
    secure: Running, authority: Authority
) -> None:
    with Wire(secure.lmtp_port, hello="LHLO mta.games.example") as wire:
        assert wire.ask("STARTTLS").startswith("220")
        wire.encrypt(authority.client())
        assert wire.ask("LHLO mta.games.example").startswith("250")
        raw = mail(ALICE, "help by lmtp", Message_ID="<tls.2@players.example>")
        assert wire.mail(ALICE, OURS, raw).startswith("250")


def test_a_renewed_certificate_is_shown_and_a_broken_one_is_not(
    tmp_path: Path, authority: Authority
) -> None:
    chain, key = authority.issue(tmp_path)

    def shown() -> object:
        with Wire(server.port) as wire:
            assert wire.ask("STARTTLS").startswith("220")
            wire.encrypt(authority.client())
            return wire.certificate["serialNumber"]

    with start(tmp_path, tls_cert=str(chain), tls_key=str(key)) as server:
        first = shown()
        assert shown() == first
        authority.issue(tmp_path)
        second = shown()
        assert second != first
        key.write_text("broken")
        assert shown() == second
        chain.unlink()
        assert shown() == second
        authority.issue(tmp_path)
        assert shown() not in {first, second}


def test_files_that_are_no_certificate_are_named_at_once(
    tmp_path: Path, files: tuple[Path, Path], authority: Authority
) -> None:
    chain, key = files
    other = tmp_path / "other"
    other.mkdir()
    _, foreign = authority.issue(other)
    nonsense, missing = tmp_path / "nonsense.pem", tmp_path / "missing.pem"
    nonsense.write_text("-----BEGIN CERTIFICATE-----\nnonsense\n")
    locked = tmp_path / "locked.pem"
    locked.write_bytes(
        serialization.load_pem_private_key(key.read_bytes(), None).private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    for pair, words in (
        ((missing, key), "PBMSERV_TLS_CERT"),
        ((chain, missing), "PBMSERV_TLS_KEY"),
        ((nonsense, key), "no PEM certificate and key"),
        ((chain, chain), "no PEM certificate and key"),
        ((chain, foreign), "does not belong"),
        ((chain, locked), "has a passphrase"),
    ):
        with pytest.raises(ConfigError, match=words):
            Certificate(*pair)
