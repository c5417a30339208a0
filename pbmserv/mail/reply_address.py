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
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

MAC_BYTES = 10
LONGEST_LOCAL = 64

_TOKEN = re.compile(r"[a-z2-7]+")
_MAYBE_TOKEN = re.compile(r"[a-z2-7]{20,}", re.IGNORECASE)
_DIGITS = str.maketrans("abcdefghijklmnopqrstuvwxyz234567", "0123456789abcdefghijklmnopqrstuv")

_SEALED = 0x80
"""In the octet of the purpose: `about` is enciphered. In addresses that are older than this it is
not; they stay as good as they were."""
_HALF = 21
"""Bits of half a number of a letter: four million million letters are enough."""
_ROUNDS = 8


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


_OF_A_LETTER = frozenset({Purpose.TRAY, Purpose.UNSUBSCRIBE, Purpose.BROADCAST, Purpose.BOUNCE})


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


@dataclass(slots=True)
class KeyRing:
    """Signing keys by id; the highest id signs, all of them verify (so keys can be rotated).

    `keys` may be given anew while other threads sign and verify: as a whole, never in place.
    """

    keys: Mapping[int, bytes] = field(repr=False)

    def token(self, reply_address: ReplyAddress) -> str:
        """The signed token of a reply address."""
        key_id, key = max(self.keys.items())
        purpose, about = int(reply_address.purpose), reply_address.about
        if reply_address.purpose in _OF_A_LETTER:
            about = _enciphered(_seal(key, reply_address.purpose), about)
            purpose |= _SEALED
        body = bytes((key_id, purpose)) + b"".join(
            _varint(n)
            for n in (reply_address.player, about, reply_address.number, reply_address.epoch)
        )
        return _spelled(body + _mac(key, body))

    def read(self, token: str) -> ReplyAddress | None:
        """What a genuine token says, in any letter case; ``None`` for any other."""
        packed = _packed(token.lower())
        if packed is None:
            return None
        body, mac = packed[:-MAC_BYTES], packed[-MAC_BYTES:]
        key = self.keys.get(body[0]) if len(body) >= 6 else None
        if key is None or not hmac.compare_digest(mac, _mac(key, body)):
            return None
        numbers = _varints(body[2:])
        if len(numbers) != 4:
            return None
        try:
            purpose = Purpose(body[1] & ~_SEALED)
        except ValueError:  # signed by a newer version of this server
            return None
        if body[1] & _SEALED:
            numbers[1] = _deciphered(_seal(key, purpose), numbers[1])
        return ReplyAddress(purpose, *numbers)


@dataclass(frozen=True, slots=True)
class MailDomain:
    """The server's own address and the keys of its reply addresses."""

    local: str
    domain: str
    ring: KeyRing

    @property
    def address(self) -> str:
        """Where commands go."""
        return f"{self.local}@{self.domain}"

    def address_of(self, reply_address: ReplyAddress) -> str:
        """The address whose mails say this."""
        return f"{self.local}+{self.ring.token(reply_address)}@{self.domain}"

    def knows(self, address: str) -> bool:
        """Whether mail for *address* is for us."""
        if self.is_postmaster(address):
            return True
        local, _, domain = address.rpartition("@")
        if domain.lower() != self.domain:
            return False
        return local.lower() == self.local or self.read(address) is not None

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
        return self.ring.read(local[len(prefix) :])


def password_mark(password_hash: str) -> int:
    """A small number that changes with the password, so a reset address works once."""
    return int.from_bytes(hashlib.sha256(password_hash.encode()).digest()[:4], "big")


def blank_tokens(text: str) -> str:
    """The same text with ``***`` for all that may be a token: it speaks for somebody."""
    return _MAYBE_TOKEN.sub("***", text)


def _seal(key: bytes, purpose: Purpose) -> bytes:
    """The key for numbers of letters, another one for each purpose."""
    return hmac.digest(key, b"letter-number\0" + bytes((purpose,)), "sha256")


def _mac(key: bytes, body: bytes) -> bytes:
    return hmac.digest(key, b"reply-address\0" + body, "sha256")[:MAC_BYTES]


def _spelled(packed: bytes) -> str:
    return base64.b32encode(packed).decode("ascii").rstrip("=").lower()


def _packed(token: str) -> bytes | None:
    """What `_spelled` made a token of, ``None`` for anything else.

    The standard library's decoder goes over it character by character.
    """
    if not _TOKEN.fullmatch(token):
        return None
    spare = len(token) * 5 % 8
    number = int(token.translate(_DIGITS), 32)
    # The last letter has bits to spare: only one spelling counts (RFC 4648 section 3.5).
    if spare >= 5 or number & ((1 << spare) - 1):
        return None
    return (number >> spare).to_bytes(len(token) * 5 // 8, "big")


def _enciphered(key: bytes, number: int) -> int:
    """A permutation of the numbers below 2**42: a Feistel network on HMAC-SHA-256."""
    left, right = number >> _HALF, number & ((1 << _HALF) - 1)
    assert left >> _HALF == 0
    for turn in range(_ROUNDS):
        left, right = right, left ^ _mixed(key, turn, right)
    return left << _HALF | right


def _deciphered(key: bytes, number: int) -> int:
    left, right = number >> _HALF, number & ((1 << _HALF) - 1)
    for turn in reversed(range(_ROUNDS)):
        left, right = right ^ _mixed(key, turn, left), left
    return left << _HALF | right


def _mixed(key: bytes, turn: int, half: int) -> int:
    made = hmac.digest(key, bytes((turn,)) + half.to_bytes(3, "big"), "sha256")
    return int.from_bytes(made[:3], "big") & ((1 << _HALF) - 1)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _varints(packed: bytes) -> list[int]:
    numbers, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value, shift = 0, 0
    return numbers
