"""Reply addresses: who speaks and of what, signed, in the local part of an address.

An address is ``<local>+<token>@<domain>``. The token is base32 in lower case, which survives
the case folding that mail programs and servers do to addresses (RFC 5321 section 2.4 lets
local parts be case-sensitive, but few keep to it), and fits the 64 octets of RFC 5321 section
4.5.3.1.1. It holds a key's id, the purpose, four small numbers and 80 bits of HMAC-SHA-256.

Readers can spell a token out. Board and player numbers they know anyway; how many letters go out
in all they shall not count, so numbers of letters are enciphered.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property, lru_cache

MAC_BYTES = 10
LONGEST_LOCAL = 64

_TOKEN = re.compile(r"[a-z2-7]+")
_MAYBE_TOKEN = re.compile(r"[a-z2-7]{20,}", re.IGNORECASE)
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
"""Base32 in lower case without padding, two letters at once."""
_DIGITS = str.maketrans(_LETTERS, "0123456789abcdefghijklmnopqrstuv")

_SEALED = 0x80
"""In the octet of the purpose: `about` is enciphered. In addresses that are older than this it is
not; they stay as good as they were."""
_HALF = 21
"""Bits of half a number of a letter: four million million letters are enough."""
_LOW = (1 << _HALF) - 1
_ROUNDS = 8
_TURNS = [bytes((turn,)) for turn in range(_ROUNDS)]


class Purpose(IntEnum):
    """What a reply address is good for."""

    BOARD = 1
    """`player` speaks of board `about`; `number` is the turn the letter was written for."""
    PLAYER = 2
    """`player` speaks, of nothing special."""
    CONFIRM = 3
    """A reply confirms signup `about`."""
    RESET = 4
    """`player` may set a new password; `number` is a mark of the old one."""
    MESSAGE = 5
    """`player` answers a message of player `about`."""
    TRAY = 10
    """`player` answers the one mail a day, which is letter `about` of the outbox."""
    FOLLOW = 11
    """`player` speaks of board `about`, which they only watch."""
    ADDRESS = 6
    """A reply confirms row `about` of the changes of address; it speaks for nobody."""
    KEEP_ADDRESS = 7
    """`player` speaks, and may stop the change of address that row `about` belongs to."""
    SIGNOFF = 8
    """`player` may leave; `number` is the day (since 1970) on which that was asked."""
    DELETE = 9
    """`player` may have all personal data removed; `number` as for `SIGNOFF`."""
    AWAY = 14
    """`player` answers the question whether they are away; otherwise as `PLAYER`."""
    UNSUBSCRIBE = 17
    """`player` wants no more letters such as number `about` of the outbox."""
    BROADCAST = 15
    """`player` may send the words in letter `about` of the outbox to everybody who wants them."""
    BEGIN = 20
    """`player` speaks, and may say yes to row `about` of the boards that wait for that."""
    BOUNCE = 16
    """Where letter `about` of the outbox comes back to; it speaks for nobody."""
    INVITED = 21
    """A reply answers invitation `about`; it speaks for nobody."""
    UNINVITED = 22
    """The owner of the address of invitation `about` never wants one again."""
    PAGE = 23
    """Opens the page of `player`'s account; `number` is the day (since 1970) from which it does so
    for `PAGE_DAYS`. It stands in a link alone: mail to it is no player's."""
    BOARD_VISIT = 24
    """Opens the page of board `about` for `player`; `number` is the minute (since 1970) from which
    it does so for `VISIT_MINUTES`. It stands in the address of the page alone."""
    PAGE_VISIT = 25
    """Opens the page of `player`'s account; `number` as for `BOARD_VISIT`."""


PAGE_DAYS = 30
VISIT_MINUTES = 120

OF_PAGES = frozenset({Purpose.PAGE, Purpose.BOARD_VISIT, Purpose.PAGE_VISIT})
"""These open pages and are no reply addresses."""


