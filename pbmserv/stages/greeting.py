"""The text that a server prints when it is ready."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from pbmserv import __version__
from pbmserv.config.display import text_of
from pbmserv.config.listen import public_url
from pbmserv.config.settings import Settings
from pbmserv.outbound.relay_url import read_relay_url
from pbmserv.stages.stage_names import STAGES


def greeting(settings: Settings, mailbox: str = "", stages: Sequence[str] = STAGES) -> str:
    """Return the text, whose commands work unchanged in the folder of the start.

    Args:
        settings: with the ports that were bound.
        mailbox: address of the mailbox's first page; ``""`` if there is none.
        stages: the stages that run in this server.
    """
    is_whole = set(stages) == set(STAGES)
    lines = [f"pbmserv {__version__}: play by mail", "", *_facts(settings, stages), ""]
    if mailbox:
        lines += [
            "Open this address in a browser, take two names, and play a first game:",
            "",
            f"  {mailbox}",
            "",
        ]
    elif is_whole and settings.signup != "closed" and _is_for_one_machine(settings):
        lines += _first_game(settings)
    lines += ["Ctrl-C stops the server; nothing is lost.", ""]
    return "\n".join(lines) + "\n"


def _facts(settings: Settings, stages: Sequence[str]) -> list[str]:
    """Return lines about the ports, the database and the address."""
    lines = []
    if set(stages) != set(STAGES):
        lines.append(f"  stages     {', '.join(stages)}")
    if "door" in stages:
        lines.append(f"  mail in    {_listener('SMTP', settings.smtp)}")
        if settings.smtps is not None:
            lines.append(f"             {_listener('SMTP with TLS', settings.smtps)}")
        if settings.lmtp is not None:
            lines.append(f"             {_listener('LMTP', settings.lmtp)}")
    if "post" in stages:
        lines.append(f"  mail out   {text_of(settings.relay)}")
    if "web" in stages:
        lines += _pages(settings, stages)
    return [
        *lines,
        f"  database   {text_of(settings.database)}",
        f"  address    {settings.address}",
    ]


def _is_for_one_machine(settings: Settings) -> bool:
    """Return whether mails can be sent and letters be read by commands on this machine."""
    return settings.smtp is not None and read_relay_url(settings.relay).scheme == "maildir"


def _first_game(settings: Settings) -> list[str]:
    """Return the commands of a first game between two players."""
    domain = settings.address.rpartition("@")[2]
    ada, ben, run = f"ada@{domain}", f"ben@{domain}", program()

    def yes_of(address: str) -> list[str]:
        return [f"send --from {address} --reply yes"] if settings.signup == "confirm" else []

    commands = [
        f'send --from {ada} --subject "signup ada wonder-land"',
        f"read {ada}",
        *yes_of(ada),
        f'send --from {ben} --subject "signup ben the-builder"',
        *yes_of(ben),
        f'send --from {ada} --subject "blackbox challenge ada ben"',
        f"read {ben}",
        f'send --from {ben} --reply "b3,d3,f1,e6"',
        f'send --from {ada} --reply "a1,c4,e5,g2"',
        f"read {ada}",
    ]
    return [
        "A first game, from a second terminal in this folder (paste it whole if you like):",
        "",
        *(f"  {run} {command}" for command in commands),
        "",
        "From then on each of them reads and replies in turn.",
    ]


def _pages(settings: Settings, stages: Sequence[str]) -> list[str]:
    lines = [f"  pages      {settings.web_url if settings.web else 'off'}"]
    if "door" not in stages:
        lines.append("  moves      need a door beside these pages: pbmserv serve --only door")
    return lines + _operators(settings)


def _operators(settings: Settings) -> list[str]:
    """Return the line with the address of the operators' pages, if there are any."""
    if settings.operator_pages is None:
        return []
    return [f"  operators  {settings.operator_url or public_url(settings.operator_pages)}/"]


def program() -> str:
    """Return the words that start this program again: its name if the shell finds it, else its
    path."""
    name = Path(sys.argv[0]).name
    if name != "pbmserv":
        return f"{_relative(Path(sys.executable))} -m pbmserv"
    path = shutil.which(name)
    if path and Path(path).resolve() == Path(sys.argv[0]).resolve():
        return name
    return _relative(Path(sys.argv[0]))


def _relative(path: Path) -> str:
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)
    return str(path) if relative.startswith("..") else relative


def _listener(kind: str, listen: object) -> str:
    return f"{kind} {listen}" if listen else f"{kind} off"
