"""Phrases with which mail programs announce quoted text, and which people write in fixed places.

They are by language and casefolded. `attributions` and `line_signs` say how they are put together.
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

from pbmserv.inbound.word_lists import listed_phrases, listed_words

# -- attributions: lines above a quote that say who wrote it ------------------------------------


WROTE = frozenset(
    listed_words(
        """
        wrote writes schrieb schreibt geschrieben écrit ecrit escribió escribio escribe scritto
        scrive escreveu schreef schrijft skrev skriver kirjoitti napisał napisała napisal napsal
        napsala pisze píše napísal написал написала написав написала пишет писал пише yazdı yazdi
        írta irta έγραψε scris כתב כתבה كتب menulis viết rašė rakstīja kirjutas pisao napisao
        написа napisala escriure escrigué نوشت skrifaði ditulis scríobh idatzi
        """
    )
)
"""Verbs of attributions: "On Mon, 3 Mar 2014, Bob <b@example.org> wrote:" (Gmail), "Bob schrieb am
3. März 2014:" (Thunderbird)."""

WROTE_UNSPACED = listed_words(
    "写道 寫道 写到 写了 寫了 작성 썼습니다 のメール 書きました 書いた เขียน लिखा"
)
"""Verbs of attributions in languages without blanks between words, or with combining marks: "Bob
<b@example.org> 于2014年3月3日周一 10:00写道：" (Gmail)."""

OPENERS = (
    *("on ", "am ", "le ", "el ", "il ", "em ", "op ", "den ", "de ", "pe ", "dnia ", "w dniu "),
    *("dne ", "dňa ", "ned ", "в ", "от ", "у ", "на ", "στις ", "vào ", "pada "),
    *("el dia ", "dana ", "pada tanggal "),
    *("בתאריך", "ב-", "في ", "بتاريخ", "در ", "在", "於", "เมื่อ", "---"),
)
"""Beginnings of attributions that have the date first: "On Mon, 3 Mar 2014", "Am 3. März 2014",
"--- On Mon, 3/3/14" (Yahoo). Most end with a blank, because they are whole words."""

WEEKDAYS = listed_words(
    """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri
    sat sun montag dienstag mittwoch donnerstag freitag samstag sonntag
    mandag tirsdag onsdag torsdag fredag lørdag søndag man tir ons tor tors fre lør søn
    måndag tisdag lördag söndag mån tis lör sön ma ti ke to pe la su maanantai tiistai keskiviikko
    torstai perjantai lauantai sunnuntai pon wt śr czw pt sob niedz ndz poniedziałek wtorek środa
    czwartek piątek sobota niedziela po út st čt pá so ne ut št pi pondělí úterý středa čtvrtek
    pátek sobota neděle pondelok utorok streda štvrtok piatok nedeľa
    pon uto sri čet pet sub ned tor sre čet pirmd otrd trešd ceturtd piektd sestd svētd
    пн вт ср чт пт сб вс нд понедельник вторник среда четверг пятница суббота воскресенье
    понеділок вівторок середа четвер пʼятниця субота неділя सोम मंगल बुध गुरु शुक्र शनि रवि
    """
)
"""Weekdays with which an attribution may begin: "man. 3. mar. 2014 kl. 10.00 skrev Bob:" (Gmail).
"""

QUOTING = listed_phrases(
    """
    quoting; zitat von; zitiere; citando a; citando; citat från; citat från:; citerar; citerer
    citerend; citeren; quote van; cytowanie; cytuję; cituji; citace; citát; citace od; idézet
    citation de; citazione da; citat fra; citat din; цитирование; цитирую; цитата; 引用; quote from
    """
)
"""Beginnings of attributions that name only the quoted person: "Zitat von Bob <b@example.org>:"
(Horde)."""

# -- headers of the quoted mail -----------------------------------------------------------------


