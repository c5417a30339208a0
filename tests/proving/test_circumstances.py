"""Games are proven in all circumstances: copies, restarts, undo, pages, digests, the house."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from urllib.parse import urlencode

import pytest
from asgi_client import fetch, load_page, site_of
from indoors import PASSWORD, Indoors, address_of, indoors
from mailboxes_of_games import Played, begin_game, sentences, verdict_of
from sqlalchemy import select
from test_games_proven import changed

from pbmserv.engine.chance import drawn_sides
from pbmserv.engine.proof import move_hash
from pbmserv.letters import compose
from pbmserv.service.operators import boards as operators
from pbmserv.service.operators.deeds import Signature
from pbmserv.store.boards import seeks as stored_seeks
from pbmserv.store.tables.boards import plies
from pbmserv.verifying.mailboxes import mails_of

TWO = ("anna", "bela")
OLDER = Path(__file__).parent / "older"
"""Mailboxes of games that an older version played."""
HIDDEN = ("b2,c3", "a1,d4")
SMALL = "blackbox challenge anna bela -size=4x4 -atoms=2"


def marks(game: Played) -> list[str | None]:
    with game.world.server.database.reading.connect() as connection:
        rows = connection.execute(select(plies.c.mark).order_by(plies.c.number))
        return list(rows.scalars())


def hide(game: Played) -> None:
    for name, cells in zip(TWO, HIDDEN, strict=True):
        game.reply(name, cells)


def proven(game: Played, *names: str) -> str:
    """Check that each mailbox proves the game; return the sentences of the last one."""
    verdict_sentences: list[str] = []
    for name in names:
        verdict = verdict_of(game.mails[name])
        verdict_sentences = sentences(verdict)
        assert verdict.is_proven, verdict_sentences
    return " ".join(verdict_sentences)


ODD = {
    "three": (
        "liar challenge anna bela carl -dice=2",
        "anna 1 two, bela 2 twos, carl 3 twos, carl resign",
    ),
    "takeback": (
        "ttt challenge anna bela",
        "anna b2, bela a1, bela takeback, anna accept, bela draw, anna reject",
    ),
}
"""A challenge for each odd course of a game, and its first replies."""


@pytest.mark.parametrize("name", ODD)
def test_a_game_of_an_odd_course_is_proven(tmp_path: Path, name: str) -> None:
    challenge, replies = ODD[name]
    players = dict.fromkeys(reply.split()[0] for reply in replies.split(", "))
    with begin_game(tmp_path, challenge, *players) as game:
        for reply in replies.split(", "):
            number = game.position().number
            userid, _, text = reply.partition(" ")
            game.reply(userid, text)
            assert game.position().number > number, game.letters[userid][-1].text
        game.play()
        proven(game, *players)


def test_a_copy_of_the_first_mail_and_a_second_reply_change_nothing(tmp_path: Path) -> None:
    with begin_game(tmp_path, "liar challenge anna bela -dice=1", *TWO) as game:
        game.reply("anna", "1 two")
        first = game.mails["anna"][-2]
        before = marks(game)
        address = address_of("anna")
        reply_to = re.search(rb"\r\nTo: ([^\r]*)", first)
        assert reply_to is not None
        game.take(game.world.send_raw(address, first, reply_to[1].decode()))
        game.reply("anna", "1 five")
        assert marks(game) == before
        assert sum(mark is not None for mark in before) == 2, "bela has accepted by mail, too"
        game.play()
        proven(game, *TWO)


def test_the_server_restarts_between_pledge_and_result(tmp_path: Path) -> None:
    with indoors(tmp_path) as world:
        world.sign_up(*TWO)
        before = Played(world, TWO)
        before.send("anna", "liar challenge anna bela -dice=2")
        before.reply("bela", "accept")
        before.reply("anna", "1 two")
    with indoors(tmp_path) as world:
        after = Played(world, TWO, before.number, before.mails, before.letters)
        after.play()
        proven(after, *TWO)


def test_a_move_that_was_taken_back_stays_in_the_record(tmp_path: Path) -> None:
    with begin_game(tmp_path, SMALL, *TWO) as game:
        hide(game)
        game.reply("anna", "!a1,!b1")
        game.reply("anna", "undo")
        game.reply("anna", "+c1")
        game.reply("anna", "show")
        game.play()
        proven(game, *TWO)


def test_private_notes_of_the_other_player_do_not_count_in_my_hashes(tmp_path: Path) -> None:
    def hashes() -> list[bytes]:
        return re.findall(rb" record=([0-9a-f]{64})", game.mails["bela"][-1])

    with begin_game(tmp_path, SMALL, *TWO) as game:
        hide(game)
        game.reply("bela", "show")
        before = hashes()
        assert len(before) == 1
        for seal in ("!a1", "!b1", "!c1"):
            game.reply("anna", seal)
            game.reply("bela", "show")
            assert hashes() == before
        game.reply("anna", "1")
        game.reply("bela", "show")
        assert hashes() != before
        game.play()
        proven(game, *TWO)


def test_letters_in_other_forms_prove_the_game_too(tmp_path: Path) -> None:
    forms = dict(zip(TWO, ("text", "spoken"), strict=True))
    with begin_game(tmp_path, SMALL, *TWO) as game:
        for name, form in forms.items():
            game.send(name, f"prefs {name} {PASSWORD} format={form}")
        game.play(HIDDEN)
        proven(game, *TWO)
        for name, form in forms.items():
            result = game.letters[name][-1]
            assert ("pledge" in result.text) == (form == "text"), "nobody hears 24 digits"
            (file,) = result.message.iter_attachments()
            assert file.get_filename() == "blackbox-1.txt"


def test_tiny_letters_prove_the_record_that_their_reader_asks_for(tmp_path: Path) -> None:
    with begin_game(tmp_path, SMALL, *TWO) as game:
        game.send("anna", f"prefs anna {PASSWORD} format=tiny")
        game.play(HIDDEN)
        tiny = game.letters["anna"][-1]
        assert len(tiny.raw) < 1_000
        assert "Record " in tiny.text
        assert not verdict_of(game.mails["anna"]).is_proven
        # Their hash is short, but there are too many of its kind to find another game with it.
        short_hash = re.compile(rb" record=[0-9a-f]{24}\r")
        short = [mail for mail in game.mails["anna"] if short_hash.search(mail)]
        assert len(short) > 3
        game.send("anna", f"blackbox record 1 anna {PASSWORD}")
        proven(game, *TWO)
        record = game.letters["anna"][-1].text.encode()
        verdict = verdict_of([*short, record])
        assert verdict.is_proven, sentences(verdict)
        verdict = verdict_of([*short, re.sub(rb"mixed: 1=\w{4}", b"mixed: 1=0000", record)])
        assert verdict.is_wrong
        assert "does not fit" in sentences(verdict)[-1]


def test_a_digest_carries_the_hashes_of_all_its_boards(tmp_path: Path) -> None:
    with begin_game(tmp_path, SMALL, *TWO) as game:
        game.send("anna", "liar challenge anna bela")
        game.reply("bela", "accept")
        game.send("bela", f"prefs bela {PASSWORD} digest=daily@07:30")
        game.send("anna", f"blackbox move 1 anna {PASSWORD} b2,c3")
        game.send("anna", f"liar move 2 anna {PASSWORD} 1 two")
        letters = game.world.live(days=1)
        (tray,) = [letter for letter in letters if letter.kind == "tray"]
        fields = [str(field) for field in tray.message.get_all("Pbmserv-Record", [])]
        assert sorted(field.partition(";")[0] for field in fields) == ["board=1", "board=2"]


def test_a_game_with_the_house_has_one_mark(tmp_path: Path) -> None:
    with indoors(tmp_path) as world:
        world.sign_up("anna")
        game = Played(world, ("anna",))
        game.send("anna", f"liar challenge anna {PASSWORD} house -dice=2")
        for _ in range(60):
            position = game.position()
            if position.outcome is not None:
                break
            moves = position.game.legal(position.game.view(position.state, 0))
            assert moves is not None
            game.reply("anna", [*moves][-1])
        text = proven(game, "anna")
        assert sum(mark is not None for mark in marks(game)) == 1
        assert "The mail of anna" in text
        assert "house" not in text


def test_a_plan_that_another_player_s_mail_lets_go_on_has_no_mark(tmp_path: Path) -> None:
    with begin_game(tmp_path, "liar challenge anna bela -dice=2", *TWO) as game:
        game.send("bela", f"liar queue 1 bela {PASSWORD} 3 twos")
        game.reply("anna", "1 two")
        assert game.position().number == 3
        assert [mark is None for mark in marks(game)] == [False, False, True]
        game.play()
        assert sum(mark is not None for mark in marks(game)) == 2, "bela's counted already"
        proven(game, *TWO)


def test_dice_are_not_rolled_before_all_have_accepted(tmp_path: Path) -> None:
    with indoors(tmp_path) as world:
        world.sign_up(*TWO, "carl")
        game = Played(world, (*TWO, "carl"))
        game.send("anna", "liar challenge anna bela carl -dice=2")
        for name in ("anna", "bela"):
            game.reply(name, "show")
            assert "The board is set up when all have accepted" in game.letters[name][-1].text
            assert "Your dice" not in game.letters[name][-1].text
            game.reply(name, "1 two")
            assert "There is nothing to move on yet" in game.letters[name][-1].text
        site, run = site_of(world.server), world.loop.run_until_complete
        link = re.search(r"http://games\.example(/b/[a-z2-7]+)", game.letters["anna"][0].text)
        assert link is not None
        page = run(load_page(site, link[1])).body.decode()
        assert "The board is set up when all have accepted" in page
        assert "Your dice" not in page
        facts = run(fetch(site, "/api/boards/1")).body.decode().replace(" ", "")
        assert '"facts":null' in facts
        assert "2two" not in facts
        game.reply("bela", "accept")
        assert "Your dice" not in game.letters["bela"][-1].text
        game.reply("carl", "accept")
        assert "Your dice" in game.letters["carl"][-1].text
        assert "Your dice" in game.letters["anna"][-1].text
        assert all(marks(game))
        assert len(marks(game)) == 2
        game.play(("1 two", "2 twos", "3 twos"), 0)  # one who resigns without a move calls it off
        text = proven(game, *TWO, "carl")
        assert "with which bela accepted" in text
        assert "the server drew alone" not in text


def test_dice_of_a_board_that_begins_at_once_are_the_server_s(tmp_path: Path) -> None:
    with indoors(tmp_path) as world:
        world.sign_up(*TWO)
        game = Played(world, TWO)
        game.send("bela", f"prefs bela {PASSWORD} accept=auto")
        game.send("anna", f"liar challenge anna {PASSWORD} bela -dice=1")
        game.play()
        assert "such as dice, the server drew alone" in proven(game, *TWO)


def test_a_player_who_accepts_on_a_page_is_named(tmp_path: Path) -> None:
    """Else a server could leave a mail out of the first draw, and choose between two deals."""
    with indoors(tmp_path) as world:
        world.sign_up(*TWO)
        game = Played(world, TWO)
        game.send("anna", "liar challenge anna bela -dice=1")
        link = re.search(r"http://games\.example(/b/[a-z2-7]+)", game.letters["bela"][-1].text)
        assert link is not None
        site, run = site_of(world.server), world.loop.run_until_complete
        body = urlencode({"turn": "1", "key": "k", "move": "accept", "words": ""})
        assert run(fetch(site, link[1], "POST", body.encode())).status == 303
        world.server.settle()
        game.take(world.letters())
        assert marks(game) == [None]
        game.play()
        assert "By the record bela accepted without a mail" in proven(game, *TWO)


def test_who_has_accepted_has_not_moved(tmp_path: Path) -> None:
    """To resign before the first move declines the game, and a silent player loses nothing."""
    with indoors(tmp_path) as world:
        world.sign_up(*TWO)
        for number, end in enumerate(("declined", "unanswered")):
            game = Played(world, TWO, number=100 * number)
            game.send("anna", "liar challenge anna bela -dice=2 --forfeittime=4")
            game.reply("bela", "accept")
            game.reply("anna", "1 two")
            if end == "declined":
                game.reply("bela", "resign")
            else:
                for _ in range(8):
                    game.take(world.live(days=1))
            assert game.letters["anna"][-1].kind == end


def test_an_accepting_player_can_take_nothing_back(tmp_path: Path) -> None:
    with begin_game(tmp_path, "liar challenge anna bela -dice=2", *TWO) as game:
        before = game.position().state
        game.reply("bela", "undo")
        assert game.position().state == before
        assert game.letters["bela"][-1].kind == "refusal"
        game.play()
        proven(game, *TWO)


def test_a_box_of_the_day_is_pledged_and_opened_when_it_is_solved(tmp_path: Path) -> None:
    with indoors(tmp_path) as world:
        world.sign_up("anna", "bela")
        game = Played(world, ("anna",))
        for name in ("anna", "bela"):
            game.send(name, f"blackbox daily {name} {PASSWORD} 07:30")
        options, atoms = game.position().state.options, game.position().state.boxes[0].atoms
        game.reply("anna", "1")
        assert b"filename=" not in game.mails["anna"][-1]
        assert not verdict_of(game.mails["anna"]).is_proven
        game.reply("anna", ",".join(f"+{options.board.name(atom)}" for atom in atoms) + ",?")
        proven(game, "anna")
        pledges = [
            set(re.findall(rb"pledge=(\w+)", b"".join(game.mails[name])))
            for name in ("anna", "bela")
        ]
        assert not pledges[0] & pledges[1], "each board has a seed of its own"


def test_a_follower_sees_the_hashes_of_spectators(tmp_path: Path) -> None:
    with begin_game(tmp_path, SMALL, *TWO) as game:
        game.world.sign_up("carl")
        game.send("carl", f"subscribe 1 carl {PASSWORD}")
        game.play(HIDDEN)
        carl = game.mails["carl"]
        assert any(b"Pbmserv-Record: board=1; turns=" in mail for mail in carl)
        assert not any(b"filename=" in mail for mail in carl), "players alone open the record"
        assert verdict_of(carl, game.mails["anna"]).is_proven


def seeking(world: Indoors, challenge: str) -> Played:
    """Let bela find anna, who has been looking for an opponent."""
    world.sign_up(*TWO)
    game = Played(world, TWO)
    for name in TWO:
        game.send(name, challenge.replace("seek", f"seek {name} {PASSWORD}"))
    game.names = game.board().names
    return game


SEEK = "blackbox seek -size=4x4 -atoms=1"


def test_the_mail_that_finds_an_opponent_is_mixed_into_the_sides(tmp_path: Path) -> None:
    with indoors(tmp_path) as world:
        game = seeking(world, SEEK)
        start = game.position()
        assert start.ply is not None
        orders = {
            tuple(drawn_sides(start.seed, TWO, mark)) for mark in (f"{n:032x}" for n in range(20))
        }
        assert len(orders) == 2, "another mail draws other sides"
        assert drawn_sides(start.seed, TWO, start.ply.mark) == [*game.names]
        game.play(("b2", "c3"))
        for name in TWO:
            text = proven(game, name)
            assert "The seed and the mail of bela that found opponents draw the sides" in text
            has_letter = "had pledged the seed before." in text
            assert has_letter == (name == "anna"), "bela's mail comes after the pledge"
        mails = changed(
            game.mails["anna"],
            lambda text: text.replace(", ".join(game.names), ", ".join(game.names[::-1]), 1),
        )
        verdict = verdict_of(mails)
        assert verdict.is_wrong
        assert "The sides were not drawn by the seed" in sentences(verdict)[-1]


def test_a_server_that_draws_other_sides_after_the_mail_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would have to take another seed than the letter to anna has pledged."""
    with indoors(tmp_path) as world:
        own = stored_seeks.like

        def reseeded(*values: object) -> list[stored_seeks.Seek]:
            return [replace(seek, seed=b"another".ljust(32)) for seek in own(*values)]  # type: ignore[arg-type]

        monkeypatch.setattr(stored_seeks, "like", reseeded)
        game = seeking(world, SEEK)
        game.play(("b2", "c3"))
        text = proven(game, "anna")
        assert "No letter here about your search had pledged this seed" in text
        assert "the server took another seed" in text


