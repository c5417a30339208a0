"""DKIM signatures of letters, from the key file to the receiver's check."""

from __future__ import annotations

import email
import re
import stat
from collections.abc import Callable
from pathlib import Path

import dkim
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from dns_zone import Zone
from examples import examples
from hypothesis import example, given
from hypothesis import strategies as st
from indoors import PASSWORD, address_of, indoors
from rows import rows
from running import start

from pbmserv.cli.main import run
from pbmserv.errors import ConfigError
from pbmserv.outbound.dkim import Signer
from pbmserv.outbound.dkim_keys import (
    KeyFile,
    load_key,
    make_key,
    parse_key_files,
    quoted_strings,
    record_fault,
)

pytestmark = pytest.mark.slow

DOMAIN = "games.example"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two new keys, which take long to make; tests do not change it."""
    folder = tmp_path_factory.mktemp("keys")
    make_key("r1", "rsa", folder / "r1.pem")
    make_key("e1", "ed25519", folder / "e1.pem")
    return folder


def naming(keys: Path) -> dict[str, str]:
    """Return the setting for these keys."""
    return {"dkim_keys": f"r1={keys}/r1.pem, e1={keys}/e1.pem"}


def zone_of(*files: Path) -> Zone:
    zone = Zone()
    for file in files:
        key = load_key(KeyFile(file.stem, file))
        zone.add_txt(key.name(DOMAIN), key.record)
    return zone


def dns_lookup(zone: Zone) -> Callable[..., bytes | None]:
    def record(name: bytes, timeout: int = 0) -> bytes | None:
        return next(iter(zone.txt(name.decode().rstrip("."))), None)

    return record


def verdicts(raw: bytes, zone: Zone) -> list[bool]:
    """Return the result of each signature, as a receiver sees it."""
    count = len(email.message_from_bytes(raw).get_all("DKIM-Signature", []))
    return [_verified(raw, n, zone) for n in range(count)]


def _verified(raw: bytes, number: int, zone: Zone) -> bool:
    try:
        return bool(dkim.DKIM(raw).verify(number, dnsfunc=dns_lookup(zone)))
    except dkim.ValidationError:
        return False


def test_every_letter_is_signed_by_every_key(tmp_path: Path, keys: Path) -> None:
    zone = zone_of(keys / "r1.pem", keys / "e1.pem")
    with indoors(tmp_path / "var", **naming(keys)) as house:
        house.sign_up("alice", "bob")
        letters = house.send(address_of("alice"), "blackbox challenge alice bob")
        letters += house.send(address_of("alice"), f"export alice {PASSWORD}")
        assert len(letters) == 3
        for letter in letters:
            assert verdicts(letter.raw, zone) == [True, True]
            first, second = letter.message.get_all("DKIM-Signature") or ()
            for field, algorithm in ((first, "rsa-sha256"), (second, "ed25519-sha256")):
                tags = dict(
                    part.strip().split("=", 1) for part in re.sub(r"\s", "", field).split(";")
                )
                assert (tags["a"], tags["d"]) == (algorithm, DOMAIN)
                assert tags["c"] == "relaxed/relaxed"
                assert "l" not in tags
                covered = tags["h"].split(":")
                assert covered.count("from") == 2, "nobody can put a second From above ours"
                headers = {name.lower() for name in letter.message}
                assert {"list-unsubscribe", "feedback-id", "reply-to"} & headers <= set(covered)


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory, keys: Path) -> bytes:
    """Return the octets of a letter with right signatures."""
    with indoors(tmp_path_factory.mktemp("signed"), **naming(keys)) as house:
        (letter,) = house.send("somebody@else.example", "help")
    assert verdicts(letter.raw, zone_of(keys / "r1.pem", keys / "e1.pem")) == [True, True]
    return letter.raw


@rows(
    ("changed", "into"),
    [
        (b"Subject: ", b"Subject: Re: "),
        (b"From: ", b"From: mallory@evil.example\r\nFrom: "),
        (b"To: ", b"Cc: everybody@evil.example\r\nTo: "),
        (b"Reply above", b"Write above"),
        (b"Reply-To: ", b"Reply-To: mallory@evil.example\r\nReply-To: "),
        (b"X-Loop", b"Content-Type: text/html\r\nX-Loop"),
    ],
)
def test_a_change_on_the_way_breaks_the_signature(
    keys: Path, signed: bytes, changed: bytes, into: bytes
) -> None:
    zone = zone_of(keys / "r1.pem", keys / "e1.pem")
    assert changed in signed
    assert verdicts(signed.replace(changed, into, 1), zone) == [False, False]


def test_the_letters_in_a_maildir_are_signed(database_url: str, tmp_path: Path, keys: Path) -> None:
    zone = zone_of(keys / "r1.pem", keys / "e1.pem")
    with start(tmp_path / "var", database_url, signup="open", **naming(keys)) as server:
        address = server.sign_up("alice")
        server.send(address, "showas alice secret")
        server.settle()
        octets = [path.read_bytes() for path in (tmp_path / "var").rglob("new/*")]
        assert octets
        for raw in octets:
            # A Maildir has LF line ends and the fields of delivery on top.
            wire = raw[raw.index(b"DKIM-Signature") :].replace(b"\n", b"\r\n")
            assert verdicts(wire, zone) == [True, True]


def test_a_new_key_beside_the_old_one(tmp_path: Path) -> None:
    """Rotation: sign with both keys; withdraw the old record when no letter waits any more."""
    old, new = (make_key(name, "ed25519", tmp_path / f"{name}.pem") for name in ("y2026", "y2027"))
    raw = b"From: a@games.example\r\nSubject: x\r\n\r\nHello.\r\n"
    zone = Zone()
    zone.add_txt(old.name(DOMAIN), old.record)
    kept = Signer(DOMAIN, [old]).signed(raw)
    both = Signer(DOMAIN, [old, new]).signed(raw)
    assert verdicts(both, zone) == [True, False]
    zone.add_txt(new.name(DOMAIN), new.record)
    assert verdicts(both, zone) == [True, True]
    assert verdicts(kept, zone) == [True]
    zone.remove("TXT", old.name(DOMAIN))
    assert verdicts(both, zone) == [False, True]
    assert Signer(DOMAIN, []).signed(raw) == raw


# -- key files -------------------------------------------------------------------------------


def test_only_the_owner_can_read_a_key(tmp_path: Path) -> None:
    file = tmp_path / "k.pem"
    make_key("k", "ed25519", file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        make_key("k", "ed25519", file)
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="can be read by everybody; run `chmod 600"):
        load_key(KeyFile("k", file))


@rows("text", ["", "nonsense", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_a_file_without_a_key_stops_the_start_and_is_not_quoted(tmp_path: Path, text: str) -> None:
    file = tmp_path / "k.pem"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(ConfigError) as caught:
        load_key(KeyFile("k", file))
    assert "is not a PEM private key" in str(caught.value)
    assert "AAAA" not in str(caught.value)
    with pytest.raises(ConfigError, match="No such file"):
        load_key(KeyFile("k", tmp_path / "missing.pem"))


def test_a_key_that_receivers_refuse_is_refused_here(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    short = rsa.generate_private_key(65537, 1024)
    other = ec.generate_private_key(ec.SECP256R1())
    for private, reason in ((short, "RFC 8301"), (other, "RSA and Ed25519 keys only")):
        file = tmp_path / "k.pem"
        file.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        file.chmod(0o600)
        with pytest.raises(ConfigError, match=reason):
            load_key(KeyFile("k", file))


@rows("text", ["k.pem", "a b=k.pem", "=k.pem", "a=", "a=x, a=y", "_k=x"])
def test_a_wrong_setting_of_keys_shows_the_right_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"selector|SELECTOR"):
        parse_key_files(text)


# -- records ---------------------------------------------------------------------------------


def test_a_long_record_is_cut_into_strings() -> None:
    assert quoted_strings("a" * 600) == '"' + "a" * 255 + '" "' + "a" * 255 + '" "' + "a" * 90 + '"'
    assert quoted_strings("short") == '"short"'


def test_faults_of_records(tmp_path: Path) -> None:
    key, other = (make_key(n, "ed25519", tmp_path / f"{n}.pem") for n in ("a1", "a2"))
    zone = Zone()
    name = key.name(DOMAIN)
    assert record_fault(key, DOMAIN, zone) == "there is no such record"
    for record, fault in (
        (other.record, "the record holds another key"),
        (key.record.replace("k=ed25519", "k=rsa"), "the record says k=rsa, the key is ed25519"),
        (key.record + "; t=y:s", "the record says t=y: for tests only"),
        (key.record, ""),
    ):
        zone.remove("TXT", name)
        zone.add_txt(name, record)
        assert record_fault(key, DOMAIN, zone) == fault
    zone.add_txt(name, key.record)
    assert record_fault(key, DOMAIN, zone) == "there are 2 records, so none of them counts"


def test_a_record_for_localhost_is_shown_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["dkim", "new", str(tmp_path / "s.pem"), "--kind", "ed25519"]) == 0
    printed = capsys.readouterr()
    assert "s._domainkey.localhost. IN TXT" in printed.out
    assert "Name the server's settings with --config FILE or PBMSERV_CONFIG" in printed.err


def test_the_operator_makes_a_key_and_gets_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PBMSERV_ADDRESS", "play@games.example")
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    file = tmp_path / "S2026.pem"
    assert run(["dkim", "show"]) == 0
    assert "letters are not signed" in capsys.readouterr().out
    assert run(["dkim", "new", str(file), "--kind", "ed25519"]) == 0
    printed = capsys.readouterr().out
    assert 's2026._domainkey.games.example. IN TXT "v=DKIM1; k=ed25519; p=' in printed
    assert f'dkim_keys = "s2026={file}"' in printed
    assert "PRIVATE" not in printed
    assert "for localhost" not in capsys.readouterr().err
    assert run(["dkim", "new", str(file)]) == 1
    assert "never overwritten" in capsys.readouterr().err
    example = f"such as `pbmserv dkim new {tmp_path}/s2026.pem`"
    for words, wrong in (
        (
            [f"{tmp_path}/missing/s.pem"],
            f"FILE {tmp_path}/missing/s.pem: No such file or directory; name a",
        ),
        ([f"{tmp_path}/a,b.pem", "--selector", "s1"], "commas stand between files"),
        ([f"{tmp_path}/s 1.pem"], "s 1 cannot be a name in DNS"),
        ([f"{tmp_path}/s.pem", "--selector", "x=y"], "x=y cannot be a name in DNS"),
    ):
        assert run(["dkim", "new", *words]) == 1
        printed = capsys.readouterr()
        assert not printed.out
        assert wrong in printed.err
        assert example in printed.err
        assert "setting" not in printed.err
    assert list(tmp_path.iterdir()) == [file]
    monkeypatch.setenv("PBMSERV_DKIM_KEYS", f"s2026={file}")
    assert run(["dkim", "show"]) == 0
    assert "s2026._domainkey.games.example. IN TXT" in capsys.readouterr().out
    key = load_key(KeyFile("s2026", file))
    zone = Zone()
    monkeypatch.setattr("pbmserv.mail.dns.SystemResolver", lambda: zone)
    assert run(["dkim", "check"]) == 1
    assert "there is no such record" in capsys.readouterr().err
    zone.add_txt(key.name("games.example"), key.record)
    assert run(["dkim", "check"]) == 0
    assert "s2026._domainkey.games.example: right" in capsys.readouterr().out
    zone.broken.add(key.name("games.example"))
    assert run(["dkim", "check"]) == 1
    assert "no name server answered" in capsys.readouterr().err


BODIES = st.lists(st.text(alphabet="ab \t.=ä", max_size=20), max_size=6).map(
    lambda lines: "".join(f"{line}\r\n" for line in lines).encode()
)
"""Any body of whole lines, as those of letters are."""


@examples(3)
@given(
    st.lists(st.sampled_from(["subject", "To", "List-Id", "X-Loop"]), max_size=6),
    st.lists(st.text(alphabet="ab \t\r\n=:;", max_size=40).map(str.encode), max_size=6),
    BODIES,
    st.sampled_from(["e1", "r1"]),
)
@example([], [], b"", "e1")
@example([], [], b"a" + b" " * 900 + b"\t b \t\r\n \r\n\t\r\n", "e1")
def test_the_library_verifies_any_letter_that_we_sign(
    keys: Path, names: list[str], values: list[bytes], body: bytes, selector: str
) -> None:
    lines = [b"From: a@games.example"]
    for name, value in zip(names, values, strict=False):
        lines.append(name.encode() + b":" + re.sub(rb"\r?\n|\r", b"\r\n ", value))
    raw = b"\r\n".join((*lines, b"", body))
    key = load_key(KeyFile(selector, keys / f"{selector}.pem"))
    signed = Signer(DOMAIN, [key]).signed(raw)
    assert signed.endswith(raw)
    assert max(map(len, signed.removesuffix(raw).split(b"\r\n"))) <= 100
    record = key.record.encode()
    assert dkim.verify(signed, dnsfunc=lambda *_, **__: record)


def test_a_signature_covers_the_hashes_of_all_boards_in_a_digest(
    tmp_path: Path, keys: Path
) -> None:
    zone = zone_of(keys / "r1.pem", keys / "e1.pem")
    with indoors(tmp_path / "var", **naming(keys)) as house:
        house.sign_up("alice", "bob")
        alice, bob = address_of("alice"), address_of("bob")
        for _ in range(2):
            house.send_unread(alice, f"blackbox challenge alice {PASSWORD} bob")
        house.send_unread(bob, f"prefs bob {PASSWORD} digest=daily@07:30")
        for number in (1, 2):
            house.send_unread(bob, f"blackbox accept {number} bob {PASSWORD}")
            house.send_unread(alice, f"blackbox move {number} alice {PASSWORD} a1,b2,c3,d4")
        house.drop_letters()
        (tray,) = [letter for letter in house.live(days=1) if letter.kind == "tray"]
    assert tray.raw.count(b"\nPbmserv-Record: ") == 2
    assert verdicts(tray.raw, zone) == [True, True]
    assert verdicts(tray.raw.replace(b"board=2;", b"board=3;"), zone) == [False, False]
    more = tray.raw.replace(b"Pbmserv-Record:", b"Pbmserv-Record: x\r\nPbmserv-Record:", 1)
    assert verdicts(more, zone) == [False, False]
