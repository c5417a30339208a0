"""Commands about accounts and preferences, and their rows."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.command_types import Command, Secret, Speaking, Yes
from pbmserv.commands.table.row_types import (
    LINES,
    REPLIES,
    USERID,
    Kind,
    Parameter,
    Trait,
)
from pbmserv.commands.table.shapes import ABOUT_MYSELF, ON_SERVER, in_section

SECTION = "Your account"


@dataclass(frozen=True, slots=True)
class Signup(Command):
    """``signup userid password [address…]``"""

    userid: str
    new: Secret
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangePassword(Speaking):
    """``change password userid old new``

    In reply to a letter that resets the password, `credentials` is `None`: ``password NEW``.
    """

    new: Secret


@dataclass(frozen=True, slots=True)
class ChangeAddress(Speaking):
    """``change address userid password address…``

    The new addresses replace the old ones when they are confirmed.
    """

    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forgot(Command):
    """``forgot userid``; the userid is ``""`` if the mail itself shows who writes."""

    userid: str


@dataclass(frozen=True, slots=True)
class WhoAmI(Speaking):
    """``whoami [userid password]``: show how the server knows the sender."""


@dataclass(frozen=True, slots=True)
class Prefs(Speaking):
    """``prefs userid password name=value…``; without settings, list the present ones."""

    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Away(Speaking):
    """``away userid password until DATE``.

    Attributes:
        until: the last day as written, ``""`` if the line has none.
        begins: the first day as written, ``""`` if the line has none.
    """

    until: str
    begins: str = ""


@dataclass(frozen=True, slots=True)
class Back(Speaking):
    """``back userid password``: end an absence."""


@dataclass(frozen=True, slots=True)
class Export(Speaking):
    """``export userid password``: send all data about the player as an attachment."""


@dataclass(frozen=True, slots=True)
class SignOff(Speaking):
    """``signoff userid password``: stop all mail, after a letter has asked for confirmation."""


@dataclass(frozen=True, slots=True)
class Delete(Speaking):
    """``delete userid password``: remove all personal data, after a letter has asked."""


ACCOUNTS = in_section(
    SECTION,
    ON_SERVER.row(
        "signup",
        Signup,
        "become a player",
        more=(
            Parameter("userid", Kind.NEW_USERID),
            Parameter("password", Kind.NEW_PASSWORD),
            Parameter("[address...]", Kind.ADDRESSES),
        ),
        example="alice PASSWORD alice@example.org",
        also=("add", "register", "sign up", "sign-up"),
        newcomers=("newplayer", "newuser", "join", "enroll", "enrol"),
        places=LINES,
    ),
    ON_SERVER.row(
        "change password",
        ChangePassword,
        "choose another password",
        more=(USERID, Parameter("old", Kind.PASSWORD), Parameter("new", Kind.NEW_PASSWORD)),
        example="alice PASSWORD NEWPASSWORD",
        also=("changepassword", "change-password", "password", "passwd"),
        synonyms=("change passwort",),
        places=LINES,
        shares_page="password",
    ),
    ON_SERVER.row(
        "password",
        ChangePassword,
        "in reply to the letter of 'forgot': the new password",
        more=(Parameter("new", Kind.NEW_PASSWORD),),
        example="NEWPASSWORD",
        places=REPLIES,
    ),
    ABOUT_MYSELF.row(
        "change address",
        ChangeAddress,
        "have your letters sent to another address",
        more=(Parameter("address...", Kind.ADDRESSES, "ADDRESS"),),
        example="alice@example.org",
        also=("changeaddress", "change-address"),
        synonyms=("change email", "change mail"),
        shares_page="address",
    ),
    ON_SERVER.row(
        "forgot",
        Forgot,
        "get a letter with which to choose a new password",
        more=(USERID,),
        example="alice",
        also=("forgot password",),
        places=LINES,
    ),
    ON_SERVER.row(
        "yes",
        Yes,
        "in reply to a letter that asks: confirm what it asks",
        also=("ok", "confirm"),
        places=REPLIES,
        traits=Trait.TALK,
    ),
    ON_SERVER.row(
        "whoami",
        WhoAmI,
        "what the server knows about you, and what proves who you are",
        more=(Parameter("[userid", Kind.USERID), Parameter("password]", Kind.PASSWORD)),
        also=("who-am-i",),
        synonyms=("whoiam",),
        traits=Trait.BARE | Trait.LOOKS,
    ),
    ABOUT_MYSELF.row(
        "prefs",
        Prefs,
        "how you want your letters, reminders and challenges",
        more=(Parameter("[name=value...]", Kind.SETTINGS),),
        example="digest=daily@07:30",
        also=("preferences", "settings"),
        synonyms=("pref", "preference"),
    ),
    ABOUT_MYSELF.row(
        "away",
        Away,
        "no reminders and no lost games until a day of your choice",
        more=(Parameter("until DATE", Kind.DATE),),
        example="until friday",
        synonyms=("vacation",),
    ),
    ABOUT_MYSELF.row(
        "back",
        Back,
        "your absence ends now; or you come back after 'signoff'",
        traits=Trait.ENGLISH | Trait.TALK,
    ),
    ABOUT_MYSELF.row(
        "export",
        Export,
        "get all data that is kept about you, as an attachment",
        traits=Trait.ALONE,
    ),
    ABOUT_MYSELF.row(
        "signoff",
        SignOff,
        "leave: running games are given up, no more mail comes",
        also=("sign off", "sign-off"),
        newcomers=("stop", "leave", "remove", "unregister"),
        traits=Trait.ALONE | Trait.FINAL,
    ),
    ABOUT_MYSELF.row(
        "delete",
        Delete,
        "leave, and have all your personal data removed",
        traits=Trait.ALONE | Trait.FINAL,
    ),
)