def test_a_summary_of_many_boards_keeps_the_pledge_of_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compose, "MOST_FIELDS", 1)
    with begin_game(tmp_path, SMALL, *TWO) as game:
        lines = (f"blackbox show 1 anna {PASSWORD}", f"hex seek anna {PASSWORD} -size=5")
        game.send("anna", "multiple", "\n".join(lines))
        fields = game.letters["anna"][-1].message.get_all("Pbmserv-Record", [])
        assert [str(field).partition(";")[0] for field in fields] == ["search"]


def test_the_first_dice_of_a_match_of_seekers_are_mixed_too(tmp_path: Path) -> None:
    with indoors(tmp_path) as world:
        game = seeking(world, "liar seek -dice=1")
        assert all(marks(game))
        assert len(marks(game)) == 1
        game.play()
        text = proven(game, *TWO)
        assert "with which bela found opponents, which is among these, was mixed into" in text
        assert "the server drew alone" not in text


def test_a_seat_that_was_handed_over_is_no_wrong_draw(tmp_path: Path) -> None:
    with indoors(tmp_path) as world:
        world.sign_up(*TWO, "carl")
        game = Played(world, TWO)
        for name in TWO:
            game.send(name, f"blackbox seek {name} {PASSWORD} -size=4x4 -atoms=1")
        game.reply("anna", "b2")
        deed = partial(operators.hand_over, number=1, old="bela", new="carl")
        world.operators.do(Signature("olga", "it was asked for"), deed)
        game.take(world.letters())
        game.names = game.board().names
        assert "carl" in game.names
        game.play(("c3",))
        assert "draws the sides" not in proven(game, "anna", "carl")


