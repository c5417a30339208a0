"""A player proves a finished game from the letters of one mailbox, and any change is named."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from mailboxes_of_games import MOST, begin_game, sentences, verdict_of

SHORTENED = {"backgammon": 14, "battleships": 4}
"""The moves of a bot in games that a player then resigns; the others are played to their end."""
GAMES = {
    "backgammon": ("backgammon challenge anna bela", ("anna", "bela"), ()),
    "liar": ("liar challenge anna bela -dice=2", ("anna", "bela"), ()),
    "battleships": (
        "battleships challenge anna bela -salvo",
        ("anna", "bela"),
        ("a1-a5 b1-b4 c1-c3 d1-d3 e1-e2", "random"),
    ),
    "blackbox": (
        "blackbox challenge anna bela -size=4x4 -atoms=2 -clue",
        ("anna", "bela"),
        ("b2,c3", "a1,d4", "!a1,1", "!b1,2", "+c1,3"),
    ),
    "race": (
        "blackbox challenge anna bela -race -size=4x4 -atoms=2",
        ("anna", "bela"),
        ("1", "2,!b2"),
    ),
    "solo": ("blackbox solo anna -size=5x5 -atoms=3", ("anna",), ("1", "!b2")),
    "graded": ("blackbox solo anna -size=5x5 -atoms=3 -grade=easy", ("anna",), ("1", "!b2")),
    "chess": (
        "chess challenge anna bela",
        ("anna", "bela"),
        ("e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7"),
    ),
}


@cache
def played(name: str) -> dict[str, list[bytes]]:
    """Return each player's mails of a whole game."""
    challenge, names, first = GAMES[name]
    with TemporaryDirectory() as folder, begin_game(Path(folder), challenge, *names) as game:
        game.play(first, SHORTENED.get(name, MOST))
        return game.mails


def changed(mails: Sequence[bytes], change: Callable[[str], str]) -> list[bytes]:
    """Return mails with another record in the letter with the result."""
    return [re.sub(rb"(?s)(filename=\".*?\.txt\".*?\r\n\r\n)(.*?)(\r\n--)", one_of(change), mail)
            for mail in mails]  # fmt: skip


def one_of(change: Callable[[str], str]) -> Callable[[re.Match[bytes]], bytes]:
    def put(match: re.Match[bytes]) -> bytes:
        text = base64.b64decode(match[2]).decode()
        assert change(text) != text
        return (
            match[1] + base64.encodebytes(change(text).encode()).replace(b"\n", b"\r\n") + match[3]
        )

    return put


def record_in(mails: Sequence[bytes]) -> str:
    texts: list[str] = []

    def keep(text: str) -> str:
        texts.append(text)
        return f"{text}\n"

    changed(mails, keep)
    return texts[0]


@pytest.mark.parametrize("name", GAMES)
def test_each_mailbox_proves_the_game_and_so_do_two_together(name: str) -> None:
    mails = played(name)
    for mailbox in (*mails.values(), [mail for both in mails.values() for mail in both]):
        verdict = verdict_of(mailbox)
        assert verdict.is_proven, sentences(verdict)
    assert any("show the board" in sentence for sentence in sentences(verdict))


# -- one change, one sentence ----------------------------------------------------------------------


def refusal(mails: Sequence[bytes]) -> str:
    verdict = verdict_of(mails)
    (sentence,) = [finding.sentence for finding in verdict.findings if finding.is_wrong]
    assert not verdict.is_proven
    return sentence


def flipped(pattern: str) -> Callable[[str], str]:
    """Return a change of the digit behind a pattern."""
    return lambda text: re.sub(
        f"({pattern})(.)", lambda m: m[1] + ("1" if m[2] == "0" else "0"), text
    )


def replaced(pattern: str, by: str) -> Callable[[str], str]:
    return lambda text: re.sub(f"(?m){pattern}", by, text, count=1)


def with_another_box(text: str) -> str:
    return re.sub(r"(-id=\S*?:)(\S+)", lambda m: m[1] + m[2][::-1], text, count=1)


