"""Ways in which mail programs of the world quote: lines above the quote, and marks before it.

The tables are for tests of reading and for fuzzing.
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pbmserv.inbound.quotes.line_signs import MARKER

MARKS = (
    *(">", "> ", ">>> ", "| ", "＞", "» ", "  > ", "\u00a0>", "Bob> ", "BJ>> ", "Jean-Luc> "),
    *("\u200b> ", "> > ", "│ ", "\t> ", "} "),
)
"""Marks before each quoted line."""

ATTRIBUTIONS = {
    "english": "On Mon, 3 Mar 2014 at 10:00, Bob <b@example.org> wrote:",
    "english, name first": "Bob <b@example.org> wrote:",
    "german": "Am Mo., 3. März 2014 um 10:00 Uhr schrieb Bob <b@example.org>:",
    "german, name first": "Bob <b@example.org> schrieb am Mo., 3. März 2014, 10:00:",
    "french": "Le lun. 3 mars 2014 à 10:00, Bob <b@example.org> a écrit\u00a0:",
    "spanish": "El lun, 3 mar 2014 a las 10:00, Bob (<b@example.org>) escribió:",
    "italian": "Il giorno lun 3 mar 2014 alle ore 10:00 Bob ha scritto:",
    "portuguese": "Em seg., 3 de mar. de 2014 às 10:00, Bob escreveu:",
    "dutch": "Op ma 3 mrt 2014 om 10:00 schreef Bob <b@example.org>:",
    "swedish": "Den mån 3 mars 2014 kl 10:00 skrev Bob <b@example.org>:",
    "danish": "man. 3. mar. 2014 kl. 10.00 skrev Bob:",
    "finnish": "ma 3. maalisk. 2014 klo 10.00 Bob (b@example.org) kirjoitti:",
    "polish": "pon., 3 mar 2014 o 10:00 Bob <b@example.org> napisał(a):",
    "czech": "po 3. 3. 2014 v 10:00 odesílatel Bob napsal:",
    "russian": "пн, 3 мар. 2014 г. в 10:00, Bob <b@example.org>:",
    "russian, verb": "3 марта 2014 г., 10:00 пользователь Bob написал:",
    "ukrainian": "пн, 3 бер. 2014 р. о 10:00 Bob пише:",
    "turkish": "Bob, 3 Mar 2014 Pzt, 10:00 tarihinde şunu yazdı:",
    "hungarian": "Bob ezt írta (időpont: 2014. márc. 3., H, 10:00):",
    "greek": "Στις Δευ, 3 Μαρ 2014 στις 10:00 π.μ., ο χρήστης Bob έγραψε:",
    "romanian": "Pe lun., 3 mar. 2014 la 10:00, Bob a scris:",
    "chinese": "Bob <b@example.org> 于2014年3月3日周一 10:00写道：",
    "chinese, traditional": "Bob 於 2014年3月3日 週一 上午10:00寫道：",
    "japanese": "2014年3月3日(月) 10:00 Bob <b@example.org>:",
    "japanese, phone": "2014/03/03 10:00、Bob <b@example.org>のメール：",
    "korean": "2014년 3월 3일 (월) 오전 10:00, Bob님이 작성:",
    "hebrew": "\u202bבתאריך יום ב׳, 3 במרץ 2014 ב-10:00 מאת Bob <\u202ab@example.org\u202c>:\u202c",
    "arabic": "في الاثنين، 3 مارس 2014 10:00 Bob كتب:",
    "old yahoo": "--- On Mon, 3/3/14, Bob <b@example.org> wrote:",
    "bold": "*On Mon, 3 Mar 2014 Bob wrote:*",
    "norwegian": "man. 3. mars 2014 kl. 10:00 skrev Bob <b@example.org>:",
    "slovak": "po 3. 3. 2014 o 10:00 Bob <b@example.org> napísal(a):",
    "bulgarian": "На пн, 3.03.2014 г. в 10:00 ч. Bob написа:",
    "croatian": "pon, 3. ožu 2014. u 10:00 Bob je napisao:",
    "slovenian": "V pon., 3. mar. 2014 ob 10:00 je oseba Bob napisala:",
    "catalan": "El dl., 3 de març 2014, 10:00, Bob va escriure:",
    "lithuanian": "2014-03-03, pr, 10:00 Bob rašė:",
    "latvian": "Pirmd., 2014. g. 3. marts, plkst. 10:00, Bob rakstīja:",
    "estonian": "Bob kirjutas kuupäeval E, 3. märts 2014 kell 10:00:",
    "vietnamese": "Vào Th 2, 3 thg 3, 2014 vào lúc 10:00 Bob đã viết:",
    "indonesian": "Pada tanggal Sen, 3 Mar 2014 pukul 10.00 Bob menulis:",
    "thai": "เมื่อ จ. 3 มี.ค. 2014 เวลา 10:00 Bob เขียนว่า:",
    "hindi": "सोम, 3 मार्च 2014 को 10:00 बजे Bob ने लिखा:",
    "persian": "در دوشنبه ۳ مارس ۲۰۱۴، ۱۰:۰۰ Bob نوشت:",
    "yandex": '03.03.2014, 10:00, "Bob" <b@example.org>:',
    "mail.ru": "Понедельник, 3 марта 2014, 10:00 +03:00 от Bob <b@example.org>:",
    "date only": "2014-03-03 10:00 GMT+01:00 Bob <b@example.org>:",
}
"""Lines above a quote by language or program."""

_LABELS = {
    "english": "From Sent To Subject",
    "english, outlook for mac": "From Date To Subject",
    "german": "Von Gesendet An Betreff",
    "german, thunderbird": "Von Datum An Betreff",
    "french": "De_ Envoyé_ À_ Objet_",
    "spanish": "De Enviado_el Para Asunto",
    "spanish, phone": "De Fecha Para Asunto",
    "italian": "Da Inviato A Oggetto",
    "portuguese": "De Enviada_em Para Assunto",
    "dutch": "Van Verzonden Aan Onderwerp",
    "swedish": "Från Skickat Till Ämne",
    "danish": "Fra Sendt Til Emne",
    "finnish": "Lähettäjä Lähetetty Vastaanottaja Aihe",
    "polish": "Od Wysłano Do Temat",
    "czech": "Od Odesláno Komu Předmět",
    "slovak": "Od Odoslané Komu Predmet",
    "croatian": "Šalje Poslano Prima Predmet",
    "hungarian": "Feladó Elküldve Címzett Tárgy",
    "romanian": "De_la Trimis Către Subiect",
    "greek": "Από Στάλθηκε Προς Θέμα",
    "russian": "От Отправлено Кому Тема",
    "ukrainian": "Від Надіслано Кому Тема",
    "bulgarian": "От Изпратено До Относно",
    "turkish": "Kimden Gönderildi Kime Konu",
    "hebrew": "מאת נשלח אל נושא",
    "arabic": "من تم_الإرسال إلى الموضوع",
    "chinese": "发件人 发送时间 收件人 主题",
    "chinese, traditional": "寄件者 寄件日期 收件者 主旨",
    "japanese": "差出人 送信日時 宛先 件名",
    "korean": "보낸_사람 보낸_날짜 받는_사람 제목",
    "vietnamese": "Từ Đã_gửi Đến Chủ_đề",
    "indonesian": "Dari Dikirim Kepada Subjek",
    "thai": "จาก ส่งเมื่อ ถึง เรื่อง",
    "catalan": "De Enviat Per_a Assumpte",
}


def _block(labels: str) -> str:
    who, when, to, what = (label.replace("_", " ") for label in labels.split())
    return (
        f"{who}: Bob <b@example.org>\n{when}: Monday, 3 March 2014 10:00\n"
        f"{to}: Alice <a@example.org>\n{what}: Blackbox game 12"
    )


HEADER_BLOCKS = {language: _block(labels) for language, labels in _LABELS.items()}
"""Blocks that Outlook and others set above an unmarked quote, by language."""

ORIGINALS = (
    "-----Original Message-----",
    "----- Original Message -----",
    "-------- Original message --------",
    "------ Original Message ------",
    "---Original---",
    "-----Ursprüngliche Nachricht-----",
    "-------- Ursprüngliche Nachricht --------",
    "-----Message d'origine-----",
    "-------- Message d'origine --------",
    "-----Mensaje original-----",
    "-----Messaggio originale-----",
    "-----Mensagem original-----",
    "-----Oorspronkelijk bericht-----",
    "-----Ursprungligt meddelande-----",
    "-----Oprindelig meddelelse-----",
    "-----Opprinnelig melding-----",
    "-----Alkuperäinen viesti-----",
    "-----Oryginalna wiadomość-----",
    "-----Původní zpráva-----",
    "-----Eredeti üzenet-----",
    "-----Mesaj original-----",
    "-----Αρχικό μήνυμα-----",
    "-----Исходное сообщение-----",
    "-------- Пересылаемое сообщение --------",
    "-----Orijinal İleti-----",
    "-----הודעה מקורית-----",
    "-----الرسالة الأصلية-----",
    "-----邮件原件-----",
    "------------------ 原始邮件 ------------------",
    "-----原始郵件-----",
    "-----元のメッセージ-----",
    "-----원본 메시지-----",
    "---------- Forwarded message ---------",
    "---------- Weitergeleitete Nachricht ---------",
    "-----Bob wrote: -----",
    "---- On Mon, 03 Mar 2014 10:00:00 +0100 Bob <b@example.org> wrote ---",
    "————— Original Message —————",
    "===== Original message =====",
    "*** Original Message ***",
    "________________________________",
    "----------------------------------------",
    "####################",
    "Begin forwarded message:",
    "Anfang der weitergeleiteten Nachricht:",
    "Début du message transféré :",
    "Inicio del mensaje reenviado:",
)
"""Dividers; nothing below them is the writer's own."""

