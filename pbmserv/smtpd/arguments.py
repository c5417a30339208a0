"""Reads the arguments of MAIL and RCPT: a path and parameters (RFC 5321 section 4.1.2).

aiosmtpd uses a parser for header fields instead. It accepts open quotes, drops comments, and takes
longer than reading the text of a mail.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Excluded characters: to compile a class with most of Unicode in it takes 3 ms.
_NOT = r"\x00-\x1f\x7f-\x9f\ud800-\udfff"
_ATOM = rf'[^{_NOT} "(),:;<>@\[\\\]]+'  # any dots: some providers have addresses such as "a..b"
_QUOTED = rf'"(?:[^{_NOT}"\\]|\\[ -~])*"'
_LABEL = rf"[^{_NOT} -,./:-@\[-^`{{-~]+"
_DOMAIN = rf"@(?:{_LABEL}(?:\.{_LABEL})*|\[[!-Z^-~]+\])"
_PATH = re.compile(
    rf"(?P<open><)?(?:{_DOMAIN}(?:,{_DOMAIN})*:)?"
    rf"(?:(?P<local>{_ATOM}|{_QUOTED})(?P<domain>{_DOMAIN})?)?"
    r"(?(open)>)(?P<rest>(?: .*)?)"
)
"""A path and its parameters (RFC 5321 section 4.1.2, RFC 6531 section 3.3); also without brackets,
as people type it. A route before it is ignored (appendix C)."""
_UNQUOTED = re.compile(rf'"({_ATOM})"')

NULL_SENDER = "<>"

HARMLESS = {
    # AUTH: RFC 4954 section 5. RET, ENVID: RFC 3461. MT-PRIORITY: RFC 6710.
    "MAIL": re.compile(
        r"AUTH=\S{1,500}|RET=(?:FULL|HDRS)|ENVID=\S{1,100}|MT-PRIORITY=-?[0-9]", re.IGNORECASE
    ),
    "RCPT": re.compile(
        r"ORCPT=[!-:<-~]{1,60};\S{1,500}|NOTIFY=(?:NEVER|(?:SUCCESS|FAILURE|DELAY)"
        r"(?:,(?:SUCCESS|FAILURE|DELAY)){0,2})",
        re.IGNORECASE,
    ),
}
"""Parameters that can be ignored by a server that relays no mail and sends no delivery reports.
Other servers send them although EHLO does not offer them; see decision 0030."""
LONGEST_COMMAND = 512 + 1_100
"""Octets of MAIL and RCPT: RFC 5321 section 4.5.3.1.4, and parameters (RFC 3461 section 4, RFC 4954
section 3)."""


class CommandRefused(Exception):
    """A command with wrong arguments.

    Attributes:
        reply: the SMTP reply.
    """

    def __init__(self, reply: str) -> None:
        super().__init__(reply)
        self.reply = reply


def read_sender(text: str | None, *, extended: bool, largest: int) -> str:
    """Read the arguments of MAIL; return the address, `NULL_SENDER` for the null sender.

    Args:
        text: the text after the verb; `None` for none.
        extended: the client said EHLO, so it may send parameters.
        largest: octets of the largest mail that is accepted.

    Raises:
        CommandRefused: the arguments are malformed, a parameter is unknown, or it announces a mail
            that is too large.
    """
    address, parameters = _read("MAIL", "FROM:", text, extended=extended)
    _check_mail_parameters(parameters, largest)
    return address


def read_recipient(text: str | None, *, extended: bool) -> str:
    """Read the arguments of RCPT, which are those of `read_sender`; return the address.

    Raises:
        CommandRefused: the arguments are malformed, or there is a parameter.
    """
    address, parameters = _read("RCPT", "TO:", text, extended=extended)
    if parameters:
        raise CommandRefused(_UNKNOWN_PARAMETER)
    return address


_UNKNOWN_PARAMETER = "555 5.5.4 this parameter is not known here"


def _read(
    verb: str, keyword: str, text: str | None, *, extended: bool
) -> tuple[str, Mapping[str, str | None]]:
    """Return the address in the arguments of a command, and its parameters without harmless ones.

    Parameters are in upper case; the value is `None` for one without a value.
    """
    usage = f"501 5.5.4 Syntax: {verb} {keyword}<address>"
    if text is None or text[: len(keyword)].upper() != keyword:
        raise CommandRefused(usage)
    path = _PATH.fullmatch(text[len(keyword) :].strip())
    if path is None:
        raise CommandRefused("553 5.1.3 this is not an address")
    options = [option for option in path["rest"].split(" ") if option]
    if options and not extended:
        raise CommandRefused(usage)
    parameters: dict[str, str | None] = {}
    for option in options:
        if HARMLESS[verb].fullmatch(option):
            continue
        name, sign, value = option.upper().partition("=")
        # Other alphabets have digits that are not numbers.
        if not option.isascii() or not name.isalnum() or (sign and not value):
            raise CommandRefused(usage)
        parameters[name] = value if sign else None
    return _address(path), parameters


def _address(path: re.Match[str]) -> str:
    """Return the address in a path.

    Raises:
        CommandRefused: there is none.
    """
    local, domain = path["local"] or "", path["domain"] or ""
    if path.group().startswith(NULL_SENDER):
        return NULL_SENDER
    # A name without a domain may be one of the client's own machine, such as <root>.
    if not local or (local[0] == '"' and not domain):
        raise CommandRefused("553 5.1.3 this is not an address")
    if plain := _UNQUOTED.fullmatch(local):  # unnecessary quotes have no meaning (4.1.2)
        local = plain[1]
    return local + domain


def _check_mail_parameters(parameters: Mapping[str, str | None], largest: int) -> None:
    for name, value in parameters.items():
        if name == "BODY":
            if value not in {"7BIT", "8BITMIME"}:
                raise CommandRefused("501 5.5.4 BODY can be 7BIT or 8BITMIME")
        elif name == "SMTPUTF8":
            if value is not None:
                raise CommandRefused("501 5.5.4 SMTPUTF8 has no value")
        elif name == "SIZE":
            if value is None or not value.isdigit():
                raise CommandRefused("501 5.5.4 SIZE is a number of octets")
            if int(value[:20]) > largest:
                raise CommandRefused("552 5.3.4 this mail is too large")
        else:
            raise CommandRefused(_UNKNOWN_PARAMETER)
