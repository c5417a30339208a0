"""Signing off, coming back, taking one's data along, and being forgotten."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from migrated import game_tables
from running import Correspondence, Letter, MovableClock, start
from sqlalchemy import select

from pbmserv.store.core.database import Database
from pbmserv.store.tables.boards import boards
from pbmserv.store.tables.mail import inbox, outbox


def answer_to(server: Correspondence, address: str, command: str) -> Letter:
    server.send(address, command)
    return server.letter(address)


def start_game(server: Correspondence, *, hidden: tuple[str, ...] = ()) -> None:
    """A board of alice and bob on which those who are named have hidden their atoms."""
    server.send("alice@players.example", "blackbox challenge alice bob")
    letters = {str(letter.message["To"]): letter for letter in server.letters()}
    for userid in hidden:
        server.reply(letters[f"{userid}@players.example"], "b3,d3,a1,f2")
    server.letters()


def exported(letter: Letter) -> dict[str, Any]:
    """The data in the letter that answers ``export``."""
    [attached] = letter.message.iter_attachments()
    content = attached.get_payload(decode=True)
    assert isinstance(content, bytes)
    return dict(json.loads(content))


def rows(server: Correspondence, table: Any) -> list[Any]:
    with server.server.database.reading.connect() as connection:
        ordered = select(table).order_by(*table.primary_key)
        return list(connection.execute(ordered).mappings())


@pytest.mark.slow
def test_signing_off_gives_up_games_and_ends_all_mail(server: Correspondence) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    start_game(server, hidden=("alice", "bob"))
    start_game(server, hidden=("bob",))

    question = answer_to(server, alice, "signoff alice secret")
    assert "You are in 2 running games." in question.text
    server.reply(question, "I do not know yet")
    assert 'nothing but "yes"' in server.letter(alice).one_line
    server.reply(question, "")
    assert 'nothing but "yes"' in server.letter(alice).one_line
    assert [row["status"] for row in rows(server, boards)] == ["active", "active"]

    server.reply(question, "yes\n\nBob cheats, and I am fed up.")
    farewell = server.letter(alice)
    assert farewell.subject == "Goodbye, alice"
    assert "You have given up your running games." in farewell.one_line
    letters = server.letters(bob)
    assert len(letters) == 2
    assert "alice resigned" in letters[0].text
    assert "will not be played" in letters[1].text
    assert "fed up" not in "".join(letter.text for letter in letters)
    assert [row["status"] for row in rows(server, boards)] == ["finished", "declined"]

    # Nobody can reach her now, and nothing that she has still works.
    server.send(bob, "message bob secret alice", "Come back!")
    assert "Nobody plays here" in server.letter(bob).text
    server.send(bob, "blackbox challenge bob alice")
    assert server.letter(bob).subject
    server.send(bob, "forgot alice")
    server.letter(bob)
    server.reply(letters[0], "chat\nFarewell")
    server.letter(bob)
    assert not server.letters(alice)
    server.reply(question, "yes", sender=alice)
    server.reply(farewell, "games", sender=alice)
    for letter in server.letters(alice):
        assert "back alice PASSWORD" in letter.text or "settled" in letter.text
    assert "has signed off" in answer_to(server, alice, "prefs alice secret").text

    # `forgot` from her own mailbox and `back` are the way home.
    server.reply(answer_to(server, alice, "forgot alice"), "password again-me")
    assert "You are still signed off." in server.letter(alice).one_line
    back = answer_to(server, alice, "back alice again-me")
    assert "You are a player again" in back.text
    server.send(bob, "message bob secret alice", "Hello again!")
    assert "Hello again!" in server.letter(alice).text


def test_a_player_who_comes_back_has_asked_for_nothing_yet(server: Correspondence) -> None:
    """Standing wishes end with signing off: a league of each season, the daily box, a search."""
    alice = server.sign_up("alice")
    server.send(alice, "league alice secret join blackbox")
    server.send(alice, "daily alice secret")
    server.send(alice, "blackbox seek alice secret")
    server.letters()
    kept = exported(answer_to(server, alice, "export alice secret"))
    wishes = ("leagues_entered_each_season", "daily_at", "seeks")
    assert [len(kept[wish]) for wish in wishes] == [1, 1, 1]

    server.reply(answer_to(server, alice, "signoff alice secret"), "yes")
    server.letters()
    server.reply(answer_to(server, alice, "forgot alice"), "password again-me")
    server.letters()
    server.send(alice, "back alice again-me")
    assert "You are a player again" in server.letters(alice)[-1].text
    kept = exported(answer_to(server, alice, "export alice again-me"))
    assert [kept[wish] for wish in wishes] == [[], [], []]


def test_the_question_does_not_wait_for_ever(server: Correspondence) -> None:
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    alice = server.sign_up("alice")
    for command in ("signoff", "delete"):
        question = answer_to(server, alice, f"{command} alice secret")
        clock.move(days=8)
        server.reply(question, "yes")
        late = server.letter(alice)
        assert "more than 7 days" in late.text
        assert f"Try this:   {command}\n" in late.text
    question = answer_to(server, alice, "signoff alice secret")
    server.reply(question, "no")
    server.letters()
    server.reply(question, "yes")  # an earlier mail that was late, or somebody else
    assert server.letter(alice).subject.startswith("Not done")
    assert answer_to(server, alice, "prefs alice secret").subject == "Your preferences, alice"


def test_export_holds_all_that_is_ones_own_and_nothing_else(server: Correspondence) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    start_game(server, hidden=("alice",))
    server.send(bob, "message bob secret alice", "Something between us")
    server.send(bob, "blackbox show 1")
    server.letters()
    answer_to(server, alice, "prefs alice secret block=bob tz=Europe/Berlin")

    server.send("thief@elsewhere.example", "export alice secret")
    assert not server.letters("thief@elsewhere.example")
    letter = server.letter(alice)
    [attached] = letter.message.iter_attachments()
    assert attached.get_filename() == "pbmserv-alice.json"
    content = attached.get_payload(decode=True)
    assert isinstance(content, bytes)
    kept = json.loads(content)
    assert kept["account"]["userid"] == "alice"
    assert kept["account"]["tz"] == "Europe/Berlin"
    assert [row["address"] for row in kept["addresses"]] == [alice]
    assert kept["blocked"] == ["bob"]
    [board] = kept["boards"]
    assert [move["text"] for move in board["moves"]]
    assert board["seat"] == [0]
    assert any(row.get("said") == "Something between us" for row in kept["letters_to_you"])
    assert b"argon2id$" not in content
    assert b"bob@players.example" not in content


def test_an_export_shows_what_waits_for_its_player_alone(server: Correspondence) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    start_game(server, hidden=("alice",))
    server.send(bob, "blackbox submit 1 bob secret b3,d3,a1,f2")
    server.send("mallory@evil.example", "blackbox solo bob -size=4x4 -atoms=1", From=bob)
    server.send(bob, "change address bob secret bob@home.example")
    server.letters()

    waiting = {}
    for name, address in (("alice", alice), ("bob", bob)):
        [attached] = answer_to(server, address, f"export {name} secret").message.iter_attachments()
        kept = json.loads(attached.get_content())
        [board] = kept["boards"]
        waiting[name] = (
            board.get("submitted"),
            kept["address_changes"],
            kept["boards_to_confirm"],
        )
    now = "2026-03-01T12:00:00+00:00"
    assert waiting["alice"] == (None, [], [])
    assert waiting["bob"] == (
        {"turn": 1, "text": "B3,D3,A1,F2", "created_at": now},
        [{"address": "bob@home.example", "created_at": now, "confirmed_at": None}],
        [{"game": "blackbox", "created_at": now, "board_id": None}],
    )


@pytest.mark.slow
def test_deleting_removes_every_trace_and_keeps_the_games(
    database_url: str, tmp_path: Path
) -> None:
    with start(tmp_path, database_url) as server:
        _leave_traces_and_delete(server)

    # The server has done all it had to do. Where else could she be? Every table is looked through.
    with closing(Database(database_url)) as database, database.reading.connect() as connection:
        for table in game_tables():
            for row in connection.execute(select(table)).mappings():
                if table is inbox and row["sender"] == "bob@players.example":
                    continue  # what Bob wrote is his
                is_mail = table is inbox
                for value in row.values():
                    text = bytes(value).decode() if is_mail and is_raw(value) else repr(value)
                    assert "alice" not in text, (table.name, text)
                    assert "555-1234" not in text, (table.name, text)
        [farewell] = connection.execute(
            select(outbox).where(outbox.c.letter == "deleted")
        ).mappings()
        assert (farewell["recipient"], farewell["state"]) == ("", "sent")
        # That her mails came is still known, so that none of them counts twice.
        assert len(connection.execute(select(inbox.c.id)).all()) > 10
        assert connection.execute(select(boards.c.status)).scalars().all() == ["finished"]

    with start(tmp_path, database_url) as server:
        before = server._queued()
        server.relay.delivered |= dict.fromkeys(before)  # by the server before
        server.read_ids |= before
        server.letters()
        server.sign_up("alice")  # the userid is free again


def is_raw(value: object) -> bool:
    return isinstance(value, bytes | memoryview)


def _leave_traces_and_delete(server: Correspondence) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    start_game(server, hidden=("alice", "bob"))
    answer_to(server, alice, "prefs alice secret block=bob tz=Europe/Berlin broadcast=on")
    answer_to(server, bob, "prefs bob secret digest=daily@07:30")
    server.send(alice, "message alice secret bob", "My phone number is 555-1234")
    server.send(alice, "blackbox chat 1 alice secret", "Call 555-1234")
    server.letters()
    server.live(days=1)
    assert "555-1234" in server.letter(bob).text
    answer_to(server, bob, "prefs bob secret digest=off")
    server.send(bob, "multiple", "blackbox show 1\ngames alice\n")
    assert "alice" in server.letter(bob).text
    server.send(bob, "games alice")
    assert "alice" in server.letter(bob).text
    server.send("somebody@elsewhere.example", "blackbox show 1")
    server.letters()
    answer_to(server, alice, "away alice secret until tomorrow")
    server.send(alice, "message alice secret bob", "My phone number is 555-1234")
    server.send(alice, "blackbox chat 1 alice secret", "Call 555-1234")
    server.send("alias@work.example", "multiple", "games alice\nprefs alice secret\n")
    server.send(alice, "change address alice secret alice@new.example")
    server.letters()

    question = answer_to(server, alice, "delete alice secret")
    assert "This cannot be undone." in question.one_line
    server.reply(question, "yes")
    [letter] = server.letters(bob)
    assert "gone-1 resigned" in letter.text
    assert "still reach" not in letter.text
    assert "still reach" not in letter.html
    assert "alice" not in letter.text

    server.send(bob, "blackbox show 1")
    assert "gone-1" in server.letter(bob).text
    server.send(bob, "blackbox challenge bob gone-1")
    assert "Nobody here has name 2 of those you wrote" in server.letter(bob).text
    server.send("somebody@elsewhere.example", "Re: ...", "yes", to=question.reply_to)
    assert "settled" in server.letter("somebody@elsewhere.example").text
    server.send(bob, "back gone-1 secret")
    assert "do not match" in server.letter(bob).one_line


@pytest.mark.both_databases
def test_a_mailbox_of_two_players_stays_the_other_one_s(server: Correspondence) -> None:
    home = "family@players.example"
    for userid in ("alice", "bob"):
        server.send(home, f"signup {userid} secret-{userid}")
        server.reply(server.letter(home), "yes")
        server.letter(home)
    server.send(home, "please help", to="postmaster@games.example")
    answer_to(server, home, "prefs alice secret-alice")
    server.reply(answer_to(server, home, "delete alice secret-alice"), "yes")
    assert server.letter(home).subject == "Your account is deleted"

    mails = rows(server, inbox)
    assert [row["state"] for row in mails if row["raw"]] == ["kept"]
    letter = answer_to(server, home, "games bob secret-bob")
    assert str(letter.message["To"]) == home
    assert answer_to(server, home, "prefs bob secret-bob").subject == "Your preferences, bob"


def test_a_reply_to_the_digest_of_a_deleted_player_is_refused(server: Correspondence) -> None:
    alice, bob = server.sign_up("alice"), server.sign_up("bob")
    start_game(server, hidden=("alice", "bob"))
    answer_to(server, alice, "prefs alice secret digest=daily@07:30")
    server.live(days=1)
    digest = server.letter(alice)
    server.reply(answer_to(server, alice, "delete alice secret"), "yes")
    server.letters()
    for body in ("1: a", "a", "resign"):
        server.reply(digest, body)
        assert "to a player whose account has been deleted" in server.letter(alice).one_line
    assert server.letters(bob) == []