SENT_FROM = {
    "english": "Sent from my iPhone",
    "outlook": "Get Outlook for iOS<https://aka.ms/o0ukef>",
    "outlook, german": "Outlook für Android beziehen",
    "outlook, french": "Télécharger Outlook pour iOS",
    "outlook, japanese": "Outlook for iOS を入手",
    "windows": "Sent from Mail for Windows",
    "galaxy": "Sent from my Galaxy",
    "proton": "Sent with Proton Mail secure email.",
    "yahoo": "Sent from Yahoo Mail on Android",
    "k-9": "Please excuse my brevity.",
    "german": "Von meinem iPhone gesendet",
    "german, gmx": "Diese Nachricht wurde von meinem Android Mobiltelefon mit GMX Mail gesendet.",
    "french": "Envoyé de mon iPhone",
    "french, galaxy": "Envoyé depuis mon appareil Galaxy",
    "spanish": "Enviado desde mi iPhone",
    "italian": "Inviato da iPhone",
    "portuguese": "Enviado do meu iPhone",
    "dutch": "Verstuurd vanaf mijn iPhone",
    "swedish": "Skickat från min iPhone",
    "danish": "Sendt fra min iPhone",
    "finnish": "Lähetetty iPhonesta",
    "polish": "Wysłane z iPhone'a",
    "czech": "Odesláno z iPhonu",
    "slovak": "Odoslané z iPhonu",
    "hungarian": "Elküldve az iPhone-omról",
    "romanian": "Trimis de pe iPhone-ul meu",
    "greek": "Στάλθηκε από το iPhone μου",
    "russian": "Отправлено с iPhone",
    "ukrainian": "Надіслано з iPhone",
    "turkish": "iPhone'umdan gönderildi",
    "hebrew": "נשלח מה-iPhone שלי",
    "arabic": "تم الإرسال من الـ iPhone",
    "chinese": "发自我的 iPhone",
    "chinese, traditional": "從我的 iPhone 傳送",
    "japanese": "iPhoneから送信",
    "korean": "나의 iPhone에서 보냄",
    "vietnamese": "Đã gửi từ iPhone của tôi",
    "indonesian": "Dikirim dari iPhone saya",
    "thai": "ส่งจาก iPhone ของฉัน",
}
"""Lines that telephones add."""

