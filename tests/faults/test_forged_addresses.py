"""Reply addresses: what they say is what we wrote, and nobody else can write one."""

from __future__ import annotations

import base64
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from running import Running
from seating import HIDINGS, seat_pairs
from sqlalchemy import Connection

from pbmserv.mail.key_ring import LONGEST_LOCAL, MAC_BYTES, KeyRing, mac_of
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.reply_address import OF_PAGES, Purpose, ReplyAddress
from pbmserv.store.accounts import players
from pbmserv.store.boards import moves
from pbmserv.store.tables.accounts import players as players_table

RING = KeyRing({1: b"first key" * 4})
HOUSE = MailDomain("pbmserv", "games.example", RING)
LARGEST = ReplyAddress(Purpose.BOARD, 2**28 - 1, 2**28 - 1, 2**14 - 1, 2**7 - 1)

numbers = st.integers(0, 2**40)
capabilities = st.builds(ReplyAddress, st.sampled_from(Purpose), numbers, numbers, numbers, numbers)
# What a server of 268 million players and boards may come to; a page's token is no address.
usual = st.builds(
    ReplyAddress,
    st.sampled_from([purpose for purpose in Purpose if purpose not in OF_PAGES]),
    st.integers(0, 2**28 - 1),
    st.integers(0, 2**28 - 1),
    st.integers(0, 2**14 - 1),
    st.integers(0, 2**7 - 1),
)
resets = st.builds(
    ReplyAddress,
    st.just(Purpose.RESET),
    player=st.integers(0, 2**35),
    number=st.integers(0, 2**32 - 1),
    epoch=st.integers(0, 2**14),
)


@given(capabilities, st.randoms())
def test_our_addresses_are_read_in_any_letter_case(
    reply_address: ReplyAddress, random: Random
) -> None:
    token = RING.token(reply_address)
    assert RING.read(token) == RING.read(token.upper()) == reply_address
    mixed = "".join(c.upper() if random.random() < 0.5 else c for c in token)
    assert RING.read(mixed) == reply_address


@given(st.one_of(usual, resets))
@example(LARGEST)
def test_an_address_fits_into_what_smtp_carries(reply_address: ReplyAddress) -> None:
    house = MailDomain("l" * 18, "games.example", RING)  # the longest that the settings allow
    address = house.address_of(reply_address)
    assert len(address.rpartition("@")[0]) <= LONGEST_LOCAL
    assert address == address.lower()
    assert house.knows(address)
    assert house.knows(address.upper())
    assert house.read(address.upper()) == reply_address


@given(capabilities, st.data())
def test_any_bit_that_is_changed_is_refused(
    reply_address: ReplyAddress, data: st.DataObject
) -> None:
    token = RING.token(reply_address).upper()
    packed = bytearray(base64.b32decode(token + "=" * (-len(token) % 8)))
    at = data.draw(st.integers(0, len(packed) * 8 - 1))
    packed[at // 8] ^= 1 << at % 8
    forged = base64.b32encode(packed).decode().rstrip("=").lower()
    assert RING.read(forged) is None
    assert not HOUSE.knows(f"pbmserv+{forged}@games.example")


@given(capabilities, st.binary(max_size=60), st.text(max_size=60))
def test_nothing_else_is_read_and_nothing_raises(
    reply_address: ReplyAddress, octets: bytes, text: str
) -> None:
    assert RING.read(base64.b32encode(octets).decode().rstrip("=")) is None
    assert RING.read(text) is None
    assert not HOUSE.knows(f"pbmserv+{text}@games.example")
    token = RING.token(reply_address)
    for damaged in (token[:-1], token[1:], token + "a", token + "=", token[:-2], f" {token}"):
        assert RING.read(damaged) is None


@given(capabilities)
def test_a_token_has_one_spelling(reply_address: ReplyAddress) -> None:
    """The bits that base32 leaves over must not make a second address of the same meaning."""
    token = RING.token(reply_address)
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    spellings = [last for last in alphabet if RING.read(token[:-1] + last) is not None]
    assert spellings == [token[-1]]


@given(capabilities)
def test_keys_can_be_rotated_and_withdrawn(reply_address: ReplyAddress) -> None:
    old, new = b"first key" * 4, b"second key" * 4
    before, both, after = KeyRing({1: old}), KeyRing({1: old, 2: new}), KeyRing({2: new})
    assert both.read(before.token(reply_address)) == reply_address
    assert after.read(before.token(reply_address)) is None
    assert before.read(both.token(reply_address)) is None  # the newest signs
    assert after.read(both.token(reply_address)) == reply_address
    assert KeyRing({1: new}).read(before.token(reply_address)) is None


def test_a_token_tells_its_keys_to_nobody() -> None:
    assert "key" not in repr(RING).replace("KeyRing", "")
    assert "first" not in repr(HOUSE)
    assert MAC_BYTES * 8 == 80


def test_a_purpose_of_a_newer_version_is_no_address_of_ours() -> None:
    body = bytes((1, 99, 0, 0, 0, 0))
    token = base64.b32encode(body + mac_of(RING.keys[1], body)).decode().rstrip("=")
    assert RING.read(token) is None
    for body in (bytes((1, 1, 0, 0, 0, 0, 0)), bytes((1, 1, 0, 0, 0, 0x80))):
        token = base64.b32encode(body + mac_of(RING.keys[1], body)).decode().rstrip("=")
        assert RING.read(token) is None


@pytest.mark.sqlite_alone
def test_an_address_of_one_purpose_is_useless_for_another(server: Running) -> None:
    """Everything a signed address could be taken for, on a real server."""
    table = seat_pairs(server.server, 1)[0]
    first, second = table.players
    ring = server.server.mail_domain

    def write(reply_address: ReplyAddress, body: str) -> str:
        reply = server.send(first.address, "Re: board", body, to=ring.address_of(reply_address))
        assert reply.startswith("250")
        return server.letters(first.address)[-1].text

    # A confirmation or reset address does not move, even with the numbers of a board.
    for purpose in (Purpose.CONFIRM, Purpose.RESET, Purpose.MESSAGE):
        write(ReplyAddress(purpose, first.id, table.board, 1, 0), HIDINGS[0])
    # A board address changes no password.
    write(ReplyAddress(Purpose.BOARD, first.id, table.board, 1, 0), "password newsecret")
    # An address of a board sits at that board only.
    write(ReplyAddress(Purpose.BOARD, first.id, 99, 1, 0), HIDINGS[0])
    # A player number that does not exist speaks for nobody.
    write(ReplyAddress(Purpose.BOARD, 99, table.board, 1, 0), HIDINGS[0])
    with server.server.database.reading.connect() as connection:
        assert moves.record(connection, table.board) == []
        for player in (first, second):
            row = players.by_id(connection, player.id)
            assert row is not None
            assert row.password_hash == player.password_hash


@pytest.mark.sqlite_alone
def test_raising_the_epoch_revokes_every_address(server: Running) -> None:
    table = seat_pairs(server.server, 1)[0]
    player, address = table.players[0], table.addresses[0]

    def revoke(connection: Connection) -> None:
        connection.execute(
            players_table.update().where(players_table.c.id == player.id).values(reply_epoch=1)
        )

    server.server.writer.submit(revoke).result()
    assert server.send(player.address, "Re: board", HIDINGS[0], to=address).startswith("250")
    assert "forgot" in server.letter(player.address).text
    assert server.server.read(moves.record, table.board) == []
