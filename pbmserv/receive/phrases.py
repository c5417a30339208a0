"""What mail programs write of their own accord, in the languages they write it in.

All of it in lower case, as `str.casefold` leaves it. Underscores in the tables
stand for blanks.
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

import re


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(part.strip().casefold() for part in re.split(r"[\n;]", text) if part.strip())


WROTE = frozenset(
    _words(
        """
        wrote writes schrieb schreibt geschrieben écrit ecrit escribió escribio escribe scritto
        scrive escreveu schreef schrijft skrev skriver kirjoitti napisał napisała napisal napsal
        napsala pisze píše napísal написал написала написав написала пишет писал пише yazdı yazdi
        írta irta έγραψε scris כתב כתבה كتب menulis viết rašė rakstīja kirjutas pisao napisao
        """
    )
)
"""The word before the colon of an attribution."""

WROTE_UNSPACED = _words("写道 寫道 写到 작성 썼습니다 のメール 書きました เขียน")
"""The same where a language sets no blanks between words."""

OPENERS = (
    *("on ", "am ", "le ", "el ", "il ", "em ", "op ", "den ", "de ", "pe ", "dnia ", "w dniu "),
    *("dne ", "dňa ", "ned ", "в ", "от ", "у ", "на ", "στις ", "vào ", "pada "),
    *("בתאריך", "ב-", "في ", "بتاريخ", "在", "於", "---"),
)
"""How the first line of an attribution may begin where no name begins it."""

LABELS = {
    label: role
    for role, labels in {
        "from": """
            from von de da van från fra od от від kimden lähettäjä feladó από expéditeur mittente
            nadawca odesílatel remitente remetente afzender expeditor 发件人 寄件者 寄件人 差出人
            送信者 보낸_사람 מאת من""",
        "date": """
            sent date gesendet datum envoyé enviado enviada_em enviado_el enviado_em inviato data
            fecha verzonden skickat sendt dato wysłano отправлено дата надіслано gönderildi tarih
            gönderme_tarihi lähetetty päivämäärä päiväys elküldve dátum odesláno ημερομηνία trimis
            发送时间 日期 寄件日期 傳送時間 送信日時 日付 보낸_날짜 날짜 נשלח تاريخ""",
        "to": """
            to cc an à a para aan till til do komu кому kime vastaanottaja címzett προς către
            kopie kopia destinataire destinatario 收件人 宛先 받는_사람 אל إلى""",
        "subject": """
            subject betreff objet asunto oggetto assunto onderwerp ämne emne temat тема konu aihe
            tárgy předmět predmet θέμα subiect 主题 主旨 主題 件名 제목 נושא الموضوع""",
    }.items()
    for label in _words(labels)
}
"""Labels of the header block that Outlook and others set above an unmarked quote."""

ENDINGS = _phrases(
    """
    -----begin ; begin forwarded message; anfang der weitergeleiteten; début du message réexp
    début du message transf; inicio del mensaje reenviado; inizio messaggio inoltrato
    início da mensagem reenc; begin doorgestuurd bericht; vidarebefordrat brev
    videresendt besked; начало переадресованного; you received this message because
    to unsubscribe; to post to this group; unsubscribe:; sie erhalten diese nachricht, weil
    um sich von diese; vous recevez ce message; pour vous désabonner
    para cancelar la suscripción; recibiste este mensaje porque; virus-free
    this email has been checked for virus; diese e-mail wurde von avast
    """
)
"""Beginnings of lines below which nothing is the writer's own."""

SENT_FROM = _phrases(
    """
    sent from; sent with; sent via; sent using; get outlook for; outlook für
    holen sie sich outlook; obtenir outlook; télécharger outlook; obtener outlook
    obtenha o outlook; gesendet von; gesendet mit; gesendet über
    diese nachricht wurde von mein; envoyé de; envoyé depuis; envoyé avec; envoyé à partir de
    enviado desde; enviado do; enviado con; enviado com; enviado a partir d; inviato da
    inviato con; verzonden vanaf; verstuurd vanaf; verzonden met; skickat från; sendt fra
    lähetetty; wysłane z; wysłano z; odesláno z; отправлено с; отправлено из; надіслано з
    发自我的; 發自我的; 從我的; please excuse my brevity; excuse my brevity
    """
)
SENT_FROM_TAILS = (" gesendet", " gesendet.", "から送信", "에서 보냄", " gönderildi")
"""How a line begins, or ends, that a telephone adds."""

AWAY = _phrases(
    """
    out of office; out of the office; automatic reply; auto reply; auto-reply; autoreply
    auto response; auto-response; autoresponse; vacation reply; i am away; away from my mail
    undeliverable; undelivered mail; mail delivery failed; delivery status notification
    returned mail; failure notice; read:; not read:
    abwesenheitsnotiz; automatische antwort; abwesend; abwesenheit; unzustellbar
    réponse automatique; absence du bureau; absent du bureau; message d'absence
    respuesta automática; respuesta automatica; fuera de la oficina; fuera de oficina
    risposta automatica; fuori sede; fuori ufficio; assente dall'ufficio
    resposta automática; resposta automatica; fora do escritório; ausência
    automatisch antwoord; automatisch bericht; afwezigheid; niet aanwezig
    autosvar; automatiskt svar; automatisk svar; frånvaro; fraværende
    automaattinen vastaus; poissaoloilmoitus; poissa toimistosta
    automatyczna odpowiedź; autoodpowiedź; nieobecność; poza biurem
    автоматический ответ; автоответ; нет на месте
    自動応答; 自動返信; 不在通知; 不在のお知らせ; 自动回复; 自动答复; 自動回覆
    """
)
"""How the subject of an answering machine's mail begins."""

ROLES = frozenset(
    _words(
        """
        mailerdaemon postmaster noreply donotreply dontreply bounce bounces autoreply
        autoresponder listserv majordomo nobody daemon mailer abuse notification notifications
        nichtantworten nepasrepondre noresponder
        """
    )
)
"""Local parts, without ``-``, ``_`` and ``.``, behind which nobody reads."""