# -- the box of a player alone ---------------------------------------------------------------------

SOLO = "blackbox solo anna -size=4x4 -atoms=2"


def box(game: Played) -> str:
    return str(game.position().state.boxes[0].id)


def test_the_first_mail_of_a_player_alone_draws_the_box_and_no_later_one(tmp_path: Path) -> None:
    with begin_game(tmp_path, SOLO, "anna") as game:
        start = game.position()
        game.reply("anna", "+b2")
        drawn = box(game)
        after = game.position().at(1)
        assert after.ply is not None
        assert after.ply.mark
        others = {
            start.play(replace(after.ply, mark=f"{number:032x}")).state.boxes[0].id
            for number in range(20)
        }
        assert len(others) > 10, "another mail draws another box"
        for move in ("1", "!c3,2"):
            game.reply("anna", move)
            assert box(game) == drawn
        game.play()
        assert "with which anna began, which is among these, was mixed into the box" in proven(
            game, "anna"
        )


def test_a_first_hint_draws_the_box_too(tmp_path: Path) -> None:
    with begin_game(tmp_path, SOLO, "anna") as game:
        game.reply("anna", "hint")
        assert [mark is None for mark in marks(game)] == [False, True]
        drawn = box(game)
        game.play()
        assert box(game) == drawn
        proven(game, "anna")


