"""Chess, and Chess960. The rules are our own; tests count all positions to a depth (perft)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pbmserv.game import (
    After,
    Bot,
    Effort,
    Game,
    Grid,
    No,
    Option,
    Piece,
    Result,
    Rng,
    Seat,
    draw,
    win,
)

FILES = "abcdefgh"
SQUARES = tuple(f"{FILES[n % 8]}{8 - n // 8}" for n in range(64))
"""Names of squares, from a8 to h1."""
PLACE = {name: n for n, name in enumerate(SQUARES)}
NAMES = {
    "P": "pawn", "N": "knight", "B": "bishop", "R": "rook", "Q": "queen", "K": "king",
}  # fmt: skip
GLYPHS = {
    "K": "\u2654\ufe0e", "Q": "\u2655\ufe0e", "R": "\u2656\ufe0e", "B": "\u2657\ufe0e",
    "N": "\u2658\ufe0e", "P": "\u2659\ufe0e", "k": "\u265a\ufe0e", "q": "\u265b\ufe0e",
    "r": "\u265c\ufe0e", "b": "\u265d\ufe0e", "n": "\u265e\ufe0e", "p": "\u265f\ufe0e",
}  # fmt: skip
PIECES = {
    key: Piece(
        key,
        f"{'white' if key.isupper() else 'black'} {NAMES[key.upper()]}",
        0 if key.isupper() else 1,
        glyph,
    )
    for key, glyph in GLYPHS.items()
}
ROOK_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))
BISHOP_STEPS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
KNIGHT_STEPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
CASTLINGS = {"oo": "OO", "00": "OO", "ooo": "OOO", "000": "OOO"}
"""Castling as people write it, without signs, and in `notation` without signs."""
MOVE_NUMBER = re.compile(r"\A\W*[0-9]{1,3}\s*\.+\s*")
"""The number of a move in front of it: "12. Nf3", "12... Nf6"."""
IN_BETWEEN = re.compile(
    r"[\s+#!?.=()\u2026\"'\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019:-]|\be\.?p\b"
)
"""Signs that people write in and around a move, and "e.p."."""
SPOKEN = {
    "king": "K",
    "queen": "Q",
    "rook": "R",
    "bishop": "B",
    "knight": "N",
    "pawn": "",
    "take": "x",
    "takes": "x",
    "capture": "x",
    "captures": "x",
    "to": "",
    "on": "",
}
"""Words that people write for letters and signs of the notation: "knight to f3"."""
_PIECE = "(king|queen|rook|bishop|knight|pawn)"
TAKING = re.compile(
    rf"(?:{_PIECE} )?(?:takes?|captures?)(?: {_PIECE})?(?: ?(?:on|at)? ([a-h][1-8]))?"
    rf"(?: with {_PIECE})?"
)
"""A capture in words: "take knight on f3 with pawn"."""
START = "rnbqkbnr" + "p" * 8 + "." * 32 + "P" * 8 + "RNBQKBNR"


def _jumps(steps: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(
            (n // 8 + down) * 8 + n % 8 + right
            for right, down in steps
            if 0 <= n % 8 + right < 8 and 0 <= n // 8 + down < 8
        )
        for n in range(64)
    )


def _rays(steps: Iterable[tuple[int, int]]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    rays_by_square = []
    for n in range(64):
        rays = []
        for right, down in steps:
            x, y, ray = n % 8 + right, n // 8 + down, []
            while 0 <= x < 8 and 0 <= y < 8:
                ray.append(y * 8 + x)
                x, y = x + right, y + down
            if ray:
                rays.append(tuple(ray))
        rays_by_square.append(tuple(rays))
    return tuple(rays_by_square)


KNIGHTS = _jumps(KNIGHT_STEPS)
KINGS = _jumps((*ROOK_STEPS, *BISHOP_STEPS))
ROOKS = _rays(ROOK_STEPS)
BISHOPS = _rays(BISHOP_STEPS)
PAWNS = (_jumps(((-1, -1), (1, -1))), _jumps(((-1, 1), (1, 1))))
"""The squares that a pawn of each seat attacks."""


@dataclass(frozen=True)
class Position:
    """A position.

    Attributes:
        board: pieces from a8 to h1; white ones are capitals.
        white: whether white is to move.
        rooks: squares of rooks that may still castle.
        passed: the square that a pawn has just stepped over; -1 if none.
        quiet: moves since a pawn moved or a piece was captured.
        earlier: the positions that may come again, as `key_of` writes them.
        played: all moves in standard notation.
        is_960: whether castling is written as the king's move to the rook.
        first: the board at the beginning.
    """

    board: str
    white: bool = True
    rooks: frozenset[int] = frozenset()
    passed: int = -1
    quiet: int = 0
    earlier: tuple[str, ...] = ()
    played: tuple[str, ...] = ()
    is_960: bool = False
    first: str = ""

    @property
    def seat(self) -> Seat:
        return 0 if self.white else 1


Step = tuple[int, int, str]
"""A move: from, to, and the piece that a pawn becomes. Castling goes to the rook's square."""