MARKUP = {
    "a quote": "<blockquote>{}</blockquote>",
    "a quote, cited": '<blockquote type="cite" cite="mid:a@b">{}</blockquote>',
    "yahoo": '<div id="ydp1yahoo_quoted_12" class="ydp1yahoo_quoted">{}</div>',
    "proton": '<div class="protonmail_quote">{}</div>',
    "tuta": '<div class="tutanota_quote">{}</div>',
    "zoho": '<div class="zmail_extra">{}</div>',
    "gmx": '<div name="quote">{}</div>',
    "a line on the left": '<div style="padding:1px;border-left: solid 2px #ccc">{}</div>',
    "outlook": '<div id="divRplyFwdMsg"><b>From:</b> B</div><div>{}</div>',
    "outlook, again and again": '<div id="x_x_x_divRplyFwdMsg"></div>{}',
    "outlook, another": '<div id="appendonsend"></div>{}',
    "outlook, mobile": '<div id="mail-editor-reference-message-container">{}</div>',
    "hotmail": '<hr id="stopSpelling">{}',
    "zimbra": '<hr id="zwchr">{}',
}
"""HTML around a quote by program; ``{}`` is the place of the quote."""


def in_plain_text(text: str) -> Iterator[tuple[str, str]]:
    """Yield `text` quoted in every way of plain text, each with the name of the way."""
    lines = text.split("\n")
    for mark in MARKS:
        yield f"marked {mark}", "\n".join(mark + line for line in lines)
    for kind, heads in (
        ("attribution", ATTRIBUTIONS),
        ("header block", HEADER_BLOCKS),
        ("divider", {line: line for line in ORIGINALS}),
        ("signature", {"-- ": "-- "}),
        ("our own line", {MARKER: MARKER}),
    ):
        for name, head in heads.items():
            yield f"{kind} {name}", f"{head}\n{text}"


def in_wrapped_text(text: str, width: int) -> str:
    """Mark `text`, then wrap it without a mark before the rest of a line."""
    lines = [f"> {line}" for line in text.split("\n")]
    return "\n".join(wrapped for line in lines for wrapped in textwrap.wrap(line, width) or [">"])