def with_another_bid(text: str) -> str:
    return re.sub(
        r"(?m)^(\d+\. anna: )(\d .*)$",
        lambda m: m[1] + ("1 two" if m[2] == "1 one" else "1 one"),
        text,
        count=1,
    )


CHANGES: dict[str, tuple[str, Callable[[str], str], str]] = {
    **{
        f"another seed of {name}": (name, flipped("seed: "), "do not fit the pledge in the letter")
        for name in ("liar", "blackbox", "solo", "chess")
    },
    "a moved atom of a hiding": (
        "blackbox",
        replaced("bela: A1,D4", "bela: A2,D4"),
        'Move 2 by bela in the record, "A2,D4", is not the move whose hash is in the letter',
    ),
    "another graded box": ("graded", with_another_box, "do not fit the pledge"),
    "another box of a race": ("race", with_another_box, "do not fit the pledge"),
    "another move": ("liar", with_another_bid, "is not the move"),
    "a move left out": ("liar", replaced(r"\n.*\nend$", "\nend"), "No move of the record is"),
    "another mail in the dice": ("liar", flipped(" 2="), "Move 2 by"),
    "another result": (
        "liar",
        replaced(r"result: anna (.), bela (.)", r"result: anna \2, bela \1"),
        "but its moves lead to",
    ),
}
"""A game, a change of its record, and a part of the sentence about it."""


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_record_is_named(change: str) -> None:
    name, alter, sentence = CHANGES[change]
    assert sentence in refusal(changed(played(name)["anna"], alter))


def test_a_solo_box_is_drawn_by_the_server_and_its_player() -> None:
    findings = sentences(verdict_of(played("solo")["anna"]))
    assert (
        "The mail with which anna began, which is among these, was mixed into the box."
    ) in findings
    assert not [sentence for sentence in findings if "alone" in sentence]
    for name in ("graded", "race"):
        findings = sentences(verdict_of(played(name)["anna"]))
        assert any(sentence.startswith("The pledge names the box") for sentence in findings)


def test_a_player_who_accepts_in_the_middle_of_a_game_is_noticed() -> None:
    """Else a server could deal other dice after the first bids."""

    record = record_in(played("liar")["anna"])
    number = len(re.findall(r"(?m)^\d+\. ", record))
    ending = re.compile(rf"(?m)^{number}\. .*$")
    joined = ending.sub(f"{number}. anna (free): join", record)
    verdict = verdict_of([joined.replace("\n", "\r\n").encode()])
    assert verdict.is_wrong
    assert f'Move {number} by anna, "join", cannot be played' in sentences(verdict)[-1]


def test_a_die_that_a_letter_shows_otherwise_is_named() -> None:
    mails = played("liar")["anna"]
    at = next(n for n, mail in enumerate(mails) if b"Feedback-ID: board:" in mail)
    match = re.search(rb"Your dice: (\d) (\d)", mails[at])
    assert match is not None
    other = b"5" if match[1] == b"6" else b"6"
    shown = mails[at].replace(match[0], b"Your dice: " + other + b" " + match[2])
    sentence = refusal([*mails[:at], shown, *mails[at + 1 :]])
    assert "The board in the letter of 2026-" in sentence
    assert f'it shows "{f"Your dice: {other.decode()} {match[2].decode()}"}"' in sentence
    assert f'by the record it is "{match[0].decode()}"' in sentence


def test_a_ray_that_a_letter_reports_otherwise_is_named() -> None:
    mails = played("blackbox")["anna"]
    at, match = next(
        (n, match)
        for n, mail in enumerate(mails)
        if (match := re.search(rb"\* bela fired port (\S+): (hit|detour|reflection)", mail))
    )
    shown = mails[at].replace(match[0], b"* bela fired port 16: " + match[2])
    assert match[1] != b"16"
    assert "bela fired port 16" in refusal([*mails[:at], shown, *mails[at + 1 :]])


def test_a_letter_with_another_record_hash_is_named() -> None:
    mails = list(played("backgammon")["anna"])
    at = next(n for n, mail in enumerate(mails) if b" record=" in mail and b"turns=4" in mail)
    mails[at] = re.sub(rb" record=[0-9a-f]{4}", b" record=0000", mails[at])
    sentence = refusal(mails)
    assert sentence.startswith("A move before move")
    assert "the record hash in the letter of 2026-" in sentence