def is_attacked(board: str, square: int, by: Seat) -> bool:
    """Return whether a player attacks a square."""
    knight, king, rook, bishop, queen, pawn = "NKRBQP" if by == 0 else "nkrbqp"
    for jumps, jumper in ((KNIGHTS, knight), (KINGS, king), (PAWNS[1 - by], pawn)):
        for other in jumps[square]:
            if board[other] == jumper:
                return True
    return _meets(board, ROOKS[square], (rook, queen)) or _meets(
        board, BISHOPS[square], (bishop, queen)
    )


def _meets(board: str, rays: tuple[tuple[int, ...], ...], sliders: tuple[str, str]) -> bool:
    """Return whether one of these pieces is the first one on a ray."""
    for ray in rays:
        for other in ray:
            if board[other] != ".":
                if board[other] in sliders:
                    return True
                break
    return False


def in_check(board: str, seat: Seat) -> bool:
    """Return whether a player's king is attacked."""
    king = board.find("K" if seat == 0 else "k")
    return king >= 0 and is_attacked(board, king, 1 - seat)


def steps(position: Position) -> Iterator[Step]:
    """Yield all moves, also those that leave the king in check."""
    board, white = position.board, position.white
    for square, piece in enumerate(board):
        if piece == "." or piece.isupper() != white:
            continue
        kind = piece.upper()
        if kind == "P":
            yield from _pawn_steps(position, square)
        elif kind in "NK":
            for to in (KNIGHTS if kind == "N" else KINGS)[square]:
                if board[to] == "." or board[to].isupper() != white:
                    yield square, to, ""
        else:
            yield from _slides(position, square, kind)
    yield from _castlings(position)


def _slides(position: Position, square: int, kind: str) -> Iterator[Step]:
    board, white = position.board, position.white
    rays = (ROOKS[square] if kind in "RQ" else ()) + (BISHOPS[square] if kind in "BQ" else ())
    for ray in rays:
        for to in ray:
            if board[to] == ".":
                yield square, to, ""
                continue
            if board[to].isupper() != white:
                yield square, to, ""
            break


def _pawn_steps(position: Position, square: int) -> Iterator[Step]:
    board, white = position.board, position.white
    ahead = -8 if white else 8
    targets = []
    if board[square + ahead] == ".":
        targets.append(square + ahead)
        home = 6 if white else 1
        if square // 8 == home and board[square + 2 * ahead] == ".":
            targets.append(square + 2 * ahead)
    targets += [
        to
        for to in PAWNS[position.seat][square]
        if to == position.passed or (board[to] != "." and board[to].isupper() != white)
    ]
    for to in targets:
        if to // 8 in {0, 7}:
            for piece in "QRBN":
                yield square, to, piece
        else:
            yield square, to, ""


def _castlings(position: Position) -> Iterator[Step]:
    """Yield castlings; the king goes to the g or c file, the rook beside it."""
    board, seat = position.board, position.seat
    king = board.find("K" if position.white else "k")
    home = 56 if position.white else 0
    if not home <= king < home + 8:
        return
    for rook in sorted(position.rooks):
        if not home <= rook < home + 8:
            continue
        king_to, rook_to = (home + 6, home + 5) if rook > king else (home + 2, home + 3)
        between = range(min(king, rook, king_to, rook_to), max(king, rook, king_to, rook_to) + 1)
        if any(board[n] != "." for n in between if n not in {king, rook}):
            continue
        without = _with(_with(board, king, "."), rook, ".")
        way = range(min(king, king_to), max(king, king_to) + 1)
        if any(is_attacked(without, n, 1 - seat) for n in way):
            continue
        yield king, rook, ""


