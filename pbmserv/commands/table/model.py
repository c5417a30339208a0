"""What a mail can ask for: one frozen dataclass for each command, and a mail's reading."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pbmserv.commands.table.account_commands import (
    Away,
    Back,
    Broadcast,
    ChangeAddress,
    ChangePassword,
    Delete,
    Export,
    Forgot,
    Message,
    Prefs,
    SignOff,
    Signup,
    Yes,
)
from pbmserv.commands.table.game_commands import (
    Accept,
    Challenge,
    Chat,
    ConfirmMove,
    Load,
    MakeMove,
    Practise,
    Queue,
    Reject,
    Rematch,
    Replay,
    ReplyMove,
    Resign,
    Save,
    Seek,
    Solve,
    Submit,
    TrayReply,
    Undo,
)
from pbmserv.commands.table.terms import (
    STRANGER,
    VOUCHED,
    BoardRef,
    Credentials,
    NotTried,
    Secret,
    Sender,
)
from pbmserv.commands.table.viewing_commands import (
    Check,
    Daily,
    Follow,
    Games,
    Help,
    History,
    ListGames,
    Preview,
    Ratings,
    Record,
    Scores,
    Show,
    ShowAs,
    Standings,
    Week,
)
from pbmserv.errors import PlayerError

__all__ = [
    "STRANGER",
    "VOUCHED",
    "Accept",
    "Away",
    "Back",
    "BoardRef",
    "Broadcast",
    "Challenge",
    "ChangeAddress",
    "ChangePassword",
    "Chat",
    "Check",
    "Command",
    "ConfirmMove",
    "Credentials",
    "Daily",
    "Delete",
    "Export",
    "Follow",
    "Forgot",
    "Games",
    "Help",
    "History",
    "Line",
    "ListGames",
    "Load",
    "MakeMove",
    "Message",
    "NotTried",
    "Practise",
    "Prefs",
    "Preview",
    "Queue",
    "Ratings",
    "Reading",
    "Record",
    "Reject",
    "Rematch",
    "Replay",
    "ReplyMove",
    "Resign",
    "Save",
    "Scores",
    "Secret",
    "Seek",
    "Sender",
    "Show",
    "ShowAs",
    "SignOff",
    "Signup",
    "Solve",
    "Standings",
    "Submit",
    "TrayReply",
    "Undo",
    "Week",
    "Yes",
]

Command = (
    Help
    | ListGames
    | Signup
    | ChangePassword
    | Forgot
    | Yes
    | Challenge
    | Accept
    | Reject
    | MakeMove
    | ReplyMove
    | Resign
    | Show
    | ShowAs
    | Games
    | Chat
    | Message
    | ChangeAddress
    | Prefs
    | Away
    | Back
    | SignOff
    | Delete
    | Export
    | Broadcast
    | Seek
    | Rematch
    | Queue
    | Submit
    | ConfirmMove
    | Preview
    | Undo
    | Solve
    | Practise
    | Replay
    | Scores
    | Save
    | Load
    | Daily
    | Week
    | Check
    | Standings
    | Ratings
    | History
    | Record
    | Follow
    | TrayReply
    | NotTried
)


@dataclass(frozen=True, slots=True)
class Line:
    """One command as it was read.

    Attributes:
        echo: what was read, in one line, every secret blanked as ``***``.
        asked: the command, or why it could not be read.
        unsaid: reads the line as one without a password, where it could be one; ``None``
            comes back if it makes no sense either. Only for mails whose sender is proven.
        proving: reads a challenge as one with the challenger's password behind the first userid;
            ``None`` comes back if it makes no sense so. Only the service knows which it is.
        again: reads a line that was refused once more, for somebody of whom more is known: what
            may be repeated, and which example is right, depends on that.
    """

    echo: str
    asked: Command | PlayerError
    unsaid: Callable[[], Line | None] | None = field(default=None, repr=False, compare=False)
    proving: Callable[[], Line | None] | None = field(default=None, repr=False, compare=False)
    again: Callable[[Sender], Line] | None = field(default=None, repr=False, compare=False)

    @property
    def who(self) -> Credentials | None:
        """Userid and password in it; ``None`` where the command has none, or was not read."""
        return getattr(self.asked, "who", None)


@dataclass(frozen=True, slots=True)
class Reading:
    """All that a mail asks for.

    Attributes:
        lines: commands in order; never empty (an empty mail reads as `Help`).
        words: text for the opponent(s): what stands below the commands, without
            quoted text and signature, at most 4,000 characters.
        multiple: the commands came from body lines, so the answer is one letter
            that echoes every line.
    """

    lines: tuple[Line, ...]
    words: str = ""
    multiple: bool = False