LABELS = {
    label: role
    for role, labels in {
        "from": """
            from von de da van från fra od от від kimden gönderen lähettäjä feladó από expéditeur
            mittente nadawca odesílatel odosielateľ remitente remetente afzender avsender afsender
            avsändare expeditor de_la šalje pošiljatelj dari từ จาก 发件人 寄件者 寄件人 差出人
            送信者 보낸_사람 מאת من""",
        "date": """
            sent date gesendet datum envoyé envoyé_le enviado enviada enviada_em enviado_el
            enviado_em enviat inviato data fecha verzonden skickat sendt dato wysłano wysłane
            отправлено дата дата_отправки надіслано изпратено gönderildi gönderilme_tarihi tarih
            gönderme_tarihi lähetetty päivämäärä päiväys elküldve dátum odesláno odoslané poslano
            ημερομηνία στάλθηκε trimis dikirim tanggal ngày đã_gửi วันที่ ส่งเมื่อ
            发送时间 发件时间 日期 時間 时间 寄件日期 傳送時間 送信日時 日時 日付 보낸_날짜 날짜
            נשלח תאריך تاريخ التاريخ تاريخ_الإرسال تم_الإرسال""",
        "to": """
            to cc an à a para aan till til do za komu кому до kime alıcı vastaanottaja címzett
            προς către kepada đến tới ถึง kopie kopia prima per_a destinataire destinatario
            收件人 收件者 抄送 副本 宛先 받는_사람 참조 אל إلى نسخة""",
        "subject": """
            subject betreff objet asunto oggetto assunto onderwerp ämne emne temat тема
            относно konu aihe tárgy předmět predmet θέμα subiect assumpte subjek perihal
            chủ_đề เรื่อง หัวเรื่อง 主题 主旨 主題 件名 제목 נושא الموضوع""",
    }.items()
    for label in listed_words(labels)
}
"""Labels of the header block above an unmarked quote, and the field that each means.

Outlook writes "Von: Bob <b@example.org>", "Gesendet: Montag, 3. März 2014 10:00", "An: Alice" and
"Betreff: Your move", each on a line.
"""

# -- lines below which nothing is new -----------------------------------------------------------


ARMOUR = ("-----begin",)
"""The beginning of PGP's blocks: "-----BEGIN PGP SIGNATURE-----"."""

FORWARDED = listed_phrases(
    """
    begin forwarded message; anfang der weitergeleiteten; début du message réexp
    début du message transf; inicio del mensaje reenviado; inizio messaggio inoltrato
    início da mensagem reenc; begin doorgestuurd bericht; vidarebefordrat brev
    vidarebefordrat meddelande; videresendt besked; videresendt melding
    начало переадресованного; początek przekazanej; začátek přeposlané; edelleenlähetetty viesti
    以下是转发的邮件; 以下為轉寄; 転送されたメッセージ; 전달된 메시지
    original message:; ursprüngliche nachricht:
    message d'origine; mensaje original:; messaggio originale:; mensagem original:
    oorspronkelijk bericht:; 原始邮件; 原始郵件
    """
)
"""Lines above a forwarded or quoted mail: "Begin forwarded message:" (Apple Mail), "Original
Message:"."""

LIST_FOOTERS = listed_phrases(
    """
    you received this message because; you are receiving this because
    you're receiving this because; to unsubscribe; to post to this group; unsubscribe:
    sie erhalten diese nachricht, weil; sie erhalten diese e-mail, weil; um sich von diese
    um diese gruppe; vous recevez ce message; vous avez reçu ce message; pour vous désabonner
    pour vous désinscrire; para cancelar la suscripción; para darte de baja
    recibiste este mensaje porque; has recibido este mensaje porque; per annullare l'iscrizione
    hai ricevuto questo messaggio perché; você recebeu essa mensagem porque
    para cancelar a inscrição; u ontvangt dit bericht omdat; je ontvangt dit bericht omdat
    du får det här meddelandet; du har modtaget denne; otrzymujesz tę wiadomość
    вы получили это сообщение; чтобы отписаться
    _._,_.___
    """
)
"""Footers of mailing lists: "You received this message because you are subscribed to the Google
Groups group", and Yahoo's line "_._,_.___"."""

VIRUS_SCANNERS = listed_phrases(
    """
    virus-free; virenfrei; sans virus; garanzia di; this email has been checked for virus
    this email has been scanned; diese e-mail wurde von; avast logo; l'absence de virus dans
    """
)
"""Footers of virus scanners: "Virus-free. www.avast.com", "This email has been checked for viruses
by AVG"."""