def _with(board: str, square: int, piece: str) -> str:
    return f"{board[:square]}{piece}{board[square + 1 :]}"


def is_castling(board: str, step: Step) -> bool:
    """Return whether a move takes the king to a rook of its own."""
    king, rook = board[step[0]], board[step[1]]
    return (king == "K" and rook == "R") or (king == "k" and rook == "r")


def moved(board: str, step: Step, passed: int) -> str:
    """Return the board after a move."""
    square, to, promoted = step
    piece = board[square]
    if is_castling(board, step):
        home, rook = (56, "R") if piece == "K" else (0, "r")
        king_to, rook_to = (home + 6, home + 5) if to > square else (home + 2, home + 3)
        after = _with(_with(board, square, "."), to, ".")
        return _with(_with(after, king_to, piece), rook_to, rook)
    after = _with(board, square, ".")
    if piece in "Pp" and to == passed:
        after = _with(after, to + (8 if piece == "P" else -8), ".")
    if promoted:
        piece = promoted if piece == "P" else promoted.lower()
    return _with(after, to, piece)


def legal(position: Position) -> Iterator[Step]:
    """Yield the legal moves."""
    for step in steps(position):
        if not in_check(moved(position.board, step, position.passed), position.seat):
            yield step


def after(position: Position, step: Step) -> Position:
    """Return the position after a move, without its notation."""
    square, to, _ = step
    board = position.board
    piece = board[square]
    rooks = position.rooks
    if rooks:
        if piece in "Kk":
            home = 56 if piece == "K" else 0
            rooks = frozenset(rook for rook in rooks if not home <= rook < home + 8)
        rooks -= {square, to}
    is_capture = board[to] != "." and not is_castling(board, step)
    passed = (square + to) // 2 if piece in "Pp" and abs(to - square) == 16 else -1
    theirs = "p" if piece == "P" else "P"
    if passed >= 0 and all(board[n] != theirs for n in PAWNS[position.seat][passed]):
        passed = -1  # no pawn can capture there, so the position counts as the same without it
    quiet = 0 if is_capture or piece in "Pp" else position.quiet + 1
    return replace(
        position,
        board=moved(board, step, position.passed),
        white=not position.white,
        rooks=rooks,
        passed=passed,
        quiet=quiet,
        earlier=(*position.earlier, key_of(position)) if quiet else (),
    )


def key_of(position: Position) -> str:
    """Return a text that is the same for positions that count as the same."""
    rooks = "".join(SQUARES[rook] for rook in sorted(position.rooks))
    return f"{position.board}{position.white}{rooks}{position.passed}"


def text_of(position: Position, step: Step) -> str:
    """Return a move as its squares, such as e2e4 or e7e8q."""
    square, to, promoted = step
    if is_castling(position.board, step) and not position.is_960:
        to = square + 2 if to > square else square - 2
    return f"{SQUARES[square]}{SQUARES[to]}{promoted.lower()}"


