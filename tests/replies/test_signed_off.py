"""Signatures without a ``-- ``: their words do not reach an opponent, and no others are lost."""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

from pathlib import Path

import pytest
from mail_quotes import ATTRIBUTIONS, SENT_FROM
from rows import rows

from pbmserv.inbound.quotes.reply import read_new_text

CASES = Path(__file__).parent / "read_wrongly"
LISTED = (CASES / "signatures.txt").read_text(encoding="utf-8").splitlines()[1:]
QUOTE = "> Your move on board 1\n> resign\n"

DEFAULTS = """\
Sent from my Samsung Galaxy smartphone.
Sent from my SM-G991B
Sent from Mail for Windows 10
Sent from Outlook for iOS<https://aka.ms/o0ukef>
Get Outlook for Android<https://aka.ms/AAb9ysg>
Sent from the all new AOL app for iOS
Sent with Spark
Sent via BlueMail
Sent with Tuta; enjoy secure & ad-free emails:
Securely sent with Tuta Mail. Claim your encrypted mailbox today! https://tuta.com
Sent from my Android device with K-9 Mail. Please excuse my brevity.
Sent using Zoho Mail
Von meinem/meiner Galaxy gesendet
Gesendet von Outlook für Android
Gesendet mit der GMX Mail App
Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.
Von Yahoo Mail auf Android gesendet
Holen Sie sich Outlook für iOS
Envoyé à partir de Courrier pour Windows
Envoyé depuis l'application Mail Orange
Obtener BlueMail para Android
Enviado do Yahoo Mail no Android
Inviato dal mio Galaxy
Verzonden vanuit Outlook voor Android
Hämta Outlook för iOS
Sendt fra Mail til Windows
Lähetetty Windowsin Sähköpostista
Wysłano z Yahoo Mail na Androida
Pobierz program Outlook dla systemu Android
Отправлено из мобильной Яндекс Почты
Изпратено от моя iPhone
Windows için Posta ile gönderildi
從我的iPhone傳送
发自我的iPhone
从 Windows 版邮件发送
来自我的华为手机
Enviat des del meu iPhone
""".splitlines()

SIGNED = (
    "Alice Liddell\nWonderland GmbH\nTel. +49 123 456789",
    "Alice\n+44 20 7946 0958",
    "Alice Liddell | Wonderland Ltd | +44 20 7946 0958",
    "Alice Liddell\n(555) 123-4567\nalice@players.example",
    "Alice Liddell\nHead of Tea\nT: +44 20 7946 0958 | M: +44 7700 900123\nwww.wonderland.example",
    "Best regards,\n\nAlice Liddell\n\nTel: 0123 456789\nFax: 0123 456780",
    "Mit freundlichen Grüßen\nAlice Liddell\nTeegasse 3\n12345 Oxford\nTelefon: 0123/456789",
    "Cheers\nAlice\nMobile: 07700 900123",
    "Alice Liddell\nTél. : 01 23 45 67 89".replace(" :", ":"),
    "Алиса\nтел. +7 495 123-45-67",
    "Alice Liddell, PhD\nPhone: 555-123-4567",
    "Tel. 0123 456789",
)


@rows("line", dict.fromkeys([*LISTED, *DEFAULTS, *SENT_FROM.values()]))
def test_a_default_signature_is_dropped(line):
    for reply in (
        f"g\n\n{line}\n",
        f"g\n{line}\n",
        f"g\n\n{line}\n\n{ATTRIBUTIONS['english']}\n\n{QUOTE}",
        f"g\n\n{line}\n{QUOTE}",
        f"{ATTRIBUTIONS['german']}\n{QUOTE}\ng\n\n{line}\n",
        f"g\n\n{line}\nhttps://mail.example/1\n",
        f"g\n\n{line}\n\nGet Outlook for iOS\n",
    ):
        assert read_new_text(reply).text == "g", reply
    assert read_new_text(f"g\n\nGood luck!\n\n{line}\n").text == "g\n\nGood luck!"


