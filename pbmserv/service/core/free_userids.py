"""Userids that new players can have."""

from __future__ import annotations

import re
import secrets

from pbmserv.commands.grammar.word_forms import is_userid
from pbmserv.commands.reserved_userids import is_reserved
from pbmserv.service.core.context import CommandContext
from pbmserv.store.accounts import players


def is_reserved_userid(context: CommandContext, userid: str) -> bool:
    games = [
        name for game in context.services.registry for name in (game.info.key, game.info.title)
    ]
    return is_reserved(userid, games, context.services.mail_domain.address)


def is_free(context: CommandContext, name: str) -> bool:
    """Return whether a new player can have this userid."""
    return (
        is_userid(name)
        and not name.startswith("-")
        and not is_reserved_userid(context, name)
        and players.account_of(context.connection, name) is None
    )


def free_userid(context: CommandContext, wanted: str, address: str) -> str:
    """Return a free userid: the wanted one, else one made from an address."""
    own = re.sub(r"[^a-z0-9_-]", "", address.partition("@")[0].partition("+")[0].lower())[:15]
    names = [wanted, own, *(f"{own}-{number}" for number in range(2, 10))]
    names += [f"player-{secrets.randbelow(10**9)}" for _ in range(10)]
    return next(name for name in names if is_free(context, name))


def signup_example(context: CommandContext) -> str:
    """Return an example of a signup, with a free userid made from the sender's address."""
    return f"signup {free_userid(context, '', context.actor.address)} PASSWORD"
