"""The keys of the server, and the tokens that they sign for reply addresses.

A token is base32 in lower case, which survives the case folding of mail programs and servers (RFC
5321 section 2.4 makes local parts case-sensitive, but few programs comply), and fits the 64 octets
of RFC 5321 section 4.5.3.1.1. It holds the id of a key, the purpose, four small numbers and 80 bits
of HMAC-SHA-256.

Readers can decode a token. They know the numbers of boards and players anyway, but the numbers of
letters would tell how many letters the server sends, so these are enciphered.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from pbmserv.mail.reply_address import Purpose, ReplyAddress

MAC_BYTES = 10
LONGEST_LOCAL = 64
"""Octets of a local part, and so the most of a token."""

_TOKEN = re.compile(r"[a-z2-7]+")
_MAYBE_TOKEN = re.compile(r"[a-z2-7]{20,}", re.IGNORECASE)
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_PAIRS = [first + second for first in _LETTERS for second in _LETTERS]
"""Base32 in lower case without padding, for two letters at a time."""
_DIGITS = str.maketrans(_LETTERS, "0123456789abcdefghijklmnopqrstuv")

_SEALED = 0x80
"""Flag in the octet of the purpose: `about` is enciphered. Old addresses lack it and stay valid."""
_HALF = 21
"""Bits of half the number of a letter; numbers go up to four million million."""
_LOW = (1 << _HALF) - 1
_ROUNDS = 8

_OF_A_LETTER = frozenset({Purpose.TRAY, Purpose.UNSUBSCRIBE, Purpose.BROADCAST, Purpose.BOUNCE}) | {
    *(Purpose.INVITED, Purpose.UNINVITED)  # nor can invitations be counted
}
"""Purposes whose tokens hide the number of a letter or invitation."""


@dataclass(slots=True)
class KeyRing:
    """Signing keys by id. The highest id signs, all keys verify, so keys can be rotated.

    `keys` and `retired` may be replaced as a whole, but not changed, while other threads use them.

    Attributes:
        retired: keys that verify no address. Hashes of addresses are still compared with theirs.
    """

    keys: Mapping[int, bytes] = field(repr=False)
    retired: Mapping[int, bytes] = field(default_factory=dict, repr=False)

    def token(self, reply_address: ReplyAddress) -> str:
        """Return the signed token of a reply address."""
        key_id, key = max(self.keys.items())
        purpose, about = reply_address.purpose, reply_address.about
        purpose_octet = int(purpose)
        if purpose in _OF_A_LETTER:
            assert about >> 2 * _HALF == 0
            about = _encipher(_cipher(key, purpose), about)
            purpose_octet |= _SEALED
        body = bytearray((key_id, purpose_octet))
        for value in (reply_address.player, about, reply_address.number, reply_address.epoch):
            rest = value  # in LEB128
            while rest > 0x7F:
                body.append(rest & 0x7F | 0x80)
                rest >>= 7
            body.append(rest)
        packed = body + mac_of(key, body)
        bits = 8 * len(packed)
        spare = -bits % 10
        spelled = int.from_bytes(packed) << spare
        pairs = [_PAIRS[spelled >> at & 0x3FF] for at in range(bits + spare - 10, -1, -10)]
        return "".join(pairs)[: (bits + 4) // 5]

    def read(self, token: str) -> ReplyAddress | None:
        """Return the contents of a token, in any letter case; `None` if it is not genuine."""
        return _read(tuple(self.keys.items()), token.lower())

    def read_retired(self, token: str) -> ReplyAddress | None:
        """Return the contents of a token that a retired key has signed; `None` for any other."""
        return _read(tuple(self.retired.items()), token.lower())

    def tokens_in(self, letters: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each genuine token in a text of base32 letters.

        The beginning of a token tells its length, so there is one candidate for each place.
        """
        keys = tuple(self.keys.items())
        beginnings = "|".join(_beginning(key_id) for key_id in self.keys)
        for match in re.finditer(f"(?=(?:{beginnings}))", letters):
            start = match.start()
            end = start + _length_of(letters[start : start + LONGEST_LOCAL])
            if end > start and _read.__wrapped__(keys, letters[start:end]) is not None:
                yield start, end

    def secret(self, use: str, number: int | None = None) -> tuple[int, bytes]:
        """Return the id of a key, and a secret of 32 octets that is derived from it for one use.

        Args:
            number: the key's id; `None` for the key that signs.

        Raises:
            KeyError: there is no such key, or no longer.
        """
        key_id = max(self.keys) if number is None else number
        return key_id, hmac.digest(self.keys[key_id], b"secret\0" + use.encode(), "sha256")

    def marks(self, address: str) -> list[str]:
        """Return hashes by which an address can be recognised, that of the newest key first.

        Without the keys, a reader of the database cannot try addresses.
        """
        text = b"address\0" + address.encode("utf-8", "surrogatepass")
        by_id = {**self.retired, **self.keys}
        keys = [by_id[number] for number in sorted(by_id, reverse=True)]
        return [hmac.digest(key, text, "sha256").hex() for key in keys]