@rows("block", SIGNED)
def test_a_signature_with_a_phone_number_is_dropped(block):
    assert read_new_text(f"g\n\n{block}\n").text == "g"
    assert read_new_text(
        f"g\n\nGood luck!\n\n{block}\n\n{ATTRIBUTIONS['english']}\n{QUOTE}"
    ).text == ("g\n\nGood luck!")
    kept_text = read_new_text(f"g\n\n{block}\n")
    assert kept_text.left_out


@rows("move", ["g", "G", "Resign", "3", "b2 -c3", "Yes", "Accept", "No", "?", "Show 12"])
def test_no_move_or_command_is_part_of_a_signature(move):
    for block in SIGNED:
        for text in (f"{move}\n\n{block}", f"Hello\n\n{move}\n{block}", f"{move}\n{block}"):
            assert move in read_new_text(text).text.split("\n"), text


def test_words_right_above_a_signature_with_a_phone_number_stay():
    for block in ("Alice\n+44 20 7946 0958", "Cheers\nAlice\nMobile: 07700 900123"):
        assert (
            read_new_text(f"g\n\nThanks for the game\n{block}").text == "g\n\nThanks for the game"
        )
        assert read_new_text(f"g\n{block}").text == "g"
        assert read_new_text(f"{block}\n").text == block  # nothing else was said


@rows(
    "words",
    [
        "Call me at 0123 456789 if you like.",
        "Call me: +44 20 7946 0958",
        "My number is +44 20 7946 0958, ring me!",
        "My new number\n+44 20 7946 0958",
        "+44 20 7946 0958",
        "Phone me on 555-123-4567 tomorrow",
        "we played on\n03.03.2014",
        "Alice\nborn 03.03.1914",
        "Alice\n03.03.1914",
        "My birthday, 03.03.1914",
        "tel me more",
        "I will fire at 3 next\nand at 12 then\ntel. 0123 456789 is my number, by the way",
        "3 12 14 20 1 2 3 4",
        "Is Bob's phone still 0123 456789?",
        "Alice says hi",
        "Good Luck",
    ],
)
def test_numbers_in_words_stay(words):
    assert read_new_text(f"g\n\n{words}\n").text == f"g\n\n{words}"
    assert read_new_text(f"g\n\n{words}\n\nBye now!").text == f"g\n\n{words}\n\nBye now!"


@rows(
    "words",
    [
        "Sent from the north pole, with love. I fire there every day.",
        "Sent from my heart: good luck!",
        "Sent by mail yesterday.",
        "Sent you my drawing",
        "Sent from my phone, so no drawing today",
        "Sendt fra byen i dag",
        "Gesendet von meinem Bruder, nicht von mir!",
        "Ich habe es gestern gesendet",
        "来自北京的问候",
        "Outlook on iOS and Android eats my mails, so I use Thunderbird now and then",
        "Get well soon",
        "Yahoo mail is down today",
        "Enviado de noche, con cariño",
    ],
)
@pytest.mark.parametrize("below", ["See you tomorrow!", "12, then 3"])
def test_words_about_sending_stay_where_words_follow(words, below):
    for text in (f"g\n\n{words}\n{below}", f"g\n{words}\n\n{below}", f"g\n\n{words}\n\n{below}"):
        assert read_new_text(f"{text}\n").text == text


@rows(
    "words",
    [
        "Sent from my heart: good luck!",
        "Sent with love, Alice",
        "来自北京的问候",
        "I have sent it from my iPhone",
    ],
)
def test_words_about_sending_stay_at_the_end(words):
    assert read_new_text(f"g\n\n{words}\n").text == f"g\n\n{words}"


def test_a_sentence_that_runs_over_a_line_of_a_program_stays():
    text = "g\n\nI have the board on paper.\nSent from my iPhone\nit looks odd, though."
    assert read_new_text(text).text == text
