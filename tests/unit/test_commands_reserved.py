"""Userids that are reserved since they resemble commands, staff or other players."""

from __future__ import annotations

from rows import rows

from pbmserv.commands.reserved_userids import STAFF, is_reserved
from pbmserv.commands.table.catalogue import ROWS

GAMES = ("blackbox", "Black Box", "Liar's dice")
SERVER = "pbmserv@play.games.example"


@rows("name", sorted({*STAFF, *(n for row in ROWS for n in row.names if " " not in n)}))
def test_the_words_of_a_server_and_of_its_commands_are_nobodys(name: str) -> None:
    assert is_reserved(name, GAMES, SERVER)


@rows(
    "name",
    [
        "Admin", "adm1n", "ad-min", "_admin_", "admin-team", "the-operator", "r00t", "sup-port",
        "no-reply", "no_reply", "noreply", "mailerdaemon", "pbm_serv", "PBMSERV", "play", "games",
        "black-box", "blackb0x", "12345", "1-2-3", "---", "house-easy", "h0use", "changepassword",
        "operator1", "Admin_24", "2support", "r00t7",
        "chal_lenge", "liarsdice", "liars", "gone-12", "multiple", "thanks", "all", "next",
        "for", "another",
    ],
)  # fmt: skip
def test_look_alikes_are_nobodys_either(name: str) -> None:
    assert is_reserved(name, GAMES, SERVER)


@rows(
    "name",
    [
        "alice",
        "bob",
        "alice-2",
        "alice2",
        "moritz",
        "lewis7",
        "7of9",
        "al",
        "rooted",
        "administra",
        "x2000",
    ],
)
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name, GAMES, SERVER)