def test_a_letter_with_another_pledge_is_named() -> None:
    mails = list(played("backgammon")["anna"])
    mails[-1] = re.sub(rb" pledge=[0-9a-f]{4}", b" pledge=0000", mails[-1])
    assert "The pledge in the letter of" in refusal(mails)


def test_two_records_that_differ_are_noticed() -> None:
    anna, bela = played("liar").values()
    other = changed(bela, lambda text: re.sub(r"seed: .{4}", "seed: 0000", text))
    assert "Two records in these files differ" in refusal([*anna, *other])


# -- what the letters do not prove -----------------------------------------------------------------


def test_letters_may_be_missing_and_in_any_order() -> None:
    mails = played("backgammon")["anna"]
    assert verdict_of(mails[::-1]).is_proven
    verdict = verdict_of(mails[10:])
    assert verdict.is_proven
    assert any(
        sentence.startswith("Your first letter came after") for sentence in sentences(verdict)
    )


def test_without_the_letter_about_the_result_nothing_is_proven() -> None:
    verdict = verdict_of(played("liar")["anna"][:-1])
    assert not verdict.is_proven
    assert not verdict.is_wrong
    assert "but no record" in sentences(verdict)[-1]


def test_a_record_without_letters_proves_nothing() -> None:
    verdict = verdict_of([record_in(played("liar")["anna"]).replace("\n", "\r\n").encode()])
    assert not verdict.is_proven
    assert "no letter here carries hashes" in sentences(verdict)[-1]


def test_a_mail_of_mine_in_the_dice_is_found_among_my_sent_mails() -> None:
    findings = sentences(verdict_of(played("liar")["anna"]))
    assert "The mail of anna with move 2, which is among these, was mixed into all chance" in (
        " ".join(findings)
    )
    assert "with which bela accepted was mixed into the first draw and all chance after it" in (
        " ".join(findings)
    )
    assert "which is among these, was mixed into the first draw" in " ".join(
        sentences(verdict_of(played("liar")["bela"]))
    )
    house = [mail for mail in played("liar")["anna"] if b"Pbmserv-Record" in mail]
    findings = sentences(verdict_of(house))
    assert "a letter answers it, but it is not among these" in " ".join(findings)


def test_a_mail_that_the_server_made_up_is_no_mail_of_mine() -> None:
    """A server that mixes a mail of its own into dice is noticed in the mailbox of its writer."""
    sent = [mail for mail in played("liar")["anna"] if b"Pbmserv-Record" not in mail]
    other = [
        re.sub(rb"(?m)^In-Reply-To: .*", b"In-Reply-To: <other@players.example>", mail)
        for mail in played("liar")["anna"]
        if mail not in sent
    ]
    text = " ".join(sentences(verdict_of(other)))
    assert "A mail of anna with move 2 was mixed into all chance from there on, but it is not" in (
        text
    )
    assert "if anna did not send it, the server chose that chance" in text
    assert "which only bela can check" in text


def test_unsigned_letters_are_counted() -> None:
    assert "are not signed, so anybody could have written them" in sentences(
        verdict_of(played("liar")["anna"])
    )[-1]  # fmt: skip


def test_a_mail_that_quotes_or_passes_on_a_record_changes_nothing() -> None:
    mails = played("liar")["anna"]
    record = record_in(mails).replace("\n", "\r\n").encode()
    head = b"From: anna@players.example\r\nMessage-ID: <q@players.example>\r\n\r\nLook:\r\n"
    quoting = head + b"> " + record.replace(b"\r\n", b"\r\n> ")
    assert verdict_of([*mails, quoting, head + record]).is_proven


def test_a_letter_for_a_seat_that_is_not_there_is_named() -> None:
    mails = [mail.replace(b"; seat=0;", b"; seat=9;") for mail in played("liar")["anna"]]
    assert "is a seat that the board does not have" in refusal(mails)
