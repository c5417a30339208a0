"""``pbmserv mails``: what a player or address sent, and what was answered."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.open_databases import opened, opened_mail_store
from pbmserv.cli.orders import Most, look
from pbmserv.cli.output import say, table
from pbmserv.cli.settings import ConfigFile, loaded

if TYPE_CHECKING:
    from pbmserv.service.operators.correspondence import Correspondent


def mails(
    name: Annotated[str, typer.Argument(metavar="PLAYER|ADDRESS", help="A userid or an address.")],
    most: Most = 20,
    config: ConfigFile = None,
) -> None:
    """Show what somebody sent, what was answered or refused, and where each letter is.

    It shows no text of mails and letters, only numbers, times, kinds and outcomes.

    Example: pbmserv mails alice

    Example: pbmserv mails alice@example.net --most 5
    """
    from pbmserv.service.operators.correspondence import read

    correspondence = look(config, partial(read, name=name, most=most))
    waiting = _waiting(loaded(config).settings.database, correspondence.person)
    for number, at in waiting:
        say(f"Arrival {number} of {at:%Y-%m-%d %H:%M} UTC waits to be carried out.")
    if correspondence.mails:
        table(
            ("mail", "when (UTC)", "to", "sender check", "outcome"),
            [
                (str(m.number), f"{m.at:%Y-%m-%d %H:%M}", m.to, m.proof, m.outcome)
                for m in correspondence.mails
            ],
            fixed=1,
        )
    elif not waiting:
        say(
            f"No mail of {correspondence.person.name} is known. If the server refused it at the "
            "door, only the log says so, and the sender's mail server has told the sender."
        )
    if correspondence.letters:
        say("")
        table(
            ("letter", "when (UTC)", "kind", "about", "mail", "where it is"),
            [
                (
                    str(letter.number),
                    f"{letter.at:%Y-%m-%d %H:%M}",
                    letter.kind,
                    letter.about,
                    letter.mail,
                    letter.place,
                )
                for letter in correspondence.letters
            ],
            fixed=1,
        )


def _waiting(database: str, person: Correspondent) -> Sequence[tuple[int, datetime]]:
    """Return the arrivals of a correspondent that are stored and not yet carried out."""
    from pbmserv.service.operators import correspondence

    with opened_mail_store(database) as mail, opened(database) as game:
        return () if mail is None else correspondence.waiting(mail, game, person)
