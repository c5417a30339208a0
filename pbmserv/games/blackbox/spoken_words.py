"""The words in which people say a move, in a dozen languages, without accents.

A language needs no line of its own: a word that two of them share stands here once.
"""

from __future__ import annotations

import re
import unicodedata


def plain(sentence: str) -> str:
    """Return a sentence in lower case without accents, faces and doubled blanks."""
    decomposed = unicodedata.normalize("NFKD", sentence.lower().replace("\u2019", "'"))
    bare = "".join(
        char
        for char in decomposed
        if not unicodedata.combining(char) and unicodedata.category(char) not in {"So", "Sk", "Cf"}
    )
    spaced = re.sub(r"(?<=[^\W\d_a-z])(?=\d)|(?<=\d)(?=[^\W\d_a-z])", " ", bare)  # ポート5
    spaced = re.sub(r"\b(port|fire|shoot|ray)(?=\d)", r"\1 ", spaced)  # port5
    return " ".join(spaced.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(plain(text).split())


FIRE = _words(
    """
    fire shoot shot probe launch zap pew blast beam laser ray send
    schiesse schiess schieße schieß schuss feuer feuere strahl
    tire tir tirer lance lancer rayon
    disparo dispara disparar dispare tiro tira lanzo rayo
    sparo spara sparare lancio raggio atiro atirar atire lanco raio
    schiet vuur straal skjuter skjut skyder skyd skyter strale
    strzelam strzel strzał strilim strilej strela lovok ammun
    стреляю стреляй выстрел огонь стріляю うつ 撃つ 発射
    """
)
"""Verbs and nouns of firing; a few words may stand between one and its label."""

CHOOSE = _words(
    """
    try pick choose take go play enter want like say
    nehme nimm spiele wahle probiere joue prends choisis essaie
    juego elijo pruebo gioco scelgo provo jogo escolho speel kies
    spelar valjer spiller gram wybieram biore hraju volim играю выбираю
    """
)
"""Verbs of choosing, which mean other things as well: the label stands right behind one."""

PORT = _words(
    """
    port ports gate hole entry opening number no nr num n° nº
    row column col line side top bottom left right
    porte puerto puerta porta poort portu portti kapu tor anschluss
    zeile reihe spalte oben unten nummer numero reihe rij kolom
    порт номер ряд ポート 番 端口 포트
    """
)
MARK = _words(
    """
    mark marker marks put place set think believe bet suspect
    markiere markier markieren setze marque marquer marca marco marcar
    segna segno marcare markeer markera marker markerer zaznacz zaznaczam
    oznac oznacuji отметь отмечаю помечаю マーク
    """
)

OWN_MOVE = re.compile(
    r"\b(?:my|next|this|mein|meine|mon|mi|il mio|minha|mijn|min|moj|muj|мой)\s+(?:\w+\s+)?"
    r"(?:move|turn|choice|pick|guess is|shot|try|answer|zug|coup|jugada|movimiento|mossa|jogada|zet|drag"
    r"|trek|tr[ae]kk|ruch|tah|ход|turno)\b",
)
DOUBT = re.compile(
    r"\b(?:or|oder|ou|either|eller|albo|lub|nebo|или|або"
    r"|not|never|don'?t|do not|didn'?t|isn'?t|wasn'?t|won'?t|can'?t|cannot|nicht|kein\w*|pas|niet|inte|ikke|nie|не"
    r"|why|how|when|what|who|where|which|did|does|was|were|had|has|have|warum|wie|wann|pourquoi|quand|por qu[eé]"
    r"|you|your|yours|his|her|their|tu|dein\w*|last|yesterday|tomorrow|before|after|until|instead|if|o'?clock|am|pm|uhr"
    r"|see|meet|lives?|school|station|street|of them|of us|kids?|children|days?|hours?|minutes?|weeks?|years?|euros?|percent)\b"
)
ASKS_US = re.compile(
    r"\b(?:can|could|may|might|would|will|shall)\s+(?:i|you|we)\b|\bplease\b|\blet'?s\b|\bthank you\b"
)

IDLE = _words(
    """
    ok okay um umm uh hm hmm well so maybe perhaps please pls plz
    i i'd i'll like guess think suppose then now the with want it is
    thanks hey let's next for me my will would have to and just yes
    bitte danke ich dann jetzt die den das mal por favor gracias el la
    s'il te plait vous merci le per favore grazie il obrigado o graag
    alsjeblieft de tack prosze prosim пожалуйста お願いします で です
    """
)
"""Words that may stand beside a number that is alone in its sentence."""

BETWEEN = frozenset(
    (
        "with",
        "for",
        "number",
        "no",
        "nr",
        "num",
        "the",
        "die",
        "den",
        "le",
        "la",
        "el",
        "il",
        "o",
        "is",
    )
)
"""Words that may stand between a verb of choosing, or the word port, and a label."""

BEHIND = (
    (IDLE - {"is", "have", "will", "would", "i"})
    | FIRE
    | PORT
    | MARK
    | {"from", "on", "at", "in", "into", "of", "von", "this", "time", "?"}
)
"""Words that may follow a label: with others, as in "2 apples", it is a number."""

FIGURES = {
    plain(word): str(number)
    for number, words in enumerate(
        (
            "one eins un uno um een en jeden jedna один 一",
            "two zwei deux dos due dois twee två to dwa два 二",
            "three drei trois tres tre três drie trzy три 三",
            "four vier quatre cuatro quattro quatro fyra fire4 cztery четыре 四",
            "five fünf funf cinq cinco cinque vijf fem pięć piec пять 五",
            "six sechs seis sei zes sex seks sześć szesc шесть 六",
            "seven sieben sept siete sette sete zeven sju syv siedem семь 七",
            "eight acht huit ocho otto oito åtta otte osiem восемь 八",
            "nine neun neuf nueve nove negen nio ni dziewięć девять 九",
            "ten zehn dix diez dieci dez tien tio ti dziesięć десять 十",
            "eleven elf onze once undici elva elleve одиннадцать",
            "twelve zwölf zwolf douze doce dodici doze twaalf tolv двенадцать",
            "thirteen dreizehn treize trece tredici treze dertien",
            "fourteen vierzehn quatorze catorce quattordici catorze veertien",
        ),
        start=1,
    )
    for word in words.split()
    if word not in {"en", "un", "um", "to", "ni", "ti", "sex", "sei", "sept", "once", "tres"}
}