DISCLAIMERS = listed_phrases(
    """
    this e-mail and any; this email and any; this message and any; this communication and any
    this e-mail is conf; this email is conf; this message is conf; this e-mail is intended
    this email is intended; this message is intended; this e-mail may contain
    this email may con; this message may contain; this e-mail contains; this email contains
    confidentiality not; confidentiality:; the information contained in this
    the information in this e; disclaimer:; the contents of this e; the content of this e
    if you are not the intended; legal notice:; if you have received this e
    please consider the environment; think before you print; diese e-mail enthält
    diese e-mail kann; diese e-mail ist vertraulich; diese nachricht enthält
    diese nachricht ist vertraulich; diese nachricht kann vertraul; der inhalt dieser e-mail
    der inhalt dieser nachricht; diese e-mail und; sitz der gesellschaft; sitz und register
    registergericht; amtsgericht; handelsregister; bitte denken sie an die umwelt
    bitte prüfen sie, ob diese; ce message et; ce courriel et; ce courriel est; ce mail et
    ce message est confid; ce message peut contenir; avis de confid; pensez à l'environ
    este mensaje y; este correo electrónico; este correo y; este mensaje puede; aviso legal
    aviso de confid; questo messaggio e; questa e-mail; le informazioni contenute
    avviso di riserva; esta mensagem e; esta mensagem pode; este e-mail e; este e-mail pode
    dit bericht is vertr; dit bericht is uitsl; dit e-mailbericht; de informatie in dit bericht
    de inhoud van dit; detta meddelande är konf; denna e-post; denne e-mail er fortr
    denne e-posten; tämä viesti on luott; ta wiadomość jest pouf; treść tej wiadomości
    данное сообщение конф; это сообщение конф; このメールは機密; 本メールは; 本メールに
    본 메일은; 本邮件及
    """
)
"""Footers of companies' mail servers: "This e-mail and any attachments are confidential", "Sitz der
Gesellschaft: Berlin"."""

ENDINGS = (*ARMOUR, *FORWARDED, *LIST_FOOTERS, *VIRUS_SCANNERS, *DISCLAIMERS)
"""Beginnings of lines below which nothing is new text."""

# -- words of people in fixed places ------------------------------------------------------------


GREETINGS = frozenset(
    listed_words(
        """
        hi hello hey hiya dear greetings hallo hej hei heipä hoi hola holla moin moi servus grüezi
        guten liebe lieber lieber/liebe sehr bonjour bonsoir salut coucou cher chère buenos buenas
        estimado estimada querido querida ciao salve buongiorno buonasera gentile caro cara olá ola
        oi caro prezado beste dag goedemorgen goedemiddag goedenavond kära käre god kære hyvä terve
        cześć witam dzień drogi droga ahoj dobrý zdravím szia kedves helló salutare bună γεια
        привет здравствуйте добрый вітаю привіт добрий здравей merhaba selam sayın שלום مرحبا سلام
        你好 您好 こんにちは 안녕하세요 xin chào halo สวัสดี hola, bon
        """
    )
)
"""First words of a line that is only a greeting: "Hi Bob,", "Liebe Alice"."""

CLOSINGS = frozenset(
    listed_phrases(
        """
        best regards; kind regards; warm regards; kindest regards; regards; with kind regards
        with best regards; best wishes; with best wishes; all the best; best; sincerely
        yours sincerely; sincerely yours; yours truly; yours faithfully; yours; cheers; love
        respectfully; take care; many thanks; thanks; thank you; thanks and regards; br; rgds; kr
        mit freundlichen grüßen; mit freundlichen grüssen; freundliche grüße; freundliche grüsse
        mit freundlichem gruß; mit freundlichem gruss; mit besten grüßen; mit lieben grüßen
        viele grüße; viele grüsse; beste grüße; liebe grüße; lieben gruß; herzliche grüße; grüße
        schöne grüße; gruß; gruss; mfg; lg; vg; hochachtungsvoll; cordialement; bien cordialement
        bien à vous; amicalement; salutations; meilleures salutations; bonne journée; bises
        saludos; un saludo; saludos cordiales; atentamente; cordialmente; un abrazo; cordiali saluti
        distinti saluti; saluti; un saluto; ciao; atenciosamente; cumprimentos; abraço; abraços
        met vriendelijke groet; met vriendelijke groeten; vriendelijke groeten; groeten; groetjes
        mvg; med vänliga hälsningar; vänliga hälsningar; hälsningar; mvh; med venlig hilsen
        venlig hilsen; med vennlig hilsen; hilsen; vennlig hilsen; ystävällisin terveisin
        terveisin; z poważaniem; pozdrawiam; pozdrowienia; s pozdravem; s pozdravom; pozdrav
        üdvözlettel; cu stimă; с уважением; з повагою; saygılarımla; με εκτίμηση; 敬具
        よろしくお願いします; よろしくお願いいたします; 此致敬礼; 감사합니다
        """
    )
)
"""Goodbyes above the writer's name: "Best regards,", "Viele Grüße"."""
