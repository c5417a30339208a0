"""Phrases by which mails of programs are recognised, by language. All are casefolded.

`robots` looks for them in subjects and addresses, `dsn` and `message` in subjects and texts.
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

from pbmserv.inbound.word_lists import listed_phrases, listed_words

AWAY = listed_phrases(
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
    부재중; 자동 응답; 자동응답; 不在; 休假; 自動返答
    מענה אוטומטי; رد تلقائي; پاسخ خودکار
    automaatvastus; automatinis atsakymas; automātiskā atbilde; samodejni odgovor
    automatski odgovor; аутоматски одговор; автоматичен отговор; автоматски одговор
    автоматты жауап; trả lời tự động; ตอบกลับอัตโนมัติ; การตอบกลับอัตโนมัติ; balasan otomatis
    balasan automatik; sjálfvirkt svar; resposta automàtica; erantzun automatikoa
    स्वचालित उत्तर; αυτοματη απαντηση; İzinde; izindeyim
    i'm out of; i’m out of; i'm away; i’m away; on leave; annual leave; maternity leave
    parental leave; vacation notice; urlaub; im urlaub; ferien; mutterschutz; elternzeit; vakantie
    op vakantie; de vacaciones; vacaciones; en vacances; vacances:; in ferie; ferie:; semester:
    på semester; på ferie; de férias; férias; na urlopie; urlop; na dovolené; dovolená; lomalla
    в отпуске; отпуск; у відпустці; szabadság; szabadságon; absent:; absent(e); afwezigheids
    """
)
"""Beginnings of the subjects of out-of-office notes: "Out of office: Your move",
"Abwesenheitsnotiz: Blackbox 12", "Auto: Re: Your move".

Outlook, Exchange, Notes, Gmail, Zimbra, GMX, Yahoo and vacation(1) write them, and people choose
some themselves.
"""

AWAY_WITHIN = listed_phrases(
    """
    out of office; out of the office; on vacation; on holiday; on leave; on annual leave
    on maternity leave; on parental leave; away from the office; away from my desk
    away from my mail; away from my email; automatic reply; automated reply
    außer haus; nicht im büro; nicht im haus; im urlaub; in elternzeit; automatische antwort
    absent(e); est absent; est absente; suis absent; suis absente; absent du bureau
    absente du bureau; hors du bureau; en congé; en congés; en vacances; réponse automatique
    fuera de la oficina; fuera de oficina; de vacaciones; está ausente; estoy ausente
    fuori sede; fuori ufficio; è assente; sono assente; in ferie
    is afwezig; ben afwezig; op vakantie; niet aanwezig; niet op kantoor; buiten kantoor
    fora do escritório; de férias; estou ausente; på semester; är frånvarande
    inte på kontoret; ej på kontoret; på ferie; er fraværende; ikke på kontoret; ikke til stede
    on poissa; olen poissa; on lomalla; olen lomalla; poza biurem; na urlopie
    mimo kancelář; na dovolené; na dovolenke; в отпуске; нет на месте; вне офиса; нет в офисе
    у відпустці; házon kívül; ofis dışında; εκτός γραφείου; nu sunt la birou
    """
)
"""Phrases of such subjects after a name, or after our own subject: "Alice Liddell is out of the
office until Monday" (Notes), "Re: Your move - on holiday".

None of them could be a userid.
"""

UNDELIVERED = listed_phrases(
    """
    mail system error; delivery notification; warning: message
    undeliverable; undelivered; mail delivery failed; mail delivery failure
    mail delivery subsystem; delivery status notification; delivery failure; delivery has failed
    returned mail; failure notice; message delivery failure; warning: could not send
    unzustellbar; nicht zugestellt; non remis; non recapitabile; no se puede entregar
    onbestelbaar; niet-bestelbaar; kan inte levereras; niedostarczone; não é possível entregar
    """
)
"""Beginnings of the subjects of reports that a mail was not delivered: "Undelivered Mail Returned
to Sender" (Postfix), "Unzustellbar: Your move" (Exchange)."""

REPORTS = UNDELIVERED + listed_phrases(
    """
    read:; not read:; gelesen:; lu :; non lu :; leído:; letto:; lida:; gelezen:; läst:
    przeczytano:; 開封済み:
    """
)
"""Beginnings of the subjects of reports in `UNDELIVERED`, and of receipts that somebody opened a
mail: "Read: Your move", "Gelesen: Your move" (Outlook)."""

ROLES = frozenset(
    listed_words(
        """
        mailerdaemon postmaster noreply donotreply dontreply bounce bounces autoreply
        autoresponder listserv majordomo nobody daemon mailer abuse notification notifications
        nichtantworten nepasrepondre noresponder
        """
    )
)
"""Local parts, without ``-``, ``_`` and ``.``, of addresses that no person reads:
``no-reply@shop.example``, ``MAILER-DAEMON@relay.example``."""

REACTED = (" reacted via gmail", " reacted to your message")
"""Phrases below a reaction, which is only a face: "Alice reacted via Gmail", or "Alice reacted to
your message" (Outlook)."""
