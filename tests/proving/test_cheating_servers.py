"""A server that changes a running game and then keeps to the change is convicted by old letters.

Its later letters and the record with the result fit each other; only the letters of the player from
before the change do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, indoors
from mailboxes_of_games import Played, sentences, verdict_of
from sqlalchemy import Connection, delete, update

from pbmserv.service.boards import first_draws
from pbmserv.store.tables.boards import boards, plies

TWO = ("anna", "bela")


def of_ply(number: int) -> tuple[object, ...]:
    return (plies.c.board_id == 1, plies.c.number == number)


def move_an_atom(connection: Connection) -> None:
    """Change the hiding of bela, who is a friend of the server."""
    connection.execute(update(plies).where(*of_ply(2)).values(text="A1,D3"))


def change_the_seed(connection: Connection) -> None:
    connection.execute(update(boards).values(seed=b"other".ljust(32)))


def name_another_box(connection: Connection) -> None:
    words = ["-race", "-size=4x4", "-atoms=2", "-seed=other", "-clue"]
    connection.execute(update(boards).values(options=words))


def swap_the_first_mail(connection: Connection) -> None:
    """Mix another mail in place of that of bela, and so roll the dice again."""
    connection.execute(update(plies).where(*of_ply(1)).values(mark="0" * 32))


def drop_the_newest_ply(connection: Connection) -> None:
    last = connection.execute(boards.select()).one().plies
    connection.execute(delete(plies).where(*of_ply(last)))
    connection.execute(update(boards).values(plies=last - 1))


def leave_the_first_mail_out(connection: Connection) -> None:
    """Draw a solo box without the mail of its player, as if there had been none."""
    connection.execute(update(plies).where(*of_ply(1)).values(mark=None))


DUEL = (
    "blackbox challenge anna bela -size=4x4 -atoms=2",
    (("anna", "b2,c3"), ("bela", "a1,d4"), ("anna", "1"), ("bela", "2")),
)
DICE = ("liar challenge anna bela -dice=2", (("anna", "1 two"), ("bela", "2 twos")))
SOLO = (f"blackbox solo anna {PASSWORD} -size=4x4 -atoms=2", (("anna", "1"), ("anna", "2")))

CHEATS: dict[str, tuple[tuple[str, Sequence[tuple[str, str]]], Callable[[Connection], None]]] = {
    "an atom is moved": (DUEL, move_an_atom),
    "the dice are rolled with another mail": (DICE, swap_the_first_mail),
    "a bid is dropped": (DICE, drop_the_newest_ply),
    "the box is drawn by another seed": (SOLO, change_the_seed),
    "the box is another one": (SOLO, name_another_box),
    "the box is drawn with another mail": (SOLO, swap_the_first_mail),
    "the box is drawn without a mail": (SOLO, leave_the_first_mail_out),
}


def begun(world: Indoors, challenge: str, moves: Sequence[tuple[str, str]]) -> Played:
    world.sign_up(*TWO)
    game = Played(world, TWO if "challenge" in challenge else TWO[:1])
    game.send("anna", challenge)
    if len(game.names) > 1:
        game.reply("bela", "accept")
    for name, move in moves:
        game.reply(name, move)
    return game


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_change_in_a_running_game_is_noticed(tmp_path: Path, cheat: str) -> None:
    (challenge, moves), change = CHEATS[cheat]
    with indoors(tmp_path) as world:
        before = begun(world, challenge, moves)
        world.server.writer.submit(change).result()
    with indoors(tmp_path) as world:
        after = Played(world, before.names, before.number, before.mails, before.letters)
        number = after.position().number
        ending = "solve" if len(after.names) == 1 else "resign"
        after.reply("anna", ending)
        assert after.position().number > number, after.letters["anna"][-1].text
        assert after.board().status == "finished"
    for name in after.names:
        verdict = verdict_of(after.mails[name])
        assert verdict.is_wrong, (cheat, sentences(verdict))


def test_a_server_that_mixes_no_mail_at_all_cannot_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_draws, "mark_of_mail", lambda _: "")
    with indoors(tmp_path) as world:
        game = begun(world, *DICE)
        game.reply("anna", "resign")
        for name in TWO:
            findings = " ".join(sentences(verdict_of(game.mails[name])))
            assert "By the record bela accepted without a mail" in findings
            for mover in TWO:
                assert f"By the record {mover} moved without a mail" in findings
