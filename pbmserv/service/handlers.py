"""The functions that carry out commands, by the type of the command."""

from __future__ import annotations

from pbmserv.commands.table.accounts import (
    Away,
    Back,
    ChangeAddress,
    ChangePassword,
    Delete,
    Export,
    Forgot,
    Prefs,
    SignOff,
    Signup,
    WhoAmI,
)
from pbmserv.commands.table.events import (
    EventByGame,
    EventByNumber,
    Events,
    OneTeam,
    TeamChat,
    Teams,
)
from pbmserv.commands.table.ladder import (
    ChallengeOnLadder,
    JoinLadder,
    LeaveLadder,
    ShowLadder,
)
from pbmserv.commands.table.looking import (
    Follow,
    Friends,
    Games,
    Help,
    History,
    ListGames,
    Ratings,
    Record,
    Report,
    Scores,
    Show,
    ShowAs,
    Standings,
    Week,
)
from pbmserv.commands.table.model import ReplyMove
from pbmserv.commands.table.playing import (
    Broadcast,
    Chat,
    Check,
    Claim,
    ConfirmMove,
    Give,
    Hint,
    Load,
    MakeMove,
    Message,
    Practise,
    Preview,
    Queue,
    Resign,
    Save,
    Solve,
    Submit,
    TakeNote,
    Undo,
)
from pbmserv.commands.table.starting import Accept, Challenge, Daily, Reject, Rematch, Replay, Seek
from pbmserv.service.accounts import absences, account, leaving, messages, preferences
from pbmserv.service.boards import (
    challenges,
    followers,
    moves,
    notes,
    opponents,
    plies,
    queries,
    queued_moves,
    records,
    reports,
    seeking,
    silent_opponents,
)
from pbmserv.service.core.handler import Handlers
from pbmserv.service.events import event_commands, team_commands
from pbmserv.service.ladder import ladder
from pbmserv.service.ratings import tables as rating_tables
from pbmserv.service.solo import daily_box, races, saved_games, scores

HANDLERS: Handlers = {
    ReplyMove: moves.reply_move,
    Help: queries.help_on,
    ListGames: queries.list_games,
    Signup: account.signup,
    ChangePassword: account.change_password,
    ChangeAddress: account.change_address,
    Forgot: account.forgot,
    WhoAmI: leaving.whoami,
    Prefs: preferences.prefs,
    Away: absences.away,
    Back: absences.back,
    Export: leaving.export,
    SignOff: leaving.sign_off,
    Delete: leaving.delete,
    Challenge: challenges.challenge,
    Replay: races.replay,
    Daily: daily_box.daily,
    Accept: moves.accept,
    Reject: moves.reject,
    Seek: seeking.seek,
    Rematch: challenges.rematch,
    MakeMove: moves.make_move,
    Resign: moves.resign,
    Give: silent_opponents.give,
    Claim: silent_opponents.claim,
    Undo: plies.undo,
    Practise: races.practise,
    Save: saved_games.save,
    Load: saved_games.load,
    Solve: races.solve,
    Queue: queued_moves.queue,
    TakeNote: notes.take_note,
    Submit: queued_moves.submit,
    ConfirmMove: queued_moves.confirm,
    Preview: moves.preview,
    Check: moves.check,
    Hint: plies.hint,
    Chat: moves.chat,
    Message: messages.message,
    Broadcast: messages.broadcast,
    ShowLadder: ladder.show,
    JoinLadder: ladder.join,
    ChallengeOnLadder: ladder.challenge,
    LeaveLadder: ladder.leave,
    Show: queries.show,
    ShowAs: queries.show_as,
    Games: queries.games,
    Standings: rating_tables.standings,
    Ratings: rating_tables.explain,
    Scores: scores.show_scores,
    Week: daily_box.week,
    Friends: opponents.friends,
    History: queries.history,
    Record: records.record,
    Report: reports.report,
    Follow: followers.follow,
    EventByGame: event_commands.event_by_game,
    EventByNumber: event_commands.event_by_number,
    Events: event_commands.show_events,
    OneTeam: team_commands.one_team,
    TeamChat: team_commands.chat,
    Teams: team_commands.show_teams,
}
"""The handler of each command.

`Yes` and `TrayReply` have none, since their meaning depends on the answered letter
(`mails.reply_meanings`)."""
