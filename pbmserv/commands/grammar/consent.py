"""Recognises a yes or a no in the words of people, in a dozen languages.

The server asked whether somebody wants to play, so any clear yes or no is an answer. A sentence that
hedges ("maybe", "yes, but not now", "yes or no?") is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pbmserv.commands.grammar.sentences import content

_YES = re.compile(
    r"(?:yes+|yea+h*|yep|yup|y|ok|okay|okey|k|sure|surely|certainly|definitely|absolutely|totally"
    r"|of course|by all means|gladly|gratefully|agreed|deal|fine|great|perfect|excellent|lovely"
    r"|cool|alright|all right|right|confirm(?:ed)?|accept(?:ed)?"
    r"|(?:with|my) pleasure|why not|no problem|game on|bring it on|you'?re on|count me in|let'?s (?:go|play|do)"
    r"|(?:the )?challenge accepted|i(?:'?m| am) (?:in|game|up for|happy|glad|ready|delighted)"
    r"|i(?:'?d| would|'?ll| will) (?:love|like|be (?:happy|glad|delighted|pleased)|play|accept|join)"
    r"|i (?:accept|want to play|do want|am in|agree|like that|love)|we (?:accept|can play)|happy to"
    r"|glad to|(?:that |it )?(?:sounds|would be) (?:good|great|fun|like fun|lovely|nice|fine)"
    r"|ja+|jawohl|jo|klar|gern[e]?|sehr gern[e]?|na klar|nat(?:ü|ue)rlich|einverstanden|abgemacht|los geht'?s"
    r"|oui|ouais|d'accord|avec plaisir|volontiers|bien s(?:û|u)r|pourquoi pas|vas-y|c'est parti"
    r"|s[iíì]|claro|vale|por supuesto|con (?:mucho )?gusto|juguemos|de acuerdo|dale"
    r"|certo|volentieri|va bene|d'accordo|perch[eé] no|giochiamo"
    r"|sim|com certeza|com prazer|vamos|pode ser|aceito|claro que sim"
    r"|graag|natuurlijk|prima|akkoord|zeker|doe maar"
    r"|g(?:ä|a)rna|visst|sj(?:ä|a)lvklart|absolut|okej|selvf(?:ø|o)lgelig|gjerne|gerne"
    r"|tak|ch[eę]tnie|jasne|oczywi[sś]cie|dobrze|zgoda"
    r"|ano|jasn[eě]|r[aá]d|r[aá]da|ur[cč]it[eě]|kyll[aä]|joo|totta kai|mielell[aä]ni|igen|persze|evet|tabii|tamam"
    r"|да|давай(?:те)?|конечно|хорошо|согласен|согласна|с удовольствием|так|звісно"
    r"|はい|ええ|いいよ|もちろん|お願いします|ぜひ|好的?|可以|是的?|네|좋아요?)(?![\w'])",
    re.IGNORECASE,
)
_NO = re.compile(
    r"(?:no+|nope|nah|not (?:now|today|yet|this|really|interested|at the moment|for me|right now)"
    r"|no(?:,)? thank(?:s| you)|i(?:'?d| would) rather not|rather not|i'?ll pass|i pass|pass"
    r"|i (?:can'?t|cannot|can not|do ?n'?t|do not|won'?t|will not|have no time|am not|'m not)"
    r"|i'?m (?:not|too busy|afraid not)|no time|too busy|(?:i )?declined?|reject(?:ed)?|maybe not|count me out"
    r"|nein|n(?:ö|oe)|leider nicht|leider nein|lieber nicht|keine zeit|jetzt nicht|heute nicht"
    r"|non|pas (?:maintenant|aujourd'hui|le temps|envie)|d[eé]sol[eé]e?|malheureusement"
    r"|ahora no|hoy no|lo siento|no puedo|no gracias"
    r"|n[aã]o|agora n[aã]o|n[aã]o posso|non posso|no grazie"
    r"|nee|niet nu|geen tijd|helaas|nej|inte nu|tyv[aä]rr|ikke n[aå]|desv[aæ]rre"
    r"|nie|niestety|nie teraz|ne|bohu[zž]el|ei|ei kiitos|nem|hay[iı]r"
    r"|нет|не(?: сейчас| сегодня| могу| хочу)|к сожалению|ні"
    r"|いいえ|いや|結構です|不|不要|아니요?)(?![\w'])",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|nor|can'?t|cannot|don'?t|won'?t|unless|nicht|kein\w*|nein|pas|jamais|niet"
    r"|geen|inte|ikke|nie|нет|не|nunca|ahora no|n[aã]o)\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably not|might|depends?|not sure|unsure|think about|let me think"
    r"|don'?t know|do not know|dunno|no idea|yes or no|ask me (?:later|again)|later|if (?:you|i|we|it)"
    r"|vielleicht|mal sehen|weiß nicht|weiss nicht|sp(?:ä|ae)ter|peut-[eê]tre|plus tard|je ne sais pas"
    r"|quiz[aá]s?|tal vez|m[aá]s tarde|no s[eé]|forse|dopo|non so|talvez|misschien|later|kanske|m[aå]ske"
    r"|but|aber|mais|pero|maar|men|ale|но|kanskje|mo[zż]e|snad|mo[zž]n[aá]|может|возможно|потом)\b",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b(?:why not|no problem|no worries|pourquoi pas|perch[eé] no|kein problem|warum nicht|if you like"
    r"|pas de probl[eè]me|por qu[eé] no|s[ií] no hay problema)\b",
    re.IGNORECASE,
)
"""Phrases with a no in them that say yes."""

_THUMB = re.compile("\U0001f44d|\U0001f44c|\u2705|\u2714")
_APOLOGY = re.compile(
    r"(?:oh|ah|well|hm+|sorry|i'?m sorry|thanks|thank you|many thanks|danke|merci|gracias|haha|hey|so|¡)[\s,]+",
    re.IGNORECASE,
)
_NO_LETTER = re.compile(r"[^\w'?\-\u3040-\u30ff\u4e00-\u9fff]+")


@dataclass(frozen=True, slots=True)
class Consent:
    """A clear answer to an invitation.

    Attributes:
        is_yes: whether the answer is yes.
        sentence: the sentence that says so, without a greeting.
        others: the other sentences, which may hold a first move or words for the opponent.
    """

    is_yes: bool
    sentence: str
    others: tuple[str, ...]


def consent_in(text: str) -> Consent | None:
    """Return the answer to an invitation that a text gives, `None` if it gives no clear one."""
    found = list(content(text))
    answers = [(place, _answer(sentence)) for place, sentence in enumerate(found)]
    clear = [(place, answer) for place, answer in answers if answer is not None]
    if not clear or len({answer for _, answer in clear}) > 1:
        return None
    place, is_yes = clear[0]
    if any(_HEDGE.search(sentence) for sentence in found[:place]):
        return None
    rest = tuple(sentence for other, sentence in enumerate(found) if other != place)
    return Consent(is_yes, found[place], rest)


def _answer(sentence: str) -> bool | None:
    """Return what one sentence answers: `True` for yes, `False` for no, `None` for neither."""
    plain = " ".join(_NO_LETTER.sub(" ", sentence).split())
    bare = _HARMLESS.sub("of course", plain)
    while match := _APOLOGY.match(bare):
        bare = bare[match.end() :]
    if _HEDGE.search(bare):
        return None
    if _NO.match(bare):
        return False if not bare.endswith("?") else None
    if _YES.match(bare) and not _NEGATION.search(bare):
        is_question = bare.endswith("?") and "of course" not in bare
        return None if is_question else True
    if _THUMB.search(sentence) and not _NEGATION.search(bare):
        return True
    return None