def notation(position: Position, step: Step, others: Iterable[Step]) -> str:
    """Return a move in standard notation, such as Nf3 or exd5, without + and #."""
    square, to, promoted = step
    board = position.board
    if is_castling(board, step):
        return "O-O" if to > square else "O-O-O"
    piece = board[square].upper()
    captures = board[to] != "." or (piece == "P" and to == position.passed)
    target = ("x" if captures else "") + SQUARES[to]
    if piece == "P":
        start = SQUARES[square][0] if captures else ""
        return f"{start}{target}" + (f"={promoted}" if promoted else "")
    same = [
        other[0]
        for other in others
        if other[1] == to and other[0] != square and board[other[0]] == board[square]
    ]
    start = ""
    if same:
        name = SQUARES[square]
        if all(other % 8 != square % 8 for other in same):
            start = name[0]
        elif all(other // 8 != square // 8 for other in same):
            start = name[1]
        else:
            start = name
    return f"{piece}{start}{target}"


def move_in_notation(position: Position, listed: Sequence[Step], plain: str) -> str | None:
    """Return the only move that a text in standard notation means, `None` for none or several.

    Args:
        listed: the legal moves.
        plain: the text without blanks and signs.
    """
    short = CASTLINGS.get(plain.lower()) or plain.replace("x", "")
    moves_by_name: dict[str, list[str]] = {}
    for step in listed:
        name = re.sub("[x=-]", "", notation(position, step, listed))
        moves_by_name.setdefault(name, []).append(text_of(position, step))
    in_any_case = [
        move
        for name, moves in moves_by_name.items()
        if name.lower() == short.lower()
        for move in moves
    ]
    if plain.lower() in {"castle", "castles"}:
        in_any_case = [*moves_by_name.get("OO", ()), *moves_by_name.get("OOO", ())]
    elif plain.startswith("x"):  # "pawn takes d5"
        in_any_case = [
            move
            for name, moves in moves_by_name.items()
            if re.fullmatch(rf"[a-h]{re.escape(short)}", name)
            for move in moves
        ]
    if "x" not in plain and short.islower() and len(in_any_case) > 1:
        return None  # "bc4" may be a bishop or a pawn
    for written in (short, f"{short}Q", short[:1].upper() + short[1:]):
        if len(moves := moves_by_name.get(written, [])) == 1:
            return moves[0]
    return in_any_case[0] if len(in_any_case) == 1 else None


def in_letters(text: str) -> str:
    """Return a text with the letters and signs of the notation for words: "knight takes f3"."""
    words = re.sub(r"(king|queen)[ -]side", r"\1side", text.casefold()).split()
    if words[:1] in (["castle"], ["castles"]):
        return {"kingside": "O-O", "queenside": "O-O-O"}.get(words[-1], text)
    if SPOKEN.keys().isdisjoint(words):
        return text
    return "".join(SPOKEN.get(word.casefold(), word) for word in text.split())


def taking(position: Position, listed: Sequence[Step], text: str) -> list[str] | None:
    """Return the captures that a text in words may mean: "queen takes bishop".

    `None` if it is none, or one that is written in standard notation but for its words: "knight
    takes f3".
    """
    match = TAKING.fullmatch(" ".join(text.casefold().strip(".!").split()))
    if match is None:
        return None
    front, taken, square, behind = match.groups()
    mover = front or behind
    if not (taken or square) or (front and (behind or not taken)):
        return None
    board = position.board
    return [
        text_of(position, step)
        for step in listed
        if not is_castling(board, step)
        and (square is None or SQUARES[step[1]] == square)
        and (mover is None or NAMES[board[step[0]].upper()] == mover)
        and _name_of_taken(position, step) == (taken or _name_of_taken(position, step) or "none")
        and step[2].upper() in {"", "Q"}
    ]


def _name_of_taken(position: Position, step: Step) -> str:
    """Return the name of the piece that a move captures, ``""`` for none."""
    square, to, _ = step
    if to == position.passed and position.board[square] in "Pp":
        return NAMES["P"]
    return NAMES.get(position.board[to].upper(), "")


def full_notation(position: Position, step: Step) -> str:
    """Return a move in standard notation, with + for a check and # for mate."""
    text = notation(position, step, list(legal(position)))
    following = after(position, step)
    if in_check(following.board, following.seat):
        return text + ("+" if any(True for _ in legal(following)) else "#")
    return text


@cache
def board_960(number: int) -> str:
    """Return the first row of one of 960 positions, by its number from 0 to 959 (518: chess)."""
    row = [""] * 8
    number, bishop = divmod(number, 4)
    row[2 * bishop + 1] = "B"
    number, bishop = divmod(number, 4)
    row[2 * bishop] = "B"
    number, queen = divmod(number, 6)
    row[[n for n in range(8) if not row[n]][queen]] = "Q"
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    free = [n for n in range(8) if not row[n]]
    for knight in pairs[number]:
        row[free[knight]] = "N"
    for n, piece in zip([n for n in range(8) if not row[n]], "RKR", strict=True):
        row[n] = piece
    return "".join(row)


class Chess(Game[Position]):
    """Attack the other king so that it cannot escape: checkmate wins.

    White begins. Write a move as its two squares, e2e4, or in standard notation, Nf3, exd5, O-O,
    e8=Q. A pawn that reaches the last row becomes a queen unless you write another piece: e7e8n.
    A small b is the b file, and a bishop only if no pawn can make the move.

    It is a draw if a player to move has no move and is not in check, if the same position comes for
    the third time, after fifty moves of each side without a capture or a move of a pawn, and if no
    pieces are left that could mate.

    With -chess960 the pieces of the first rows are shuffled, the same for both sides. The king
    castles as in chess, to the c or g file; write it O-O-O or O-O, or name the squares of king and
    rook.
    """

    key, title = "chess", "Chess"
    options = (Option("chess960", "shuffle the pieces of the first rows", (False, True), False),)
    rotates = True
    words = (
        "o",
        "0",
        "castle",
        "castles",
        "kingside",
        "queenside",
        "side",
        "x",
        *"qrbn",
        *SPOKEN,
        "with",
    )

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> Position:
        row = board_960(rng.below(960)) if options["chess960"] else "RNBQKBNR"
        board = row.lower() + START[8:56] + row
        rooks = frozenset(n for n, piece in enumerate(board) if piece in "Rr")
        return Position(board, rooks=rooks, is_960=options["chess960"], first=board)

    def moves(self, state: Position, seat: Seat) -> Iterable[str]:
        return (text_of(state, step) for step in legal(state))

    def read(self, state: Position, seat: Seat, text: str) -> str:
        listed = list(legal(state))
        captures = taking(state, listed, text)
        if captures is not None:
            if len(captures) == 1:
                return captures[0]
            if captures:
                raise No(f"That can be {' or '.join(captures)}. Write which one you mean.")
        by_text = {text_of(state, step): step for step in listed}
        plain = IN_BETWEEN.sub("", in_letters(MOVE_NUMBER.sub("", text)))
        squares = plain.lower().replace("x", "")
        for wanted in (squares, f"{squares}q"):
            if wanted in by_text:
                return wanted
        move = move_in_notation(state, listed, plain)
        if move is not None:
            return move
        raise No(self.why_not(state, squares, plain))

    def why_not(self, state: Position, squares: str, plain: str) -> str:
        """Return why a move is refused."""
        begun = re.match("[a-h][1-8]", squares) if not plain.startswith("x") else None
        piece = state.board[PLACE[begun[0]]] if begun else ""
        is_alone = begun is not None and squares == begun[0]
        if begun and piece == "." and not is_alone:
            return f"There is no piece on {begun[0]}."
        if begun and piece not in {"", "."} and piece.isupper() != state.white:
            return f"The piece on {begun[0]} is not yours."
        if begun and is_alone and piece != ".":
            return f"Name the square to which the {NAMES[piece.upper()]} on {begun[0]} goes, too."
        named = [
            notation(state, step, ())
            for step in legal(state)
            if notation(state, step, ()).lower().replace("x", "") == plain.lower().replace("x", "")
        ]
        if len(named) > 1:
            return f"Several pieces can make the move {plain}; name its first square, too."
        if in_check(state.board, state.seat):
            return "Your king is in check, and this move does not help."
        return self.why_no_piece(state, squares, plain)

    def why_no_piece(self, state: Position, squares: str, plain: str) -> str:
        """Return why no piece of the player can make a move."""
        if squares.replace("0", "o") in {"oo", "ooo"} or squares.startswith("castle"):
            return "You cannot castle like that now."
        names = re.findall("[a-z][0-9]+", squares.lstrip("kqrn"))
        unknown = next((name for name in names if name not in PLACE), "")
        if unknown:
            return f"There is no square {unknown}."
        if not names:
            return "It is not a legal move here."
        source, to = names[0], names[-1]
        if squares.startswith(f"{source}{to}"):
            sources = [PLACE[source]]
            cannot = f"The {NAMES[state.board[PLACE[source]].upper()]} on {source} cannot"
        else:
            kind = plain[0].upper() if plain[0] in "KQRBNkqrn" else "P"
            own = kind if state.white else kind.lower()
            sources = [square for square in range(64) if state.board[square] == own]
            cannot = f"No {NAMES[kind]} of yours can"
        ways = [step for step in steps(state) if step[0] in sources and step[1] == PLACE[to]]
        if not ways:
            return f"{cannot} go to {to} now."
        if set(ways).isdisjoint(legal(state)):
            return "That would leave your king in check."
        return "It is not a legal move here."

    def play(self, state: Position, seat: Seat, move: str, rng: Rng) -> Position | After[Position]:
        step = next(step for step in legal(state) if text_of(state, step) == move)
        text = full_notation(state, step)
        following = replace(after(state, step), played=(*state.played, text))
        return After(following, [f"{{{seat}}} played {text}."])

    def over(self, state: Position) -> Result | None:
        if not any(True for _ in legal(state)):
            if in_check(state.board, state.seat):
                return win(1 - state.seat, "checkmate")
            return draw("stalemate")
        if state.quiet >= 100:
            return draw("fifty moves without a capture or a pawn's move")
        if state.earlier.count(key_of(state)) >= 2:
            return draw("the same position for the third time")
        return draw("neither side can mate") if cannot_mate(state.board) else None

    def show(self, state: Position, seat: Seat | None) -> list[Grid | str]:
        rows = [state.board[n : n + 8] for n in range(0, 64, 8)]
        king = state.board.find("K" if state.white else "k")
        strong = [SQUARES[king]] if in_check(state.board, state.seat) else []
        grid = Grid(
            rows,
            PIECES,
            columns=FILES,
            lines="87654321",
            shape="chequered",
            strong=strong,
            strong_is="a king in check",
        )
        if not state.played:
            return [grid]
        return [grid, numbered(state.played)]

    def ask(self, state: Position, seat: Seat) -> str:
        check = "You are in check. " if in_check(state.board, seat) else ""
        legal_steps = list(legal(state))
        pieces = [step for step in legal_steps if state.board[step[0]] not in "Pp"]
        step = (pieces or legal_steps)[-1]
        squares, written = text_of(state, step), notation(state, step, legal_steps)
        return f'{check}Reply with a move, such as "{squares}", which is also "{written}".'

    def file(
        self, state: Position, players: Sequence[str], result: Result | None, day: str
    ) -> tuple[str, str]:
        """Return a game in Portable Game Notation."""
        score = "*"
        if result is not None:
            places = result.places
            score = "1/2-1/2" if places[0] == places[1] else "1-0" if places[0] == 1 else "0-1"
        tags = {
            "Event": "Correspondence game",
            "Site": "pbmserv",
            "Date": day.replace("-", ".") or "????.??.??",
            "Round": "-",
            "White": players[0],
            "Black": players[1],
            "Result": score,
        }
        if state.is_960:
            row = state.first
            fen = "/".join(
                re.sub(r"\.+", lambda m: str(len(m[0])), row[n : n + 8]) for n in range(0, 64, 8)
            )
            tags |= {"Variant": "Chess960", "SetUp": "1", "FEN": f"{fen} w KQkq - 0 1"}
        head = "\n".join(f'[{name} "{value}"]' for name, value in tags.items())
        return ".pgn", f"{head}\n\n{numbered(state.played)} {score}\n"


def cannot_mate(board: str) -> bool:
    """Return whether nobody can mate: bare kings, one minor piece, bishops of one colour."""
    left = [(piece.upper(), n) for n, piece in enumerate(board) if piece not in ".Kk"]
    if any(piece in "PRQ" for piece, _ in left):
        return False
    if len(left) <= 1:
        return True
    colours = {(n + n // 8) % 2 for _, n in left}
    return all(piece == "B" for piece, _ in left) and len(colours) == 1


def numbered(played: Iterable[str]) -> str:
    """Return moves with their numbers, as in a file of games."""
    return " ".join(
        f"{n // 2 + 1}. {move}" if n % 2 == 0 else move for n, move in enumerate(played)
    )


GAME = Chess()

# -- the bots -------------------------------------------------------------------------------------

WORTH = {"P": 100, "N": 320, "B": 330, "R": 500, "Q": 900, "K": 0}
MATE = 100_000


def _table(kind: str) -> list[int]:
    """Return the worth of a white piece on each square: the middle is good, and so is ahead."""
    table = []
    for n in range(64):
        column, ahead = n % 8, 7 - n // 8
        middle = 3 - max(abs(2 * column - 7), abs(2 * ahead - 7)) // 2
        bonus = {
            "P": 3 * ahead * (1 + (column in {3, 4}))
            - (12 if ahead == 1 and column in {3, 4} else 0),
            "N": 12 * middle - 18,
            "B": 7 * middle - 8,
            "R": 14 * (ahead == 6) + 2 * (column in {3, 4}),
            "Q": 2 * middle,
            "K": -14 * ahead + 9 * (column in {1, 2, 6}) - 6 * middle,
        }[kind]
        table.append(WORTH[kind] + bonus)
    return table


VALUES: dict[str, list[int]] = {".": [0] * 64}
for _kind in WORTH:
    VALUES[_kind] = _table(_kind)
    VALUES[_kind.lower()] = [-VALUES[_kind][n ^ 56] for n in range(64)]


class Spent(Exception):
    """The bot has looked at as many positions as it may."""


class Search:
    """Looks ahead, and to the end of captures."""

    def __init__(self, nodes: int) -> None:
        self.left = nodes

    def best(self, position: Position, rng: Rng) -> Step:
        """Return the best move that the budget finds."""
        listed = rng.shuffled(list(legal(position)))
        listed.sort(key=lambda step: -self.promise(position.board, step))
        best = listed[0]
        for depth in range(1, 30):
            alpha, scored = -MATE * 2, []
            try:
                for step in listed:
                    following = after(position, step)
                    if position.earlier.count(key_of(following)) >= 1:
                        score = 0
                    else:
                        score = -self.value(
                            replace(following, earlier=()), depth - 1, -MATE * 2, -alpha
                        )
                    scored.append((score, step))
                    alpha = max(alpha, score)
            except Spent:
                break
            scored.sort(key=lambda pair: -pair[0])
            listed = [step for _, step in scored]
            best = listed[0]
            if abs(scored[0][0]) > MATE / 2 or len(listed) == 1:
                break
        return best

    def promise(self, board: str, step: Step) -> int:
        """Return how early a move is to be tried: valuable captures by cheap pieces first."""
        taken = board[step[1]]
        gain = WORTH[taken.upper()] * 10 - WORTH[board[step[0]].upper()] if taken != "." else 0
        return gain + (WORTH[step[2]] if step[2] else 0)

    def value(self, position: Position, depth: int, alpha: int, beta: int) -> int:
        """Return the worth for the player to move."""
        self.left -= 1
        if self.left < 0:
            raise Spent
        board, seat = position.board, position.seat
        best = -MATE - depth
        if depth <= 0:
            best = sum(VALUES[piece][n] for n, piece in enumerate(board)) * (1 - 2 * seat)
            if best >= beta or depth < -6:
                return best
            listed = [
                step
                for step in steps(position)
                if (board[step[1]] != "." and not is_castling(board, step)) or step[2] == "Q"
            ]
        else:
            listed = list(steps(position))
        listed.sort(key=lambda step: -self.promise(board, step))
        is_stuck = depth > 0
        for step in listed:
            following = after(position, step)
            if in_check(following.board, seat):
                continue
            is_stuck = False
            score = -self.value(following, depth - 1, -beta, -max(alpha, best))
            if score > best:
                best = score
                if best >= beta:
                    return best
        if is_stuck and not in_check(board, seat):
            return 0
        return best


def bot(nodes: int, slips: int) -> Bot[Position]:
    """Return a bot.

    Args:
        nodes: the positions that it looks at for a move.
        slips: in one of so many moves, it looks at a few positions only; 0 for never.
    """

    def choose(state: Position, seat: Seat, rng: Rng) -> str:
        budget = nodes if not slips or rng.below(slips) else 40
        budget = max(60, round(budget * Effort.share))
        return text_of(state, Search(budget).best(state, rng))

    return choose


GAME.bots = {"house-easy": bot(300, 3), "house": bot(4_000, 0), "house-best": bot(60_000, 0)}