def test_practice_keeps_its_box_whatever_is_taken_back(tmp_path: Path) -> None:
    with begin_game(tmp_path, f"{SOLO} -practice", "anna") as game:
        game.reply("anna", "1")
        drawn = box(game)
        for move in ("undo", "undo", "2", "restart", "3", "restart", "undo", "4"):
            game.reply("anna", move)
            assert box(game) == drawn
        assert "nothing" in game.letters["anna"][-7].text, "the second undo has nothing"
        assert sum(mark is not None for mark in marks(game)) == 1
        game.reply("anna", "solve")
        proven(game, "anna")


def test_a_box_of_a_player_who_begins_on_a_page_is_the_server_s_alone(tmp_path: Path) -> None:
    with begin_game(tmp_path, SOLO, "anna") as game:
        link = re.search(r"http://games\.example(/b/[a-z2-7]+)", game.letters["anna"][-1].text)
        assert link is not None
        start = box(game)
        site, run = site_of(game.world.server), game.world.loop.run_until_complete
        body = urlencode({"turn": "1", "key": "k", "move": "1", "words": ""})
        assert run(fetch(site, link[1], "POST", body.encode())).status == 303
        game.world.server.settle()
        game.take(game.world.letters())
        game.reply("anna", "2")
        assert box(game) == start
        game.play()
        assert "The server hid the box alone" in proven(game, "anna")


