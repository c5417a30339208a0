"""Recognises commands in plain words, such as "I give up" or "play against the computer".

A line means such a command only as a whole, apart from filler words such as "please" and, for some
commands, courtesies. "I give up coffee" is a message to an opponent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pbmserv.commands.grammar.courtesies import is_farewell, is_kind_word, is_praise
from pbmserv.commands.grammar.dates import first_and_last_day, is_date
from pbmserv.commands.grammar.examples import usual_game
from pbmserv.commands.grammar.game_names import GameTitles, game_in_front, game_in_sentence
from pbmserv.commands.grammar.word_forms import SETTINGS, setting_name
from pbmserv.commands.grammar.words import PREPOSITIONS, fold
from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY

LONGEST = 80
"""Characters of a line that may mean a command."""

_FILLER_WORDS = frozenset(
    ("please", "pls", "plz", "kindly", "now", "just", "ok", "okay", "well", "so", "sorry", "bitte")
) | {
    *("i", "im", "id", "ill", "am", "we", "you", "me", "us", "my", "mine", "our", "will", "do"),
    *("want", "wanna", "would", "like", "love", "can", "could", "may", "let", "lets", "going"),
    *("the", "a", "an", "to", "this", "that", "it", "is", "of", "have", "has", "get"),
    *("hi", "hello", "oops", "whoops"),
}
"""Words that do not change the meaning of a line."""

_MISHAPS = frozenset(
    ("oh", "no", "wait", "argh", "damn", "wrong", "mistake", "error", "typo", "misclick", "bad")
) | {"was", "were", "move", "last", "made", "not", "what", "meant", "mean", "didnt", "wasnt"}
"""Words of somebody who regrets a move: "oh no, that was not what I meant"."""

_REFUSALS = frozenset({"no", "not", "wait", "didnt", "wasnt"})
"""Of `_MISHAPS`, words that may take back what stands in front of them: "undo? no"."""

_BETWEEN_CLAUSES = re.compile(r"[.,;:!?\u2026]+\s*|\s+[-\u2013]+\s+")

_MAY_HAVE_COURTESIES = frozenset({"resign", "undo", "show"})
"""Commands that courtesies may surround: "oops, take it back", "I resign, well played"."""

_BETWEEN_WORDS = re.compile(r"[^\w@.=:+/-]+")

_COMMANDS: Mapping[str, str] = {
    words: command
    for command, ways in {
        "help tutorial": "help|hilfe|ayuda|aide|tutorial|how play|how begin|how start|start"
        "|getting started",
        "help rules": "rules|show rules|instructions|how works|spielregeln|regeln|reglas",
        "help": "commands|all commands|menu|options",
        "resign": "give up|giveup|surrender|concede|forfeit|stop game|end game|quit game|leave game"
        "|quit|abort game|cancel game|give up game|gebe auf|ich gebe auf|aufgeben|rindo|abandonne",
        "undo": "take back|undo move|undo last move|take back move|take back last move"
        "|take move back|take last move back",
        "show": "board|see board|see board again|show board|show board again|resend|resend board"
        "|send again|send board|send board again",
        "hint": "give hint|need hint|another hint|one hint|one more hint|tip|give tip|need tip",
        "rematch": "again|play again|another|another one|another game|another round|one more"
        "|one more game|play another|play another one|play another game|play one more"
        "|play once more|once more|go again|revanche|revancha|nochmal|noch mal|otra vez",
        "solo": "play alone|alone|play solo|solo game|by myself|play by myself|single player",
        "solo -practice": "practice|practise|practice game|play practice|training",
        "challenge house": "play house",
        "challenge usual": "challenge usual opponent|play usual opponent|play usual|usual opponent"
        "|play against usual opponent|play with usual opponent",
        "challenge computer": "play computer|play against computer"
        "|play with computer|play against machine|play against bot|play bot|play against server"
        "|challenge computer|challenge bot",
        "daily": "daily box|box day|todays box|today s box|daily puzzle|daily game|play daily box",
        "daily off": "stop daily|stop daily box|no daily box|no more daily box|no more daily boxes",
        "seek": "find opponent|find somebody|find someone|play somebody|play someone|play anybody"
        "|play anyone|find opponent for|play with somebody|play with someone|play stranger",
        "seek off": "stop looking|stop looking for opponent|stop seeking|stop searching|stop search"
        "|stop seek|cancel seek|cancel search|cancel looking|end seek|no longer looking",
        "help away": "pause|pause game|pause board|pause it|take break|need break|need pause|urlaub"
        "|ferien|vacation|holiday|on vacation|on holiday",
        "unsubscribe": "stop|stop stop|stop it|enough|no more",
        "games": "game list|list games|show games|which games|turn|whose turn|status|what games",
        "list": "what games are there|which games are there|what games play"
        "|which games play|what games are available",
        "ratings": "rating|what rating|whats rating|show rating|stats|statistics|show stats"
        "|how many rating points|what rating points",
        "standings": "ranking|rankings|leaderboard|who best|who plays here|who else plays here"
        "|who are players|who are other players|players|list players|show players"
        "|list all players",
        "events": "what events are there|which events are there|what events|which events"
        "|tournaments|show events|list events|what tournaments are there",
        "help event": "create event|hold event|make event|create tournament|hold tournament"
        "|create own event|create own tournament|organise tournament|organize tournament",
        "help team": "create team|found team|start team|make team|create own team",
        "ladder join": "join ladder|enter ladder|sign up for ladder",
        "ladder leave": "leave ladder|quit ladder",
        "league join": "join league|enter league|sign up for league",
        "league leave": "leave league|quit league",
        "cup join": "join cup|enter cup|sign up for cup",
        "cup leave": "leave cup|quit cup",
        "team leave": "leave team|quit team",
        "signoff": "stop mail|stop mails|stop email|stop emails|stop letters|stop mailing"
        "|stop emailing|stop writing|stop sending mail|stop sending mails|stop sending email"
        "|stop sending emails|stop sending letters|no more mail|no more mails|no more email"
        "|no more emails|no more letters|opt out|remove from list|take off list|leave alone"
        "|unsubscribe all|abmelden|abbestellen|keine mails mehr",
        "delete": "delete account|close account|remove account|delete data|forget|erase account",
        "help change address": "change email|change mail|change email address|new email"
        "|change mail address|new email address|new mail address|new address"
        "|address changed|email changed|email address changed|mail address changed",
        "prefs": "what settings|what are settings|what are preferences|what preferences"
        "|show settings|show preferences|change settings|change preferences",
        "back": "back again|cancel absence|cancel vacation|cancel holiday|end absence|end vacation"
        "|end holiday|no longer away",
        "prefs digest=daily": "one mail day|one email day|one letter day|only one mail day"
        "|one mail per day|one email per day|daily digest|daily mail|daily email|daily summary"
        "|only one email day|only one mail per day|only one email per day|send only one mail day"
        "|send only one mail per day|send only one email day|send only one email per day"
        "|send one mail day|send daily digest",
        "prefs digest=off": "no digest|stop digest|every letter at once|no daily digest"
        "|no more digest|no more digests|stop daily digest|turn off digest|turn digest off",
        "prefs format=text": "plain text|text only|plain text only|no html|turn off html|html off"
        "|turn html off|stop html|disable html|plain text letters|plain text mail|plain text mails"
        "|plain text emails|letters in plain text|mails in plain text|letters as plain text",
        "prefs format=spoken": "screen reader|spoken letters",
    }.items()
    for words in ways.split("|")
}
"""Commands by the words of a line that are not in `_FILLER_WORDS`."""

_QUESTIONS = (
    r"how (?:do|can|should|must|shall|would|could) (?:i|we|one)\b",  # "How do I begin?"
    r"how (?:does|is) (?:it|this|the)\b",  # "How does this work?"
    r"how to\b",
    r"what (?:do|can|should|must|shall|am|are) (?:i|my (?:options|choices|moves))\b",
    r"what (?:now|next|is this(?: about)?|is going on|does (?:\S{1,20} ){1,3}mean|to do)\b",
    r"where do i\b",
    r"i (?:do not|don'?t|cannot|can'?t) (?:understand|get (?:it|this))\b",
    r"i (?:do not|don'?t) know (?:what|how)\b",
    r"no idea (?:what|how)\b",
    r"help\b(?! \w+$)",  # "Help, please!", but not "help chess", which is a command
    r"help me\b",
    r"i'?(?: a)?m (?:lost|stuck|confused|new here)\b",
    r"was (?:muss|soll|kann|mache?) ich\b",
    r"wie (?:geht|spiele?|mache?|kann|rate)\b",
    r"ich verstehe (?:das )?nicht",
    r"que hago\b",
    r"qué hago\b",
    r"como (?:se )?juega",
    r"cómo (?:se )?juega",
)
_HOW = re.compile(r"(?:how|where) (?:(?:do|can|should|must|could) (?:i|we|one)|to) ", re.IGNORECASE)
_QUESTION = re.compile(
    rf"(?:and |but |so |ok,? )?(?:{'|'.join(_QUESTIONS)})[^\n]{{0,60}}"
    r"|(?:what|huh|hm+|eh|how|wtf)[?!. ]*",
    re.IGNORECASE,
)
"""A question of somebody who does not know how to continue: "ok, what do I do now?", "Huh?"."""

_ASKED_SIGN = r"[#%@?.!]|[a-eghr]|\d{1,3}|letters?|numbers?|digits?|dots?|markers?|atoms?|seals?"
_SIGN_QUESTION = re.compile(
    r"(?:and |but |so |please,? )*"
    r"(?:what(?:'s| is| are| does| do| means?)|meaning of|was (?:ist|bedeute[tn]))"
    r"(?: an?| the| this| these| small| der| die| das| ein)*"
    r"(?: sign| mark| symbol| letter| number)? "
    rf"[\"']?(?P<sign>{_ASKED_SIGN})[\"']?"
    r"(?: signs?| marks?)?(?: (?:mean|means|stand for|stands for))?"
    r"(?: (?:at|on|in|beside) the \w+)?"
    r"(?:,? (?:please|pls|exactly|thanks|thank you))?[?!. ]*",
    re.IGNORECASE,
)
"""A question about a sign of the board: "What does # mean?", "what are the dots on the board?"."""

_SIGNS_BY_NAME = {"digit": "number", "dot": "."}

_IS_AWAY = (
    r"(?:i'?(?: a)?m |i(?:'| wi)ll be |we(?:'| a)re )?"
    r"(?:away|gone|travell?ing|out|not here|(?:on|in) (?:a )?(?:holidays?|vacation|leave|trip))"
)
_AWAY_LATER = re.compile(
    rf"{_IS_AWAY}[, ]+(?:from|between|starting|beginning) (.{{2,60}})", re.IGNORECASE
)
"""An absence that has not begun: "I'll be on vacation from 24 Dec to 2 Jan"."""

_AWAY = re.compile(rf"{_IS_AWAY}[, ]+(?:(?:un)?til+|for) (.{{2,24}})", re.IGNORECASE)
"""An absence that begins now: "I am away until Friday", "on holiday for 2 weeks"."""

_FORGOT = re.compile(
    r"(?:i(?:'ve| have)? )?(?:forgot(?:ten)?|lost) (?:my |the )?password"
    r"|(?:please )?reset (?:my |the )?password|password (?:forgotten|lost|reset)",
    re.IGNORECASE,
)
"""The only sentences about a password that are read, since other words may be the password."""

_POINTS = re.compile(r"how many points (?:do|have) i (?:have|got|now have)(?: now)?", re.IGNORECASE)
_ZONE = re.compile(
    r"(?:my |the |our )?time ?zone (?:is |should be |to |= ?)?"
    r"([a-z][a-z_+-]{1,19}(?:/[a-z_/+-]{2,30})?)",
    re.IGNORECASE,
)
"""A time zone: "my time zone is Berlin"."""

_TEAM = re.compile(
    r"(?:please |i want to |i'd like to |i would like to |let's )?(?:create|found|start|make)"
    r" (?:a |my |our )?(?:new )?team (?:called|named|with the name) (.{2,40})",
    re.IGNORECASE,
)
"""A new team: "create a team called The Foxes"."""
_INVITES_TO_TEAM = re.compile(
    r"(?:please )?invite ([a-z0-9_-]{2,20}) (?:to|into) (?:my|our|the) team", re.IGNORECASE
)

_WITH_A_GAME: Mapping[str, str] = {
    "help rules": "help {game}",
    **{name: f"{{game}} {name}" for name in ("ratings", "standings", "seek", "seek off")},
    **{
        f"{event} {verb}": f"{event} {verb} {{game}}"
        for event in ("ladder", "league", "cup")
        for verb in ("join", "leave")
    },
}
"""Commands in plain words that may name a game, and their form with it: "join the chess ladder"."""
_BEFORE_A_GAME = PREPOSITIONS | {"on"}

_ANSWERS = frozenset({"yes", "confirm", "chat", "message", "move", "password", "queue", "submit"})
"""Commands of one word that answer a letter or mean nothing alone."""

_DIGEST_ON = frozenset({"on", "yes"})
_WORDS_OF_SETTING = 2
_ENGLISH_SETTINGS = frozenset({"accept", "remind", "messages"})
"""Settings whose names are words of any sentence."""


def as_command(text: str, games: GameTitles) -> str:
    """Return the command that a line means in plain words, in its written form; ``""`` for none.

    Args:
        text: one line, folded or not.
        games: titles of the games of this server by key.
    """
    line = fold(text).strip()
    if _FORGOT.fullmatch(line.rstrip(".!? ")):
        return "forgot"
    if not line or len(line) > LONGEST or "passw" in line.lower():
        return ""
    if sign := _SIGN_QUESTION.fullmatch(line):
        name = sign["sign"].lower()
        name = name.rstrip("s") if len(name) > 1 else name
        return f"help sign {'number' if name.isdigit() else _SIGNS_BY_NAME.get(name, name)}"
    if _QUESTION.fullmatch(line):
        game = game_in_sentence(line.split(), games)
        is_other_game = game and game != usual_game(games)
        return f"help {game}" if is_other_game else _help_asked_for(line)
    away = _AWAY.fullmatch(line.rstrip(".! "))
    if away and is_date(away[1]):
        return f"away until {away[1]}"
    later = _AWAY_LATER.fullmatch(line.rstrip(".! "))
    if later and first_and_last_day(later[1]):
        return f"away from {later[1]}"
    if all(map(setting_name, line.split())):
        return f"prefs {line}"
    return _command_of_a_sentence(line.rstrip(".! ")) or _command_of_words(line, games)


def _command_of_words(line: str, games: GameTitles) -> str:
    """Return the command that the meaningful words of a line name, ``""`` for none."""
    words = meaningful_words(line)
    phrase = " ".join(words)
    if phrase in IN_REPLY and phrase not in _ANSWERS:  # "can I undo?"
        return phrase
    command = (
        _COMMANDS.get(phrase)
        or _preference(words)
        or _among_courtesies(line)
        or _command_of_a_game(words, games)
    )
    if command:
        return command
    # "change my address to alice@example.org" is answered by a page of help.
    page = _COMMANDS.get(" ".join(word for word in words if "@" not in word), "")
    return page if page.startswith("help ") else ""


def _among_courtesies(line: str) -> str:
    """Return the command of `_MAY_HAVE_COURTESIES` that courtesies surround, ``""`` for none."""
    clauses = [clause.strip() for clause in _BETWEEN_CLAUSES.split(line) if clause.strip()]
    while len(clauses) > 1 and _MISHAPS.issuperset(meaningful_words(clauses[0])):
        del clauses[0]
    while len(clauses) > 1 and _is_courtesy(clauses[-1]):
        del clauses[-1]
    phrase = " ".join(meaningful_words(clauses[0])) if len(clauses) == 1 else ""
    command = _COMMANDS.get(phrase, phrase)
    return command if command in _MAY_HAVE_COURTESIES else ""


def _is_courtesy(clause: str) -> bool:
    text = clause.removeprefix("and ")
    is_sorry = (_MISHAPS - _REFUSALS).issuperset(meaningful_words(text))
    return is_sorry or is_kind_word(text) or is_farewell(text) or is_praise(text)


def _help_asked_for(line: str) -> str:
    """Return the help about what a question names: "How do I leave the ladder?"."""
    asked = _HOW.match(line)
    phrase = " ".join(meaningful_words(line[asked.end() :])) if asked else ""
    command = _COMMANDS.get(phrase, "")
    if command.startswith("help "):
        return command
    if not command and phrase in IN_REPLY and phrase not in _ANSWERS:
        command = phrase
    names = (" ".join(command.split()[:count]) for count in (2, 1))
    name = next((name for name in names if name in BY_NAME), "")
    return f"help {name}" if name else "help tutorial"


def _command_of_a_sentence(line: str) -> str:
    """Return the command of a line about points, a time zone or a team, ``""`` for none."""
    if _POINTS.fullmatch(line.rstrip("?")):
        return "ratings"
    if zone := _ZONE.fullmatch(line):
        return f"prefs tz={zone[1]}"
    if team := _TEAM.fullmatch(line):
        return f"team create {team[1]}"
    if invited := _INVITES_TO_TEAM.fullmatch(line):
        return f"team invite {invited[1]}"
    return ""


def _command_of_a_game(words: Sequence[str], games: GameTitles) -> str:
    """Return the command for "join chess ladder", with the game, ``""`` for none."""
    for at in range(len(words)):
        game, count = game_in_front(words[at:], games)
        if game:
            before = words[: at - 1] if at and words[at - 1] in _BEFORE_A_GAME else words[:at]
            command = _COMMANDS.get(" ".join((*before, *words[at + count :])), "")
            return _WITH_A_GAME.get(command, "").format(game=game)
    return ""


def meaningful_words(line: str) -> list[str]:
    """Return the words of a line in lower case, without filler words."""
    words = _BETWEEN_WORDS.sub(" ", line.lower().replace("'", "")).split()
    plain = (word.strip(".:-+=") for word in words)
    return [word for word in plain if word and word not in _FILLER_WORDS]


def _preference(words: list[str]) -> str:
    """Return the command for ``digest off`` without ``prefs`` in front, ``""`` for none."""
    if len(words) != _WORDS_OF_SETTING or words[0] not in SETTINGS - _ENGLISH_SETTINGS:
        return ""
    name, value = words
    return f"prefs {name}={'daily' if name == 'digest' and value in _DIGEST_ON else value}"
