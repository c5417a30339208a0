"""Operators can help players who lost their mailbox: erase, export, rename; and new keys."""

from __future__ import annotations

from functools import partial

import pytest
from deeds import ALICE, BOB, do, start_board, to
from indoors import PASSWORD, Indoors

from pbmserv.errors import OperatorError
from pbmserv.service.operators import lost_mailboxes, reply_keys
from pbmserv.service.operators.deeds import entries
from pbmserv.service.operators.overviews import board_facts
from pbmserv.store.accounts import signing_keys


def dump(house: Indoors) -> str:
    """Return all rows of all tables as one text."""
    from pbmserv.store.tables.columns import metadata

    with house.server.database.reading.connect() as connection:
        return "\n".join(
            repr(tuple(row))
            for table in metadata.sorted_tables
            if table.info.get("store") != "mail"
            for row in connection.execute(table.select())
        )


def test_an_erased_player_leaves_nothing_but_a_neutral_name(house: Indoors) -> None:
    number = start_board(house)
    house.letters()
    done = do(house, lost_mailboxes.erase, userid="alice")
    assert done.facts == {"ended": [number]}
    letters = house.letters()
    (ended,) = to(letters, BOB)
    assert f"have ended board {number}" in ended.one_line
    assert "alice" not in ended.text
    (farewell,) = to(letters, ALICE)
    assert farewell.subject == "Your account is deleted"
    house.server.settle()
    facts, _ = house.look(partial(board_facts, number=number))
    assert dict(facts)["players"].startswith("gone-")
    with pytest.raises(OperatorError, match="there is no player alice"):
        do(house, lost_mailboxes.erase, userid="alice")


def test_an_export_goes_to_another_address(house: Indoors) -> None:
    do(house, lost_mailboxes.export, userid="alice", to="alice@new.example")
    (letter,) = house.letters()
    assert letter.recipient == "alice@new.example"
    (file,) = letter.message.iter_attachments()
    assert ALICE.encode() in file.get_content()
    (entry,) = house.look(partial(entries, target="user alice", most=5))
    assert (entry.action, entry.operator) == ("export", "olga")
    with pytest.raises(OperatorError, match="is not an address"):
        do(house, lost_mailboxes.export, userid="alice", to="nonsense")


@pytest.mark.both_databases
def test_a_renamed_player_goes_on_under_the_new_userid(house: Indoors) -> None:
    number = start_board(house)
    house.letters()
    do(house, lost_mailboxes.rename, userid="alice", new="Alicia")
    (letter,) = house.letters()
    assert letter.recipient == ALICE
    assert "alice is called alicia now" in letter.one_line
    moved = house.send(ALICE, f"blackbox move {number} alicia {PASSWORD} 1")
    assert any("You fired port 1" in letter.text for letter in moved)
    (refused,) = house.send(ALICE, f"blackbox move {number} alice {PASSWORD} 2")
    assert "Not done" in refused.text
    for taken in ("alice", "bob", "help", "postmaster"):
        with pytest.raises(OperatorError, match="nobody can have the userid"):
            do(house, lost_mailboxes.rename, userid="bob", new=taken)


def test_an_erased_player_leaves_no_former_name(house: Indoors) -> None:
    do(house, lost_mailboxes.rename, userid="alice", new="alicia")
    do(house, lost_mailboxes.erase, userid="alicia")
    house.letters()
    text = dump(house)
    assert "alicia" not in text
    assert "alice" not in text


def test_a_new_key_signs_after_a_reload_and_old_addresses_stay(house: Indoors) -> None:
    number = start_board(house)
    (before,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {number}")
    done = do(house, reply_keys.rotate)
    assert "systemctl reload pbmserv" in done.summary
    ring = house.server.mail_domain.ring
    assert set(ring.keys) == {1}, "nothing signs with the key before all processes have it"
    with house.server.database.reading.connect() as connection:
        ring.keys = signing_keys.valid_secrets(connection)
    assert set(ring.keys) == {1, 2}
    moved = house.reply(before, "1")
    (after,) = to(moved, ALICE)[:1]
    assert after.message["Reply-To"] != before.message["Reply-To"]
    assert house.reply(after, "show")


@pytest.mark.both_databases
def test_a_retired_key_ends_its_addresses_and_nothing_else(house: Indoors) -> None:
    """A reply to an old letter is told why at the door; blocks of mailboxes stay."""
    number = start_board(house)
    (before,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {number}")
    ring = house.server.mail_domain.ring
    marks = ring.marks("alice@players.example")
    with pytest.raises(OperatorError, match="no key is old enough"):
        do(house, reply_keys.retire, days=0)
    house.live(days=91)
    do(house, reply_keys.rotate)  # the first key has signed letters until now
    with pytest.raises(OperatorError, match="signed some in the last 90 days"):
        do(house, reply_keys.retire, days=90)
    house.live(days=91)
    done = do(house, reply_keys.retire, days=90)
    assert "Retired: key 1." in done.summary
    assert "a reply gets 550" in done.summary
    reread(house)
    assert (set(ring.keys), set(ring.retired)) == ({2}, {1})
    mail_domain = house.server.mail_domain
    assert not mail_domain.knows(before.reply_to)
    assert mail_domain.is_retired(before.reply_to)
    assert not mail_domain.is_retired(f"pbmserv+{'a' * 30}@games.example")
    assert ring.marks("alice@players.example")[1:] == marks
    (after,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {number}")
    assert house.reply(after, "show")
    do(house, reply_keys.rotate)
    with house.server.database.reading.connect() as connection:
        assert [key.id for key in signing_keys.listed(connection)] == [1, 2, 3]


def reread(house: Indoors) -> None:
    """Read the keys as a reload does."""
    ring = house.server.mail_domain.ring
    with house.server.database.reading.connect() as connection:
        ring.keys = signing_keys.valid_secrets(connection)
        ring.retired = signing_keys.retired_secrets(connection)
