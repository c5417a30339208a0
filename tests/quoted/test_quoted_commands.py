"""Nothing that a reply quotes is carried out: a real board, and every way of quoting."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from indoors import Indoors, indoors
from mail_quotes import MARKUP, in_plain_text, in_wrapped_text
from seating import HIDINGS, reply_address, seat_pairs

from pbmserv.store.boards import boards, moves

pytestmark = pytest.mark.slow

CANNOT_READ = (
    "Your mail is encrypted, and this server has no key",
    "Your mail is one sealed S/MIME file, signed or encrypted",
)
SEALED = sorted((Path(__file__).parent.parent / "sealed").glob("*encrypted*.eml"))


class Game:
    """A board on which the first player is to fire, and mails that speak for that player."""

    def __init__(self, house: Indoors) -> None:
        self.house = house
        (table,) = seat_pairs(house.server, 1, "t")
        self.board = table.board
        self.player = table.players[0]
        for player, to, hiding in zip(table.players, table.addresses, HIDINGS, strict=True):
            house.send(player.address, body=hiding, to=to)
        assert len(self.record()) == 2

    def record(self) -> list[tuple[int, str]]:
        """The board's log: seats and texts."""
        return [(ply.seat, ply.text) for ply in self.house.server.read(moves.record, self.board)]

    def mail(self, body: str, *, to: str = "", more: str = "Content-Type: text/plain") -> list[str]:
        """Answer the newest letter (or write *to*); the kinds of the letters that brought."""
        self.house.mails += 1
        head = (
            f"From: {self.player.address}\r\nSubject: Re: a game\r\n"
            f"Message-ID: <quoted-{self.house.mails}@x>\r\n{more}; charset=utf-8\r\n\r\n"
        )
        raw = head.encode() + body.replace("\n", "\r\n").encode("utf-8", "replace")
        letters = self.house.send_raw(self.player.address, raw, to or self.address())
        return [letter.kind for letter in letters]

    def address(self) -> str:
        """The reply address of the newest letter to the player."""
        with self.house.server.database.reading.connect() as connection:
            return reply_address(self.house.server, connection, self.board, self.player)

    def commands(self) -> tuple[str, ...]:
        """Return the command that would be carried out if it were not quoted, with its password."""
        front, who = "blackbox", f"{self.board} {self.player.userid} secret"
        return (f"{front} move {who} g", f"{front} resign {who}", f"move {who} 5", f"resign {who}")


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Game]:
    with indoors(tmp_path_factory.mktemp("house")) as house:
        yield Game(house)


MOVES = ("5", "g", "g,+b2", "+b2", "?", "!b3", "a1,c4,e5,g2", "undo", "resign", "yes", "accept")
STYLES = dict(in_plain_text("QUOTED"))
lines = st.lists(st.sampled_from(MOVES) | st.integers(0, 3), min_size=1, max_size=6)
at_leisure = settings(examples(5), suppress_health_check=list(HealthCheck))


def written(game: Game, drawn: list[str | int]) -> str:
    """The lines that were drawn; a number stands for a whole command."""
    commands = game.commands()
    return "\n".join(commands[line] if isinstance(line, int) else line for line in drawn)


def quoted(style: str, text: str) -> str:
    return dict(in_plain_text(text))[style]


@given(lines, st.sampled_from(sorted(STYLES)), st.booleans())
@at_leisure
def test_no_quoted_move_is_made(game, drawn, style, to_the_server):
    before = game.record()
    to = game.house.server.mail_domain.address if to_the_server else ""
    game.mail(quoted(style, written(game, drawn)), to=to)
    assert game.record() == before


@given(lines, st.integers(60, 80))
@at_leisure
def test_no_move_that_was_wrapped_out_of_its_quote_is_made(game, drawn, width):
    before = game.record()
    long = "> a sentence that is long enough to be wrapped by whoever thinks that lines are short"
    game.mail(f"{long}\n{in_wrapped_text(written(game, drawn), width)}")
    assert game.record() == before


@given(lines, st.sampled_from(sorted(MARKUP)), st.sampled_from(["<br>", "</p><p>"]))
@at_leisure
def test_no_quoted_move_is_made_in_html(game, drawn, markup, between):
    before = game.record()
    inside = f"<p>{html.escape(written(game, drawn)).replace(chr(10), between)}</p>"
    game.mail(f"<p></p>{MARKUP[markup].format(inside)}", more="Content-Type: text/html")
    assert game.record() == before


@given(lines, st.sampled_from(["format=flowed", "format=flowed; delsp=yes"]), st.integers(3, 30))
@at_leisure
def test_no_quoted_move_flows_out_of_its_quote(game, drawn, flowed, width):
    before = game.record()
    text = written(game, drawn).replace("\n", " ")
    rows = [f"> {text[at : at + width]} " for at in range(0, len(text), width)]
    game.mail("\n".join([*rows, "> end"]), more=f"Content-Type: text/plain; {flowed}")
    assert game.record() == before


ATTACHED = (
    "Content-Type: text/plain\nContent-Disposition: attachment; filename=move.txt\n\n{}",
    "Content-Type: text/plain; name=move.txt\n\n{}",
    "Content-Type: text/plain\nContent-Disposition: inline; filename*=''m%2Etxt\n\n{}",
    "Content-Type: message/rfc822\n\nFrom: t0b@players.example\nSubject: {}\n\n{}",
    "Content-Type: text/rfc822-headers\n\nSubject: {}",
    "Content-Type: multipart/digest; boundary=c\n\n--c\n\nSubject: x\n\n{}\n--c--",
)


@pytest.mark.parametrize("front", ["", "Content-Type: text/plain\n\n> x\n\n--b\n"])
def test_nothing_attached_is_read(game, front):
    before = game.record()
    for number, part in enumerate(ATTACHED):
        for command in ("g", game.commands()[number % 4]):
            inside = part.replace("{}", command)
            game.mail(
                f"--b\n{front}{inside}\n--b--\n", more="Content-Type: multipart/mixed; boundary=b"
            )
            assert game.record() == before, part


def test_words_above_a_quote_are_read(game):
    before = game.record()
    for style in sorted(STYLES)[::9]:
        # Refused by the game, in words that name it: so this was read, and the quote was not.
        assert game.mail(f"zz9\n\n{quoted(style, 'resign')}") == ["refusal"]
    assert game.record() == before


def test_a_move_above_all_quotes_at_once_is_made(tmp_path):
    with indoors(tmp_path) as house:
        game = Game(house)
        game.mail("h\n\n" + "\n".join(quoted(style, "resign") for style in STYLES))
        assert [seat for seat, _ in game.record()[2:]] == [0]


def test_an_encrypted_reply_is_no_yes(tmp_path):
    with indoors(tmp_path) as house:
        house.sign_up("alice", "bob")
        sent = house.send("alice@players.example", "blackbox challenge alice bob")
        challenge = next(x for x in sent if x.recipient.startswith("bob"))
        for file in SEALED:
            raw = file.read_bytes().replace(b"\n", b"\r\n").replace(b"alice@", b"bob@")
            (answer,) = house.send_raw("bob@players.example", raw, challenge.reply_to)
            reason = answer.one_line
            assert any(words in reason for words in CANNOT_READ)
            assert "nothing has changed" in answer.text
        board = house.server.read(boards.load, 1)
        assert board is not None
        assert board.status == "proposed"
        assert "refusal" not in {letter.kind for letter in house.reply(challenge, "yes")}
