"""Letters such as players get, to be looked at in a browser."""

from __future__ import annotations

from pathlib import Path

from indoors import PASSWORD, Indoors, Posted, address_of, indoors

ALICE, BOB = map(address_of, ("alice", "bob"))
FORTY = ",".join(f"{c}{n}" for c in "ABCDEFGH" for n in range(1, 6))


def letters_to_see(folder: Path) -> dict[str, Posted]:
    """Letters by what they are."""
    with indoors(folder) as server:
        server.sign_up("alice", "bob", "a-player-with-a-name", "third")
        letters = {"help": _one(server.send(ALICE, "help blackbox"), ALICE)}
        challenge = server.send(ALICE, f"blackbox challenge alice {PASSWORD} bob", "Fancy a game?")
        letters["challenge"] = _one(challenge, BOB)
        letters["hide"] = _one(server.reply(letters["challenge"], "accept"), BOB)
        for number, size, atoms in (
            (1, "", ("b3,d3,a1,f2", "c3,b5,e5,g6")),
            (2, "-size=26x26 -atoms=40", (FORTY, FORTY)),
            (3, "-size=8x8", ("b3,d3,a8,f2", "c3,b5,e5,g6")),
        ):
            if size:
                server.send(ALICE, f"blackbox challenge alice bob {size}")
            _move(server, "alice", number, atoms[0])
            begun = _move(server, "bob", number, atoms[1])
            letters.setdefault("first", _one(begun, ALICE))
            _move(server, "alice", number, "3,+c3,+b5,+d4,!f")
            begun = _move(server, "bob", number, "3,+b2", "" if number > 1 else "Hello!")
            letters.setdefault("second", _one(begun, ALICE))
            for port in ("a", "c", "14") if number == 1 else ("a",):
                _move(server, "alice", number, port)
                news = _move(server, "bob", number, f"{port}", "Getting warmer, I think!")
            letters[("board", "large", "eight")[number - 1]] = _one(news, ALICE)
        letters["waiting"] = _one(_move(server, "alice", 3, "1"), ALICE)
        letters["refusal"] = _one(_move(server, "alice", 1, "3,+b99"), ALICE)
        ended = _move(server, "alice", 1, "+e5,+g6,/d4,?")
        letters["report"] = _one(server.reply(_one(ended, ALICE), "report"), ALICE)
        letters["result"] = _one(ended, ALICE)
        letters["standings"] = _one(server.send(ALICE, "blackbox standings"), ALICE)
        letters["games"] = _one(server.send(ALICE, "games alice bob all"), ALICE)
        several = f"showas alice {PASSWORD} 2 3\nlist\nmvoe 3\nprefs alice {PASSWORD}"
        letters["summary"] = _one(server.send(ALICE, "multiple", several), ALICE)
        server.send(BOB, f"prefs bob {PASSWORD} digest=daily@07:30")
        _move(server, "alice", 2, "5")
        letters["digest"] = _one(server.live(hours=20), BOB)
        letters["three"] = _three(server)
    return letters


def _three(server: Indoors) -> Posted:
    """A digest of three boards on which it is one's turn."""
    boards = []
    for size in ("", "-size=8x8", ""):
        letters = server.send(ALICE, f"blackbox challenge alice third {size}")
        boards.append(letters[0].board or 0)
    for board in boards:
        _move(server, "alice", board, "b3,d3,a6,f2")
        _move(server, "third", board, "c3,b5,e5,g6")
    third = address_of("third")
    server.send(third, f"prefs third {PASSWORD} digest=daily@07:30")
    for board in boards:
        _move(server, "alice", board, "3")
    return _one(server.live(hours=24), third)


def _move(server: Indoors, userid: str, board: int, move: str, words: str = "") -> list[Posted]:
    return server.send(
        address_of(userid), f"blackbox move {board} {userid} {PASSWORD} {move}", words
    )


def _one(letters: list[Posted], address: str) -> Posted:
    (chosen,) = (letter for letter in letters if letter.recipient == address)
    return chosen