def blank_tokens(text: str) -> str:
    """Return a text with ``***`` for everything that may be a token."""
    return _MAYBE_TOKEN.sub("***", text)


def mailbox_secret(ring: KeyRing) -> str:
    """Return the secret path component that protects the local mailbox."""
    return base64.b32encode(ring.secret("mailbox")[1][:20]).decode("ascii").lower()


def _beginning(key_id: int) -> str:
    """Return a pattern for the first three letters of tokens that a key signs.

    They hold the key's eight bits, the bit `_SEALED`, and three bits of which two are 0.
    """
    first, rest = _LETTERS[key_id >> 3], (key_id & 7) << 2
    return f"{first}[{_LETTERS[rest]}{_LETTERS[rest | 2]}][a-p]"


def _length_of(letters: str) -> int:
    """Return the length of the token at the beginning of a text; 0 if it does not end there."""
    bits = len(letters) * 5
    octets = (int(letters.translate(_DIGITS), 32) >> bits % 8).to_bytes(bits // 8, "big")
    numbers = 0
    for at, octet in enumerate(octets[2:], 3):
        numbers += octet < 0x80
        if numbers == 4:
            length = (8 * (at + MAC_BYTES) + 4) // 5
            return length if length <= len(letters) else 0
    return 0


@lru_cache(maxsize=256)  # RCPT, DATA and play read the same token
def _read(keys: tuple[tuple[int, bytes], ...], token: str) -> ReplyAddress | None:
    """Return the contents of a token in lower case; `None` if none of these keys has signed it."""
    # Base32. The spare bits of the last letter must be 0, so that there is only one spelling (RFC
    # 4648 section 3.5).
    if not _TOKEN.fullmatch(token):
        return None
    spare = len(token) * 5 % 8
    spelled = int(token.translate(_DIGITS), 32)
    if spare >= 5 or spelled & ((1 << spare) - 1):
        return None
    packed = (spelled >> spare).to_bytes(len(token) * 5 // 8, "big")
    body, mac = packed[:-MAC_BYTES], packed[-MAC_BYTES:]
    key = dict(keys).get(body[0]) if len(body) >= 6 else None
    if key is None or not hmac.compare_digest(mac, mac_of(key, body)):
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
        numbers[1] = _decipher(_cipher(key, purpose), numbers[1])
    return ReplyAddress(purpose, *numbers) if len(numbers) == 4 else None


@lru_cache(maxsize=64)
def _cipher(key: bytes, purpose: Purpose) -> hmac.HMAC:
    """Return the keyed hash that enciphers numbers of letters; each purpose has its own.

    It is copied for each use, which takes half of the time of a new one.
    """
    own_key = hmac.digest(key, b"letter-number\0" + bytes((purpose,)), "sha256")
    return hmac.new(own_key, digestmod="sha256")


def mac_of(key: bytes, body: bytes | bytearray) -> bytes:
    """Return the signature of a token: HMAC-SHA-256, truncated."""
    return hmac.digest(key, b"reply-address\0" + body, "sha256")[:MAC_BYTES]


def _encipher(cipher: hmac.HMAC, number: int) -> int:
    """Encipher a number below 2**42: a Feistel network on HMAC-SHA-256."""
    return _feistel(cipher, number, range(_ROUNDS))


def _decipher(cipher: hmac.HMAC, number: int) -> int:
    """Undo `_encipher`: the rounds in reverse order, with the halves exchanged."""
    return _swapped(_feistel(cipher, _swapped(number), reversed(range(_ROUNDS))))


def _feistel(cipher: hmac.HMAC, number: int, rounds: Iterable[int]) -> int:
    left, right = number >> _HALF, number & _LOW
    for turn in rounds:
        mixed = cipher.copy()
        mixed.update(bytes((turn,)) + right.to_bytes(3))
        left, right = right, left ^ (int.from_bytes(mixed.digest()[:3]) & _LOW)
    return left << _HALF | right


def _swapped(number: int) -> int:
    return (number & _LOW) << _HALF | number >> _HALF
