"""The words in which people say a move, in a dozen languages, as `plain_text.plain` writes them.

A word that two languages share stands here once.
"""

# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

from pbmserv.engine.plain_text import any_of, phrases, plain


def _words(*lists: str) -> frozenset[str]:
    return frozenset(word for text in lists for word in plain(text).split())


FIRE = _words(
    "fire shoot shot probe launch zap pew blast beam laser ray send",
    "schieße schiess schuss feuer feuere strahl tire tir tirer lance lancer rayon",
    "disparo dispara disparar dispare tiro tira lanzo rayo sparo spara sparare lancio raggio",
    "atiro atirar atire lanço raio schiet vuur straal skjuter skjut skyder skyd skyter stråle",
    "strzelam strzel strzał střílím střílej střela lövök ammun",
    "стреляю стреляй выстрел огонь стріляю うつ 撃つ 発射",
)
"""Verbs and nouns of firing."""

CHOOSE = _words(
    "try pick choose take play enter",
    "nehme nimm nehmen spiele wähle probiere joue prends choisis essaie juego elijo pruebo",
    "gioco scelgo provo jogo escolho speel kies spelar väljer spiller gram wybieram biorę hraju",
    "volím играю выбираю",
)
"""Verbs of choosing, which mean other things as well: the label stands right behind one."""

PORT = _words(
    "port ports porte puerto puerta porta poort portu portti anschluss порт ポート 番 端口 포트",
)
LINE = _words(
    "number letter no nr num row column col line side gate hole entry opening",
    "top bottom left right",
    "zeile reihe spalte nummer número numero rij kolom номер ряд",
)
"""Words that mean a port only in a sentence without unknown words."""

MARK = _words(
    "mark marker marks put place set think believe bet suspect",
    "markiere markier markieren setze marque marquer marca marco marcar segna segno marcare",
    "markeer markera markerer zaznacz zaznaczam označ označuji отметь отмечаю помечаю マーク",
)
OTHER = _words("remove clear delete erase unmark take off seal lock unlock guess")
"""Words of moves that a mark must not hide."""

OWN_MOVE = any_of(
    phrases(
        *(
            f"{whose} {what}"
            for whose in ("my", "my next", "my first", "this")
            for what in ("move", "turn", "choice", "pick", "shot", "try")
        ),
        "mein zug, meine wahl, mon coup, mi jugada, mi movimiento, mi turno, la mia mossa",
        "minha jogada, mijn zet, min tur, mitt drag, mit træk, mój ruch, můj tah, мой ход",
    )
)
DOUBT = any_of(
    phrases(
        "or, oder, ou, either, eller, albo, lub, nebo, или, або, not, never, don't, do not",
        "didn't, isn't, wasn't, won't, can't, cannot, nicht, kein, keine, pas, niet, inte, ikke",
        "nie, не, why, how, when, what, who, where, which, did, does, was, were, had, has, have",
        "warum, wie, wann, pourquoi, quand, por qué, you, your, yours, he, she, they, his, her",
        "their, tu, dein, deine, last, yesterday, tomorrow, before, after, until, instead, if",
        "o'clock, am, pm, uhr, see, meet, live, lives, school, station, street, of them, of us",
        "kid, kids, children, day, days, hour, hours, minute, minutes, week, weeks, year, years",
        "euro, euros, dollars, percent, fired, shoots, wine, theatre, train, bus, seat, house",
        "absorbed, mistake",
        "thanks for",
    )
)
"""Words of sentences about something else than the next move."""

ASKS_US = any_of(
    phrases(
        *(
            f"{verb} {who}"
            for verb in ("can", "could", "may", "might", "would", "will", "shall")
            for who in ("i", "you", "we")
        ),
        "please, let's, thank you",
    )
)
"""Words of a request, whose question mark and whose "you" do not matter."""

IDLE = _words(
    "ok okay um umm uh hm hmm well so maybe perhaps please pls plz i i'd i'll like guess think",
    "suppose then now the with want thanks hey let's lets next for me my will would to and just",
    "yes this time bitte danke ich dann jetzt die den das möchte mal por favor gracias",
    "el la s'il te plaît vous merci le per favore grazie il obrigado o graag alsjeblieft de tack",
    "proszę prosím пожалуйста お願いします で です",
)
"""Words that may stand beside a number that is alone in its sentence."""

BETWEEN = _words("with for number no nr num the die den le la el il o")
"""Words that may stand between a verb of choosing, or the word port, and a label."""

ON_THE_WAY = (
    BETWEEN
    | PORT
    | LINE
    | FIRE
    | _words(
        "a an my next at from into in on through via to off please now auf aus durch einen von",
        "sur dans par depuis en al desde por nella nel da alla na no pelo op uit door i fra ind",
        "w z przez do z skrz в из на через で に を",
    )
)
"""Words that may stand between a verb of firing and its label."""

CHAT_SPELLINGS = {"b4": "before", "h8": "hate", "l8": "late", "m8": "mate", "w8": "wait"}
BEFORE_CELL = _words("at in on is to and cell square mark marker is are was or i'd auf en an")
"""Words behind which such a spelling is a cell."""

BEFORE_LETTER = _words("at from into in is with letter")
BEHIND = (
    (IDLE - {"will", "would", "i"})
    | FIRE
    | PORT
    | LINE
    | MARK
    | _words("from on at in into von this time thank you ? nehmen")
)
"""Words that may follow a label: with others, as in "2 apples", it is a number."""

FIGURES = {
    word: str(number)
    for number, known in enumerate(
        (
            "eins один",
            "two zwei deux dos due dois twee två dwa два",
            "three drei trois tre três drie trzy три",
            "four vier quatre cuatro quattro quatro fyra cztery четыре",
            "five fünf cinq cinco cinque vijf fem pięć pět пять 五",
            "six sechs seis zes seks sześć šest шесть 六",
            "seven sieben siete sette zeven sju syv siedem семь 七",
            "eight acht huit ocho otto oito åtta otte osiem восемь 八",
            "nine neun neuf nueve nove negen nio dziewięć девять 九",
            "ten zehn dix diez dieci dez tien tio dziesięć десять 十",
            "eleven elf onze undici elva elleve одиннадцать",
            "twelve zwölf douze doce dodici doze twaalf tolv двенадцать",
            "thirteen dreizehn treize trece tredici dertien",
            "fourteen vierzehn quatorze catorce quattordici veertien",
        ),
        start=1,
    )
    for word in plain(known).split()
}
