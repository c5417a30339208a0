"""Recognises commands in plain words, such as "I give up" or "play against the computer".

A line means such a command only as a whole, apart from filler words such as "please". "I give up
coffee" is a message to an opponent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pbmserv.commands.grammar.dates import first_and_last_day, is_date
from pbmserv.commands.grammar.examples import usual_game
from pbmserv.commands.grammar.game_names import GameTitles, game_in_sentence
from pbmserv.commands.grammar.word_forms import SETTINGS, setting_name
from pbmserv.commands.grammar.words import fold
from pbmserv.commands.table.catalogue import IN_REPLY

LONGEST = 80
"""Characters of a line that may mean a command."""

_FILLER_WORDS = frozenset(
    ("please", "pls", "plz", "kindly", "now", "just", "ok", "okay", "well", "so", "sorry", "bitte")
) | {
    *("i", "im", "id", "ill", "am", "we", "you", "me", "us", "my", "mine", "our", "will", "do"),
    *("want", "wanna", "would", "like", "love", "can", "could", "may", "let", "lets", "going"),
    *("the", "a", "an", "to", "this", "that", "it", "is", "of", "have", "has", "get"),
    *("hi", "hello"),
}
"""Words that do not change the meaning of a line."""

_BETWEEN_WORDS = re.compile(r"[^\w@.=:+-]+")

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
        "ratings": "rating|what rating|whats rating|show rating|stats|statistics|show stats",
        "standings": "ranking|rankings|leaderboard|who best",
        "signoff": "stop mail|stop mails|stop email|stop emails|stop letters|stop mailing"
        "|stop emailing|stop writing|stop sending mail|stop sending mails|stop sending email"
        "|stop sending emails|stop sending letters|no more mail|no more mails|no more email"
        "|no more emails|no more letters|opt out|remove from list|take off list|leave alone"
        "|unsubscribe all|abmelden|abbestellen|keine mails mehr",
        "delete": "delete account|close account|remove account|delete data|forget|erase account",
        "help change address": "change email|change mail|change email address|new email"
        "|change mail address|new email address|new mail address",
        "prefs digest=daily": "one mail day|one email day|one letter day|only one mail day"
        "|one mail per day|one email per day|daily digest|daily mail|daily email|daily summary",
        "prefs digest=off": "no digest|stop digest|every letter at once|no daily digest",
        "prefs format=text": "plain text|text only|plain text only|no html|turn off html|html off"
        "|turn html off|stop html|disable html",
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
    r"what (?:now|next|is this(?: about)?|is going on|does \S{1,6} mean|to do)\b",
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
        return f"help {game}" if game and game != usual_game(games) else "help tutorial"
    away = _AWAY.fullmatch(line.rstrip(".! "))
    if away and is_date(away[1]):
        return f"away until {away[1]}"
    later = _AWAY_LATER.fullmatch(line.rstrip(".! "))
    if later and first_and_last_day(later[1]):
        return f"away from {later[1]}"
    if all(map(setting_name, line.split())):
        return f"prefs {line}"
    words = meaningful_words(line)
    phrase = " ".join(words)
    if phrase in IN_REPLY and phrase not in _ANSWERS:  # "can I undo?"
        return phrase
    if command := _COMMANDS.get(phrase) or _preference(words):
        return command
    # "change my address to alice@example.org" is answered by a page of help.
    page = _COMMANDS.get(" ".join(word for word in words if "@" not in word), "")
    return page if page.startswith("help ") else ""


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
