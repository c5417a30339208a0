"""Accounts and what their owners prefer: the commands, and their rows."""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.model import Command, Secret, Speaking, Yes
from pbmserv.commands.table.row_types import (
    LINES,
    PASSWORD,
    REPLIES,
    USERID,
    Kind,
    Parameter,
    Row,
    Scope,
    Trait,
)

SECTION = "Your account"


@dataclass(frozen=True, slots=True)
class Signup(Command):
    """``signup userid password [address…]`` (also ``add``)."""

    userid: str
    password: Secret
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangePassword(Speaking):
    """``change password userid old new``; in a reset reply ``password NEW``: who is None."""

    new: Secret


@dataclass(frozen=True, slots=True)
class ChangeAddress(Speaking):
    """``change address userid password address…``: from now on these, once they are confirmed."""

    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forgot(Command):
    """``forgot userid``; "" = whoever the mail itself shows to write."""

    userid: str


@dataclass(frozen=True, slots=True)
class WhoAmI(Speaking):
    """``whoami [userid password]``: what the server knows of who writes."""


@dataclass(frozen=True, slots=True)
class Prefs(Speaking):
    """``prefs userid password name=value…``; without settings it tells the present ones."""

    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Away(Speaking):
    """``away userid password until DATE``.

    Attributes:
        until: the last day as it was written; "" = none was.
        begins: the first day, if one was written.
    """

    until: str
    begins: str = ""


@dataclass(frozen=True, slots=True)
class Back(Speaking):
    """``back userid password``: an absence ends now."""


@dataclass(frozen=True, slots=True)
class Export(Speaking):
    """``export userid password``: all data kept on the player, as an attachment."""


@dataclass(frozen=True, slots=True)
class SignOff(Speaking):
    """``signoff userid password``: no more mail; a letter asks first."""


@dataclass(frozen=True, slots=True)
class Delete(Speaking):
    """``delete userid password``: all personal data goes; a letter asks first."""


ACCOUNTS: tuple[Row, ...] = (
    Row(
        names=("signup", "add", "register", "sign up", "sign-up"),
        newcomers=("newplayer", "newuser", "join", "enroll", "enrol"),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(
            Parameter("userid", Kind.NEW_USERID),
            Parameter("password", Kind.NEW_PASSWORD),
            Parameter("[address...]", Kind.ADDRESSES),
        ),
        asks=Signup,
        make=lambda t: Signup(t.userid, t.new, t.addresses),
        summary="become a player",
        example="signup alice PASSWORD alice@example.org",
        places=LINES,
    ),
    Row(
        names=("change password", "changepassword", "change-password", "password", "passwd"),
        synonyms=("change passwort",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(
            USERID,
            Parameter("old", Kind.PASSWORD),
            Parameter("new", Kind.NEW_PASSWORD),
        ),
        asks=ChangePassword,
        summary="choose another password",
        example="change password alice PASSWORD NEWPASSWORD",
        places=LINES,
        shares_page="password",
    ),
    Row(
        names=("password",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(Parameter("new", Kind.NEW_PASSWORD),),
        asks=ChangePassword,
        summary="in reply to the letter that 'forgot' brought: the new password",
        example="password NEWPASSWORD",
        places=REPLIES,
    ),
    Row(
        names=("change address", "changeaddress", "change-address"),
        synonyms=("change email", "change mail"),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD, Parameter("address...", Kind.NEW_ADDRESSES)),
        asks=ChangeAddress,
        summary="have your letters sent to another address",
        example="change address alice PASSWORD alice@example.org",
        shares_page="address",
    ),
    Row(
        names=("forgot", "forgot password"),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID,),
        asks=Forgot,
        summary="get a letter with which to choose a new password",
        example="forgot alice",
        places=LINES,
    ),
    Row(
        names=("yes", "ok", "confirm"),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(),
        asks=Yes,
        summary="in reply to a letter that asks: confirm what it asks",
        example="yes",
        places=REPLIES,
        traits=Trait.TALK,
    ),
    Row(
        names=("whoami", "who-am-i"),
        synonyms=("whoiam",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(Parameter("[userid", Kind.USERID), Parameter("password]", Kind.PASSWORD)),
        asks=WhoAmI,
        summary="what the server knows of you, and what proves who you are",
        example="whoami",
        traits=Trait.BARE | Trait.LOOKS,
    ),
    Row(
        names=("prefs", "preferences", "settings"),
        synonyms=("pref", "preference"),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD, Parameter("[name=value...]", Kind.SETTINGS)),
        asks=Prefs,
        summary="how you want your letters, reminders and challenges",
        example="prefs alice PASSWORD digest=daily@07:30",
    ),
    Row(
        names=("away",),
        synonyms=("vacation",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD, Parameter("until DATE", Kind.DATE)),
        asks=Away,
        summary="no reminders and no lost games until a day of your choice",
        example="away alice PASSWORD until friday",
    ),
    Row(
        names=("back",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD),
        asks=Back,
        summary="your absence ends now; or you come back after 'signoff'",
        example="back alice PASSWORD",
        traits=Trait.ENGLISH | Trait.TALK,
    ),
    Row(
        names=("export",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD),
        asks=Export,
        summary="get all data that is kept about you, as an attachment",
        example="export alice PASSWORD",
        traits=Trait.ALONE,
    ),
    Row(
        names=("signoff", "sign off", "sign-off"),
        newcomers=("stop", "leave", "remove", "unregister"),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD),
        asks=SignOff,
        summary="leave: running games are given up, no more mail comes",
        example="signoff alice PASSWORD",
        traits=Trait.ALONE | Trait.FINAL,
    ),
    Row(
        names=("delete",),
        section=SECTION,
        scope=Scope.SERVER,
        parameters=(USERID, PASSWORD),
        asks=Delete,
        summary="leave, and have all your personal data removed",
        example="delete alice PASSWORD",
        traits=Trait.ALONE | Trait.FINAL,
    ),
)
