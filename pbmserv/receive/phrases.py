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
    out of office; out of the office; out-of-office; automatic reply; automated reply; auto reply
    auto-reply; autoreply; auto response; auto-response; autoresponse; autoresponder
    yahoo! auto response; vacation reply; vacation:; on vacation; on holiday:; i am away
    i am out of; away from my mail; away from the office; auto:; ooo:; [auto-reply]; (auto-reply)
    abwesenheitsnotiz; abwesenheitsmeldung; abwesenheitsnachricht; abwesenheitsassistent
    automatische antwort; automatische abwesenheit; automatische rückmeldung; abwesend
    abwesenheit; autoantwort; nicht im büro; außer haus; urlaubsnotiz
    réponse automatique; reponse automatique; absence du bureau; absent du bureau
    absente du bureau; absent(e) du bureau; message d'absence; message d’absence
    notification d'absence; notification d’absence; je suis absent; en congé
    respuesta automática; respuesta automatica; respuesta de ausencia; fuera de la oficina
    fuera de oficina; mensaje de ausencia; ausente de la oficina; estoy de vacaciones
    risposta automatica; fuori sede; fuori ufficio; fuori dall'ufficio; fuori dall’ufficio
    assente dall'ufficio; assente dall’ufficio; messaggio di assenza; avviso di assenza
    resposta automática; resposta automatica; resposta de ausência; fora do escritório
    fora do escritorio; ausência; ausência temporária; ausente do escritório; estou de férias
    automatisch antwoord; automatisch bericht; automatische reactie; automatische beantwoording
    afwezigheid; afwezigheidsbericht; afwezig:; niet aanwezig; niet op kantoor; buiten kantoor
    autosvar; automatiskt svar; automatsvar; automatisk svar; frånvaro; frånvarande
    frånvaromeddelande; ej på kontoret; inte på kontoret; fraværende; fravær:; ikke til stede
    ikke på kontoret; ute av kontoret
    automaattinen vastaus; poissaoloilmoitus; poissa toimistosta; poissaolo
    automatyczna odpowiedź; odpowiedź automatyczna; autoodpowiedź; nieobecność; poza biurem
    nieobecny w biurze; nieobecna w biurze; jestem poza biurem; wiadomość automatyczna
    automatická odpověď; automatická odpoveď; mimo kancelář; nepřítomnost; automatikus válasz
    házon kívül; otomatik yanıt; ofis dışında; αυτόματη απάντηση; răspuns automat
    автоматический ответ; автоответ; нет на месте; нет в офисе; вне офиса; автоматична відповідь
    自動応答; 自動返信; 【自動返信】; [自動返信]; 自動送信; 【自動応答】; 不在通知; 不在のお知らせ
    【不在】; 外出中; 休暇中; 休暇のお知らせ; 自动回复; 自动答复; 自動回覆; 외출 중; 자동 회신
    부재중
    מענה אוטומטי; رد تلقائي
    """
)
"""How the subject of an out-of-office note begins: what Outlook, Exchange, Notes, Gmail, Zimbra,
GMX, Yahoo and vacation(1) write, and what people write in its place."""

REPORTS = _phrases(
    """
    undeliverable; undelivered mail; mail delivery failed; mail delivery failure
    mail delivery subsystem; delivery status notification; delivery failure; delivery has failed
    returned mail; failure notice; message delivery failure; warning: could not send
    read:; not read:; unzustellbar; nicht zugestellt; gelesen:; lu :; non lu :; leído:; letto:
    lida:; gelezen:; läst:; przeczytano:; 開封済み:; non remis; non recapitabile
    no se puede entregar; onbestelbaar; niet-bestelbaar; kan inte levereras; niedostarczone
    não é possível entregar
    """
)
"""How the subject of a report begins: nobody got a mail, or somebody opened it."""

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