OF_BOARDS = frozenset({Purpose.PLAYER, Purpose.BOARD, Purpose.TRAY})
"""A letter that says one of these goes on with the board that it shows, if it shows one."""

ENDINGS = frozenset({Purpose.UNSUBSCRIBE, Purpose.UNINVITED})
"""Addresses at which a mail ends letters of a kind, whatever it says."""

_OF_A_LETTER = frozenset({Purpose.TRAY, Purpose.UNSUBSCRIBE, Purpose.BROADCAST, Purpose.BOUNCE}) | {
    *(Purpose.INVITED, Purpose.UNINVITED)  # nobody shall count invitations, either
}


@dataclass(frozen=True, slots=True)
class ReplyAddress:
    """What a reply address says.

    Attributes:
        purpose: what it is good for.
        player: row id of the speaker, 0 where there is none yet.
        about: board, signup or player id, as the purpose says.
        number: turn or mark, as the purpose says.
        epoch: the speaker's ``reply_epoch`` when it was made; a later one revokes it.
    """

    purpose: Purpose
    player: int = 0
    about: int = 0
    number: int = 0
    epoch: int = 0


def speaker_of(reply_address: ReplyAddress | None) -> int:
    """Row id of the player for whom mails to it speak; 0: it is none, or there is nobody yet."""
    return 0 if reply_address is None else reply_address.player


