"""Words for yes and no in a dozen languages, as `plain_text.plain` writes them.

English words stand without contractions: "I'd" is "I would".
"""

# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

from pbmserv.engine.plain_text import any_of, phrases

YES = any_of(
    phrases(
        "yes, yess, yesss, yeah, yeahh, yea, yep, yup, ok, okay, okey, sure, surely, definitely",
        "absolutely, of course, by all means, gladly, gratefully, agreed, alright, all right",
        "confirm, confirmed, accept, accepted, with pleasure, my pleasure, game on, bring it on",
        "you are on, count me in, let us go, let us play, let us do, challenge accepted",
        "the challenge accepted, i am game, i am up for, i am happy to, i am glad to",
        "i am ready to, i am delighted to, i am in for, i would love, i would like to play",
        "i would like that, i would be happy, i would be glad, i would be delighted",
        "i would be pleased, i will play, i will accept, i will join, i accept, i want to play",
        "i do want, i agree, i like that, we accept, we can play, happy to play, glad to play",
        "sounds good, sounds great, sounds fun, sounds like fun, sounds nice, sounds lovely",
        "sounds fine, that sounds good, that sounds great, that sounds like fun, that would be",
        "it would be a pleasure, ja, jaa, jawohl, jo, klar, na klar, gern, gerne, sehr gern",
        "sehr gerne, natürlich, einverstanden, abgemacht, los geht's, auf geht's, oui, ouais",
        "d'accord, avec plaisir, volontiers, bien sûr, vas-y, c'est parti, sí, si, claro, vale",
        "por supuesto, con gusto, con mucho gusto, juguemos, de acuerdo, dale, certo, volentieri",
        "va bene, d'accordo, giochiamo, sim, com certeza, com prazer, vamos, pode ser, aceito",
        "graag, natuurlijk, akkoord, zeker, doe maar, gärna, visst, självklart, absolut, okej",
        "selvfølgelig, gjerne, tak, chętnie, jasne, oczywiście, dobrze, zgoda, ano, jasně, rád",
        "ráda, určitě, kyllä, joo, totta kai, mielelläni, igen, persze, evet, tabii, tamam, da",
        "да, давай, давайте, конечно, хорошо, согласен, согласна, с удовольствием, так, звісно",
        "はい, ええ, いいよ, もちろん, お願いします, ぜひ, 好, 好的, 可以, 是, 是的, 네",
        "좋아, 좋아요",
    )
)
YES_ALONE = phrases(
    "y, k, fine, great, perfect, excellent, lovely, cool, certainly, totally, right, deal, i am in",
    "happy to, glad to, that is fine, fine by me, fine with me, i am ready, prima, super",
)
"""Words that say yes only where nothing follows: "right now I am busy"."""

NO = any_of(
    phrases(
        "no, noo, nooo, nope, nah, not now, not today, not yet, not this, not really",
        "not interested, not at the moment, not for me, not right now, no thanks",
        "i would rather not, rather not, i will pass, i cannot play, i cannot now",
        "i cannot right now, i cannot today, i cannot at the moment, i cannot this week",
        "i do not want, i do not have time, i do not have the time, i do not like, i do not play",
        "i do not accept, i will not play, i have no time, i am not interested, i am not playing",
        "i am too busy, i am afraid not, i am busy, too busy, decline, declined, i decline",
        "i must decline, reject, rejected, maybe not, count me out, leave me out, thanks but no",
        "thank you but no, nein, nö, leider nicht, leider nein, lieber nicht, keine zeit",
        "jetzt nicht, heute nicht, non, pas maintenant, pas aujourd'hui, pas le temps, pas envie",
        "malheureusement, ahora no, hoy no, lo siento, no puedo, não, agora não, não posso",
        "non posso, nee, niet nu, geen tijd, helaas, nej, inte nu, tyvärr, ikke nå, ikke nu, nei",
        "desværre, nie, niestety, ne, bohužel, ei, nem, hayır, нет, не сейчас, не сегодня",
        "не могу, не хочу, к сожалению, ні, いいえ, いや, 結構です, 不, 不要, 아니, 아니요",
    )
)
NO_ALONE = phrases("n, i cannot, pass, i pass, i do not, i will not, désolé, désolée, i am not")

HARMLESS = any_of(
    phrases(
        "why not, no problem, no worries, not a problem, cannot wait, i cannot wait, do not mind",
        "i do not mind, if you like, pourquoi pas, pas de problème, perché no, kein problem",
        "warum nicht, por qué no",
    )
)
"""Phrases with a no in them that say yes."""

DOUBT = any_of(
    phrases(
        "maybe, perhaps, possibly, probably, might, depends, depending, not sure, unsure",
        "think about, let me think, do not know, dunno, no idea, no clue, no rush, no hurry",
        "no matter, yes or no, ask me, later, not understand, if, unless, but, when, who, what",
        "how, where, which, why, know more, hear more, wait, vielleicht, mal sehen, weiss nicht",
        "später, aber, wenn, peut-être, plus tard, je ne sais pas, mais, quizá, quizás, tal vez",
        "más tarde, no sé, pero, forse, dopo, non so, ma, talvez, mas, misschien, maar, kanske",
        "men, måske, kanskje, może, ale, snad, možná, может, возможно, потом, но",
    )
)
"""Words with which a yes is not clear."""

NEGATION = any_of(
    phrases(
        "not, never, no, nor, cannot, nicht, kein, keine, nein, pas, jamais, niet, geen, inte",
        "ikke, nie, нет, не, nunca, não",
    )
)
OPENING = any_of(
    phrases(
        "oh, ah, well, hm, hmm, hmmm, um, sorry, i am sorry, thanks, thank you, many thanks, danke",
        "merci, gracias, grazie, haha, hey, so, then, thanks for asking, thanks for asking but",
        "thank you for asking, thanks for the invitation, please, i think, i guess",
    )
)
"""Words in front of an answer."""

SHORT = {
    "i'm": "i am",
    "im": "i am",
    "i'd": "i would",
    "id": "i would",
    "i'll": "i will",
    "we'll": "we will",
    "can't": "cannot",
    "cant": "cannot",
    "can not": "cannot",
    "don't": "do not",
    "dont": "do not",
    "won't": "will not",
    "it's": "it is",
    "let's": "let us",
    "lets": "let us",
    "you're": "you are",
    "that's": "that is",
}
"""English contractions, with and without their apostrophe."""

ONLY_YES = any_of(phrases("y, i am in"))
"""Phrases that say yes if nothing but `BESIDE_YES` is beside them: "I am in" may be "in Paris"."""

BESIDE_YES = any_of(
    phrases(
        "please, pls, thanks, thank you, you, i, we, me, my, your, the, that, this, it, is, am, do",
        "fine, great, good, that is, it is, challenge, game, invitation, go, play, bitte, danke",
        "merci, bien, sûr, gracias, grazie",
    )
)
"""Words that may accompany a yes without limiting it."""

NO_WORDS = frozenset(
    ("no", "nope", "nah", "n", "never", "not", "don't", "dont", "cancel", "stay", "reject")
) | {"decline", "nein", "non", "nee", "nej", "nei", "não", "nao", "nie"}
"""First words that answer a question with no."""
