"""The keys of the server, and the tokens that they sign for reply addresses.

A token is base32 in lower case, which survives the case folding of mail programs and servers (RFC
5321 section 2.4 makes local parts case-sensitive, but few programs comply), and fits the 64 octets
of RFC 5321 section 4.5.3.1.1. It holds the id of a key, the purpose, four small numbers and 80 bits
of HMAC-SHA-256.

Readers can decode a token. They know the numbers of boards and players anyway, but the numbers of
letters would tell how many letters the server sends. So they are XORed with a mask, which a key
makes of the token's HMAC (as with a synthetic initialization vector, RFC 5297).
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pbmserv.mail.reply_address import Purpose, ReplyAddress

MAC_BYTES = 10
LONGEST_LOCAL = 64
"""Octets of a local part, and so the most of a token."""

_MAYBE_TOKEN = re.compile(r"[a-z2-7]{20,}", re.IGNORECASE)
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
"""Base32 in lower case."""

_NUMBER_BITS = 42
"""Bits of the number of a letter, so these go up to four million million."""

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
        return _token_of(key_id, key, reply_address)

    def read(self, token: str) -> ReplyAddress | None:
        """Return the contents of a token, in any letter case; `None` if it is not genuine."""
        return _contents(token, self.keys)

    def read_retired(self, token: str) -> ReplyAddress | None:
        """Return the contents of a token that a retired key has signed; `None` for any other."""
        return _contents(token, self.retired)

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
    return _spelled(ring.secret("mailbox")[1][:20])


def _spelled(octets: bytes) -> str:
    """Return octets in base32, in lower case and without padding."""
    return base64.b32encode(octets).decode("ascii").rstrip("=").lower()


def _octets_of(letters: str) -> bytes:
    """Return the octets of a text in base32; ``b""`` for any other text.

    The spare bits of the last letter are ignored (RFC 4648 section 3.5).
    """
    try:
        return base64.b32decode(letters + "=" * (-len(letters) % 8), casefold=True)
    except ValueError:
        return b""


def _beginning(key_id: int) -> str:
    """Return a pattern for the first three letters of tokens that a key signs.

    They hold the key's eight bits, and seven of the purpose, of which the first three are 0.
    """
    return f"{_LETTERS[key_id >> 3]}{_LETTERS[(key_id & 7) << 2]}[a-p]"


def _length_of(letters: str) -> int:
    """Return the length of the token at the beginning of a text; 0 if it does not end there."""
    octets = _octets_of(letters[: len(letters) // 8 * 8])  # the rest is of the signature
    numbers = 0
    for at, octet in enumerate(octets[2:], 3):
        numbers += octet < 0x80
        if numbers == 4:
            length = (8 * (at + MAC_BYTES) + 4) // 5
            return length if length <= len(letters) else 0
    return 0


def _contents(token: str, keys: Mapping[int, bytes]) -> ReplyAddress | None:
    if len(token) > LONGEST_LOCAL:  # strangers send anything
        return None
    return _read(tuple(keys.items()), token.lower())


@lru_cache(maxsize=256)  # RCPT, DATA and play read the same token
def _read(keys: tuple[tuple[int, bytes], ...], token: str) -> ReplyAddress | None:
    """Return the contents of a token in lower case; `None` if none of these keys has signed it."""
    octets = _octets_of(token)
    key_id, mac = octets[:1], octets[-MAC_BYTES:]
    key = dict(keys).get(key_id[0]) if len(octets) >= MAC_BYTES + 6 else None
    numbers = _numbers_in(octets[2:-MAC_BYTES])
    if key is None or len(numbers) != 4:
        return None
    try:
        reply_address = ReplyAddress(Purpose(octets[1]), *numbers)
    except ValueError:  # signed by a newer version of this server
        return None
    if reply_address.purpose in _OF_A_LETTER:
        if reply_address.about >> _NUMBER_BITS:
            return None
        reply_address = _masked(reply_address, key, mac)
    genuine = _token_of(key_id[0], key, reply_address)
    return reply_address if hmac.compare_digest(genuine, token) else None


def _token_of(key_id: int, key: bytes, reply_address: ReplyAddress) -> str:
    mac = mac_of(key, _packed(key_id, reply_address))
    if reply_address.purpose in _OF_A_LETTER:
        assert reply_address.about >> _NUMBER_BITS == 0
        reply_address = _masked(reply_address, key, mac)
    return _spelled(_packed(key_id, reply_address) + mac)


def _packed(key_id: int, reply_address: ReplyAddress) -> bytes:
    """Return the octets of a token without its signature; numbers are in LEB128."""
    body = bytearray((key_id, reply_address.purpose))
    own = reply_address
    for number in (own.player, own.about, own.number, own.epoch):
        rest = number
        while rest > 0x7F:
            body.append(rest & 0x7F | 0x80)
            rest >>= 7
        body.append(rest)
    return bytes(body)


def _numbers_in(octets: bytes) -> list[int]:
    """Return the numbers that are written in LEB128."""
    numbers, value, shift = [], 0, 0
    for octet in octets:
        value |= (octet & 0x7F) << shift
        shift += 7
        if octet < 0x80:
            numbers.append(value)
            value, shift = 0, 0
    return numbers


def _masked(reply_address: ReplyAddress, key: bytes, mac: bytes) -> ReplyAddress:
    """Hide the number of a letter, or undo that.

    Two numbers have different signatures, and so unrelated masks.
    """
    mask = hmac.digest(key, b"letter-number\0" + mac, "sha256")
    shown = reply_address.about ^ int.from_bytes(mask) >> len(mask) * 8 - _NUMBER_BITS
    return replace(reply_address, about=shown)


def mac_of(key: bytes, body: bytes | bytearray) -> bytes:
    """Return the signature of a token: HMAC-SHA-256, truncated."""
    return hmac.digest(key, b"reply-address\0" + body, "sha256")[:MAC_BYTES]