@dataclass(slots=True)
class KeyRing:
    """Signing keys by id; the highest id signs, all of them verify (so keys can be rotated).

    `keys` may be given anew while other threads sign and verify: as a whole, never in place.
    """

    keys: Mapping[int, bytes] = field(repr=False)

    def token(self, reply_address: ReplyAddress) -> str:
        """The signed token of a reply address."""
        key_id, key = max(self.keys.items())
        purpose, about = reply_address.purpose, reply_address.about
        written = int(purpose)
        if purpose in _OF_A_LETTER:
            assert about >> 2 * _HALF == 0
            about = _mixed(_seal(key, purpose), about, range(_ROUNDS))
            written |= _SEALED
        body = bytearray((key_id, written))
        for value in (reply_address.player, about, reply_address.number, reply_address.epoch):
            left = value  # in LEB128
            while left > 0x7F:
                body.append(left & 0x7F | 0x80)
                left >>= 7
            body.append(left)
        packed = body + _mac(key, body)
        bits = 8 * len(packed)
        spare = -bits % 10
        spelled = int.from_bytes(packed) << spare
        pairs = [_PAIRS[spelled >> at & 0x3FF] for at in range(bits + spare - 10, -1, -10)]
        return "".join(pairs)[: (bits + 4) // 5]

    def read(self, token: str) -> ReplyAddress | None:
        """What a genuine token says, in any letter case; ``None`` for any other."""
        return _read(tuple(self.keys.items()), token.lower())

    def tokens_in(self, letters: str) -> Iterator[tuple[int, int]]:
        """Return where genuine tokens begin and end in a text of the letters that tokens have.

        The beginning of a token says how long it is, so there is one candidate for each place.
        """
        keys = tuple(self.keys.items())
        begins = "|".join(_beginning(key_id) for key_id in self.keys)
        for match in re.finditer(f"(?=(?:{begins}))", letters):
            start = match.start()
            end = start + _length_of(letters[start : start + LONGEST_LOCAL])
            if end > start and _read.__wrapped__(keys, letters[start:end]) is not None:
                yield start, end

    def secret(self, use: str, number: int | None = None) -> tuple[int, bytes]:
        """A secret of the server for one use, 32 octets, and the id of the key that it is made of.

        Args:
            number: the key's id; ``None`` = the key that signs.

        Raises:
            KeyError: there is no such key (any more).
        """
        made_of = max(self.keys) if number is None else number
        return made_of, hmac.digest(self.keys[made_of], b"secret\0" + use.encode(), "sha256")

    def marks(self, address: str) -> list[str]:
        """What can be kept in place of a mail address to know it again, by the newest key first.

        Nobody who reads the database without the keys can try addresses.
        """
        text = b"address\0" + address.encode("utf-8", "surrogatepass")
        keys = [self.keys[number] for number in sorted(self.keys, reverse=True)]
        return [hmac.digest(key, text, "sha256").hex() for key in keys]


@dataclass(frozen=True)
class MailDomain:
    """The server's own address and the keys of its reply addresses."""

    local: str
    domain: str
    ring: KeyRing

    @cached_property
    def address(self) -> str:
        """Where commands go."""
        return f"{self.local}@{self.domain}"

    def address_of(self, reply_address: ReplyAddress) -> str:
        """The address whose mails say this."""
        return f"{self.local}+{self.ring.token(reply_address)}@{self.domain}"

    def letter_id(self, board: int, turns: int, seat: int | None, word: str) -> str:
        """The Message-ID of a letter that shows a board after so many turns (RFC 5322 section
        3.6.4). With none, and the board's own word, it begins a thread.

        Turns are counted instead of plies, since a ply may be a private seal.
        """
        return f"<{board}.{turns}.{'s' if seat is None else seat}.{word}@{self.domain}>"

    def knows(self, address: str) -> bool:
        """Whether mail for *address* is for us."""
        local, _, domain = address.rpartition("@")
        if domain.lower() == self.domain and (
            self.read(address) is not None or local.lower() == self.local
        ):
            return True
        return self.is_postmaster(address)

    def is_postmaster(self, address: str) -> bool:
        """Whether *address* is our postmaster, who needs no domain (RFC 5321 section 4.5.1)."""
        return address.lower() in {"postmaster", f"postmaster@{self.domain}"}

    def is_ours(self, address: str) -> bool:
        """Whether *address* is one that we write from, so that its mail is our own echo."""
        local, _, domain = address.rpartition("@")
        local = local.lower()
        return domain.lower() == self.domain and (
            local == self.local or local.startswith(f"{self.local}+")
        )

    def read(self, address: str) -> ReplyAddress | None:
        """What a reply address says; ``None`` for the plain address and for forged ones."""
        local = address.rpartition("@")[0].lower()
        prefix = f"{self.local}+"
        if not local.startswith(prefix) or len(local) > LONGEST_LOCAL:
            return None
        found = _read(tuple(self.ring.keys.items()), local[len(prefix) :])
        return None if found is not None and found.purpose in OF_PAGES else found


def password_mark(password_hash: str) -> int:
    """A small number that changes with the password, so a reset address works once."""
    return int.from_bytes(hashlib.sha256(password_hash.encode()).digest()[:4], "big")


def blank_tokens(text: str) -> str:
    """The same text with ``***`` for all that may be a token: it speaks for somebody."""
    return _MAYBE_TOKEN.sub("***", text)


def mailbox_secret(ring: KeyRing) -> str:
    """Random path component that protects the local mailbox."""
    return base64.b32encode(ring.secret("mailbox")[1][:20]).decode("ascii").lower()


def _beginning(key_id: int) -> str:
    """A pattern for the first three letters of tokens that this key signs: its eight bits, the bit
    that says whether a number is enciphered, and three bits of which two are 0."""
    first, rest = _LETTERS[key_id >> 3], (key_id & 7) << 2
    return f"{first}[{_LETTERS[rest]}{_LETTERS[rest | 2]}][a-p]"


def _length_of(letters: str) -> int:
    """How many letters the token has that begins a text; 0: it has no end there."""
    bits = len(letters) * 5
    octets = (int(letters.translate(_DIGITS), 32) >> bits % 8).to_bytes(bits // 8, "big")
    numbers = 0
    for at, octet in enumerate(octets[2:], 3):
        numbers += octet < 0x80
        if numbers == 4:
            length = (8 * (at + MAC_BYTES) + 4) // 5
            return length if length <= len(letters) else 0
    return 0


@lru_cache(maxsize=256)  # RCPT, DATA and whoever reads a mail ask for the same
def _read(keys: tuple[tuple[int, bytes], ...], token: str) -> ReplyAddress | None:
    """What a token in lower case says; ``None``: none of these keys has signed it."""
    # Base32; the standard library's decoder goes over it character by character. The last letter
    # has bits to spare: only one spelling counts (RFC 4648 section 3.5).
    if not _TOKEN.fullmatch(token):
        return None
    spare = len(token) * 5 % 8
    spelled = int(token.translate(_DIGITS), 32)
    if spare >= 5 or spelled & ((1 << spare) - 1):
        return None
    packed = (spelled >> spare).to_bytes(len(token) * 5 // 8, "big")
    body, mac = packed[:-MAC_BYTES], packed[-MAC_BYTES:]
    key = dict(keys).get(body[0]) if len(body) >= 6 else None
    if key is None or not hmac.compare_digest(mac, _mac(key, body)):
        return None
    numbers, value, shift = [], 0, 0
    for octet in body[2:]:  # LEB128
        value |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            numbers.append(value)
            value, shift = 0, 0
    try:
        purpose = Purpose(body[1] & ~_SEALED)
    except ValueError:  # signed by a newer version of this server
        return None
    if body[1] & _SEALED and len(numbers) > 1:
        numbers[1] = _deciphered(_seal(key, purpose), numbers[1])
    return ReplyAddress(purpose, *numbers) if len(numbers) == 4 else None


@lru_cache(maxsize=64)
def _seal(key: bytes, purpose: Purpose) -> bytes:
    """The key for numbers of letters, another one for each purpose."""
    return hmac.digest(key, b"letter-number\0" + bytes((purpose,)), "sha256")


def _mac(key: bytes, body: bytes | bytearray) -> bytes:
    """HMAC-SHA-256, cut. The library takes three times as long for a text as short as this."""
    _, signing, outer = _begun(key)
    inside, outside = signing.copy(), outer.copy()
    inside.update(body)
    outside.update(inside.digest())
    return outside.digest()[:MAC_BYTES]


def _deciphered(key: bytes, number: int) -> int:
    """`_mixed` backwards: the rounds from the last one, with the halves exchanged."""
    return _swapped(_mixed(key, _swapped(number), reversed(range(_ROUNDS))))


def _mixed(key: bytes, number: int, rounds: Iterable[int]) -> int:
    """A permutation of the numbers below 2**42: a Feistel network on HMAC-SHA-256."""
    left, right = number >> _HALF, number & _LOW
    turns, _, outer = _begun(key)
    for turn in rounds:
        inside, outside = turns[turn].copy(), outer.copy()
        inside.update(right.to_bytes(3))
        outside.update(inside.digest())
        left, right = right, left ^ (int.from_bytes(outside.digest()[:3]) & _LOW)
    return left << _HALF | right


def _swapped(number: int) -> int:
    return (number & _LOW) << _HALF | number >> _HALF


@lru_cache(maxsize=64)
def _begun(key: bytes) -> tuple[list[hashlib._Hash], hashlib._Hash, hashlib._Hash]:
    """HMAC (RFC 2104 section 2) as far as it is the same for all texts: of each round, of what is
    signed, and around them. Who goes on with one copies it: the library's own takes twice as long
    for texts of some octets, and each letter has sixteen of them.
    """
    size = hashlib.sha256().block_size
    block = (key if len(key) <= size else hashlib.sha256(key).digest()).ljust(size, b"\0")
    inner = bytes([octet ^ 0x36 for octet in block])
    return (
        [hashlib.sha256(inner + turn) for turn in _TURNS],
        hashlib.sha256(inner + b"reply-address\0"),
        hashlib.sha256(bytes([octet ^ 0x5C for octet in block])),
    )
