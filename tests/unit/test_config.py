"""Settings: where they come from, and the sentences about wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.config.descriptions import descriptions
from pbmserv.config.display import blank_passwords, text_of
from pbmserv.config.listen import Listen
from pbmserv.config.settings import Loaded, load
from pbmserv.errors import ConfigError


def from_env(**settings: str) -> Loaded:
    return load({f"PBMSERV_{key.upper()}": value for key, value in settings.items()}, None)


def refusal_of(**settings: str) -> str:
    with pytest.raises(ConfigError) as refusal:
        from_env(**settings)
    return str(refusal.value)


def test_without_any_setting_a_newcomer_can_play_on_this_machine() -> None:
    settings = load({}, None).settings
    assert settings.data_dir == Path("var")
    assert settings.database == "sqlite:///var/pbmserv.sqlite3"
    assert settings.smtp == Listen("127.0.0.1", 2525)
    assert settings.lmtp is None
    assert settings.web == Listen("127.0.0.1", 8025)
    assert settings.web_url == "http://127.0.0.1:8025"
    assert settings.address == "pbmserv@localhost"
    assert settings.relay == "maildir:var/mail"
    assert settings.signup == "confirm"
    assert set(load({}, None).sources.values()) == {"default"}


def test_every_setting_says_its_name_unit_and_meaning() -> None:
    assert [setting.key for setting in descriptions()] == list(load({}, None).sources)
    for setting in descriptions():
        assert setting.variable == f"PBMSERV_{setting.key.upper()}"
        assert setting.unit
        assert setting.meaning.endswith(".")


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "pbmserv.toml"
    file.write_text('address = "games@example.org"\nsignup = "open"\n')
    loaded = load({"PBMSERV_SIGNUP": "closed"}, file)
    assert loaded.settings.address == "games@example.org"
    assert loaded.settings.signup == "closed"
    assert loaded.sources["address"] == f"file {file}"
    assert loaded.sources["signup"] == "environment PBMSERV_SIGNUP"
    assert loaded.sources["smtp"] == "default"


def test_the_environment_may_name_the_file_and_the_command_line_wins(tmp_path: Path) -> None:
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    first.write_text('signup = "open"\n')
    second.write_text('signup = "closed"\n')
    named = {"PBMSERV_CONFIG": str(first)}
    assert load(named, None).settings.signup == "open"
    assert load(named, second).settings.signup == "closed"
    assert load({"PBMSERV_CONFIG": ""}, None).settings.signup == "confirm"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('adress = "a@b"\n', "adress (file {file}): no such setting; did you mean address?"),
        (
            'PBMSERV_ADDRESS = "a@b"\n',
            "PBMSERV_ADDRESS (file {file}): no such setting; did you mean address?",
        ),
        ('[pbmserv]\nsmtp = ""\n', "pbmserv (file {file}): no such setting; there are data_dir, "),
        ("smtp = 2525\n", 'PBMSERV_SMTP = "2525" (file {file}): write host:port'),
        ("smtp = 2.5\n", 'smtp (file {file}): write it in quotes, as smtp = "…"'),
        ("smtp = [{}]\n", 'smtp (file {file}): write it in quotes, as smtp = "…"'),
        ("smtp\n", "settings file {file}: not TOML: "),
    ],
)
def test_a_wrong_line_in_the_file_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "pbmserv.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError) as refusal:
        load({}, file)
    assert complaint.format(file=file) in str(refusal.value)


def test_numbers_switches_and_lists_need_no_quotes(tmp_path: Path) -> None:
    file = tmp_path / "pbmserv.toml"
    file.write_text(
        "authserv_hops = 1\r\nsender_checks = false\r\n"
        'mail_servers = ["127.0.0.1", "10.0.0.0/8"]\r\noperators = []\r\n',
        "utf-8-sig",  # as some editors save it
    )
    settings = load({}, file).settings
    assert (settings.authserv_hops, settings.sender_checks) == (1, False)
    assert text_of(settings.mail_servers) == "127.0.0.1/32, 10.0.0.0/8"
    assert settings.operators == frozenset()


def test_operators_are_userids_in_any_case_and_with_any_separator() -> None:
    assert load({}, None).settings.operators == frozenset()
    settings = from_env(operators=" Alice,bob  carol-2").settings
    assert settings.operators == {"alice", "bob", "carol-2"}
    assert text_of(settings.operators) == "alice, bob, carol-2"
    assert "write userids with commas between them" in refusal_of(operators="alice@example.org")


@given(st.text(max_size=40) | st.text("/[]:0a\0", max_size=8))
def test_any_text_is_a_place_that_reads_back_or_a_value_error(text: str) -> None:
    try:
        listen = Listen.parse(text)
    except ValueError:
        return
    assert Listen.parse(str(listen)) == listen


@rows(
    ("address", "read"),
    [
        ("pbmserv@localhost", "pbmserv@localhost"),
        ("Games@Example.ORG", "Games@example.org"),
        ("a.b-c_d@x-y.example", "a.b-c_d@x-y.example"),
        ("eighteen-chars-okay@x", None),
        ("seventeen-chars-ok@x", "seventeen-chars-ok@x"),
        ("pbm+serv@x", None),
        ("pbmserv", None),
        ("@x", None),
        (".a@x", None),
        ("a@", None),
        ("a@-x", None),
        ("a@x..y", None),
        ("a@" + "x." * 100 + "org", None),
        ("Games <a@x>", None),
        ("a@exämple.org", None),
    ],
)
def test_the_address_leaves_room_for_reply_addresses(address: str, read: str | None) -> None:
    if read is None:
        assert f'PBMSERV_ADDRESS = "{address}"' in refusal_of(address=address)
    else:
        local = from_env(address=address).settings.address.partition("@")[0]
        assert from_env(address=address).settings.address == read
        assert len(f"{local}+{'t' * 45}") <= 64


@rows(
    ("url", "right"),
    [
        ("sqlite://", "sqlite:///var/pbmserv.sqlite3"),
        ("sqlite:///", "sqlite:///var/pbmserv.sqlite3"),
        ("sqlite:///:memory:", "sqlite:///var/pbmserv.sqlite3"),
        ("postgres://pbm:hush@db/pbm", "postgresql+psycopg://USER:PASSWORD@HOST/NAME"),
        ("postgresql+psycopg://pbm:hush@db", "the name of the database is missing"),
        ("postgresql+psycopg://pbm:hush@db:x/pbm", "the host or port is wrong"),
        ("postgresql+psycopg://pbm:hush@db/pbm?conect_timeout=1", "did you mean connect_timeout?"),
        ("mysql://pbm:hush@db/pbm", "postgresql+psycopg://USER:PASSWORD@HOST/NAME"),
    ],
)
def test_databases_that_cannot_be_used(url: str, right: str) -> None:
    message = refusal_of(database=url)
    assert right in message
    assert "hush" not in message


def test_misspelt_variables_are_found_but_not_those_of_kubernetes() -> None:
    loaded = load(
        {
            "PBMSERV_SMPT": "127.0.0.1:1",
            "PBMSERV_SERVICE_HOST": "10.0.0.1",
            "PBMSERV_PORT_25_TCP": "tcp://10.0.0.1:25",
            "PBMSERV_CONFIG": "",
            "HOME": "/root",
        },
        None,
    )
    assert loaded.warnings == ("PBMSERV_SMPT is not a setting; did you mean PBMSERV_SMTP?",)


def test_no_password_is_printed() -> None:
    settings = from_env(
        database="postgresql+psycopg://pbm:hu%40sh%3A%2F@db/pbm?sslpassword=hush2",
        relay="smtps://games:hush3@mx.example.org",
    ).settings
    assert text_of(settings.database) == "postgresql+psycopg://pbm:***@db/pbm?sslpassword=***"
    assert text_of(settings.relay) == "smtps://games:***@mx.example.org"
    assert blank_passwords("smtp://games:hush") == "smtp://games:***"  # its host is missing
    assert blank_passwords("smtp://mx.example.org:25") == "smtp://mx.example.org:25"
    assert text_of(settings.lmtp) == ""
    assert "hush" not in repr(settings)
    assert "hu%40sh" not in repr(settings)
    refusal = refusal_of(
        database="postgresql+psycopg://pbm:hu@sh:/@db/pbm"
    )  # which nobody can take apart
    assert "in a password @ is %40" in refusal
    assert "hu" not in refusal


@given(
    user=st.text("abz09._-", max_size=8),
    password=st.text(
        st.characters(codec="ascii", exclude_characters="XYZ"), min_size=1, max_size=12
    ),
)
def test_blanking_leaves_nothing_of_a_password(user: str, password: str) -> None:
    blanked = blank_passwords(f"smtp://{user}:X{password}Z@host:25")
    assert blanked == f"smtp://{user}:***@host:25"