def test_a_copy_of_a_drawn_box_has_the_same_atoms(tmp_path: Path) -> None:
    with begin_game(tmp_path, SOLO, "anna") as game:
        game.reply("anna", "1")
        game.reply("anna", "save")
        (file,) = game.letters["anna"][-1].message.iter_attachments()
        running = str(file.get_content())
        assert "box: board 1" in running
        game.play()
        drawn = box(game)
        game.send("anna", f"blackbox load anna {PASSWORD}", running)
        game.send("anna", f"blackbox replay 1 anna {PASSWORD}")
        with game.world.server.database.reading.connect() as connection:
            for number in (2, 3):
                board = game.board(number)
                copy = game.world.server.positions.newest(connection, board)
                assert copy.state.boxes[0].id == drawn


@pytest.mark.parametrize("name", ["solo", "seek"])
def test_games_of_older_versions_are_proven_as_before(name: str) -> None:
    mails = [*mails_of(BytesIO((OLDER / f"{name}.mbox").read_bytes()))]
    verdict = verdict_of([mail for mail in mails if isinstance(mail, bytes)])
    assert verdict.is_proven, sentences(verdict)


def test_the_house_hides_its_atoms_before_its_opponent_does(tmp_path: Path) -> None:
    """The first letter has the hash of that hiding, so the house cannot hide by what it reads."""
    with indoors(tmp_path) as world:
        world.sign_up("anna")
        game = Played(world, ("anna", "house"))
        game.send("anna", f"blackbox challenge anna {PASSWORD} house -size=4x4 -atoms=2")
        hiding = game.position().ply
        assert hiding is not None
        assert hiding.seat == 1
        (field,) = game.letters["anna"][0].message.get_all("Pbmserv-Record", [])
        assert f"move={move_hash(game.position().seed, hiding).hex()}" in str(field)
