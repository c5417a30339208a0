"""Phrases that mail programs add to mails, and that people write in fixed places, by language.

All are casefolded. An underscore in a table of words stands for a blank.
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
        написа napisala escriure escrigué نوشت skrifaði ditulis scríobh idatzi
        """
    )
)
"""Verbs before the colon of an attribution."""

WROTE_UNSPACED = _words(
    "写道 寫道 写到 写了 寫了 작성 썼습니다 のメール 書きました 書いた เขียน लिखा"
)
"""Such verbs in languages without blanks between words, or with combining marks."""

OPENERS = (
    *("on ", "am ", "le ", "el ", "il ", "em ", "op ", "den ", "de ", "pe ", "dnia ", "w dniu "),
    *("dne ", "dňa ", "ned ", "в ", "от ", "у ", "на ", "στις ", "vào ", "pada "),
    *("el dia ", "dana ", "pada tanggal "),
    *("בתאריך", "ב-", "في ", "بتاريخ", "در ", "在", "於", "เมื่อ", "---"),
)
"""Beginnings of the first line of an attribution, unless it begins with a name."""

WEEKDAYS = _words(
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
"""Weekdays with which an attribution may begin."""

QUOTING = _phrases(
    """
    quoting; zitat von; zitiere; citando a; citando; citat från; citat från:; citerar; citerer
    citerend; citeren; quote van; cytowanie; cytuję; cituji; citace; citát; citace od; idézet
    citation de; citazione da; citat fra; citat din; цитирование; цитирую; цитата; 引用; quote from
    """
)
"""Beginnings of attributions that name only the quoted person, as Horde writes them."""

GREETINGS = frozenset(
    _words(
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
"""First words of a line that is only a greeting."""

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
    for label in _words(labels)
}
"""Labels of the header block that Outlook and others write above an unmarked quote."""

ENDINGS = _phrases(
    """
    -----begin ; begin forwarded message; anfang der weitergeleiteten; début du message réexp
    début du message transf; inicio del mensaje reenviado; inizio messaggio inoltrato
    início da mensagem reenc; begin doorgestuurd bericht; vidarebefordrat brev
    vidarebefordrat meddelande; videresendt besked; videresendt melding; начало переадресованного
    początek przekazanej; začátek přeposlané; edelleenlähetetty viesti; 以下是转发的邮件
    以下為轉寄; 転送されたメッセージ; 전달된 메시지
    original message:; ursprüngliche nachricht:; message d'origine; mensaje original:
    messaggio originale:; mensagem original:; oorspronkelijk bericht:; 原始邮件; 原始郵件
    you received this message because; you are receiving this because
    you're receiving this because; to unsubscribe; to post to this group; unsubscribe:
    sie erhalten diese nachricht, weil; sie erhalten diese e-mail, weil; um sich von diese
    um diese gruppe; vous recevez ce message; vous avez reçu ce message; pour vous désabonner
    pour vous désinscrire; para cancelar la suscripción; para darte de baja
    recibiste este mensaje porque; has recibido este mensaje porque; per annullare l'iscrizione
    hai ricevuto questo messaggio perché; você recebeu essa mensagem porque
    para cancelar a inscrição; u ontvangt dit bericht omdat; je ontvangt dit bericht omdat
    du får det här meddelandet; du har modtaget denne; otrzymujesz tę wiadomość
    вы получили это сообщение; чтобы отписаться; virus-free; virenfrei; sans virus; garanzia di
    this email has been checked for virus; this email has been scanned; diese e-mail wurde von
    avast logo; l'absence de virus dans; _._,_.___
    this e-mail and any; this email and any; this message and any; this communication and any
    this e-mail is conf; this email is conf; this message is conf; this e-mail is intended
    this email is intended; this message is intended; this e-mail may contain; this email may con
    this message may contain; this e-mail contains; this email contains; confidentiality not
    confidentiality:; the information contained in this; the information in this e; disclaimer:
    the contents of this e; the content of this e; if you are not the intended; legal notice:
    if you have received this e; please consider the environment; think before you print
    diese e-mail enthält; diese e-mail kann; diese e-mail ist vertraulich; diese nachricht enthält
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
"""Beginnings of lines below which nothing is new text."""

CLOSINGS = frozenset(
    _phrases(
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
"""Goodbyes above the writer's name."""

SENT_FROM = _phrases(
    """
    sent from; sent with; sent via; sent using; sent by my; sent securely; securely sent
    sent through
    message sent from; this message was sent from; this email was sent from
    this e-mail was sent from; gesendet von; gesendet mit; gesendet über; gesendet aus
    versendet mit; versendet von; verschickt mit; verschickt von; sicher versendet; sicher gesendet
    von unterwegs gesendet; diese nachricht wurde von mein; diese nachricht wurde mit
    diese e-mail wurde von mein; diese e-mail wurde mit
    envoyé de; envoyé depuis; envoyé avec; envoyé à partir d; envoyé via; envoyé par
    envoyé à l'aide
    envoyé d'; envoyé d’; envoyée de; envoyé en toute sécurité; ce message a été envoyé
    enviado desde; enviado do; enviado da; enviado con; enviado com; enviado a partir d
    enviado de; enviado pelo; enviado pela; enviado por; enviado vía; enviado via; enviado a través
    enviada do; enviada de; enviada a partir; enviat des; enviat de; enviat amb; enviat mitjançant
    inviato da; inviato con; inviato dal; inviato tramite; inviata da; inviato mediante
    verzonden vanaf; verzonden vanuit; verzonden met; verzonden via; verzonden door; verstuurd vanaf
    verstuurd vanuit; verstuurd met; verstuurd via; verstuurd door; veilig verzonden
    skickat från; skickat med; skickat via; skickades från; skickades med; skickad från; skickad med
    skickats från; sänt från; sendt fra; sendt med; sendt via; sendt ved; lähetetty
    wysłane z; wysłano z; wysłane przez; wysłano przez; wysłane za pomocą; wysłano za pomocą
    wysłany z; wysłana z; odesláno z; odesláno s; odesláno pomocí; odesláno přes; odoslané z
    odoslané pomocou; odoslané cez; odoslaná z; отправлено с; отправлено из; отправлено через
    отправлено от; отправлено при; послано с; надіслано з; надіслано через; надіслано від
    відправлено з; изпратено от; изпратено с; изпратено чрез; στάλθηκε από; εστάλη από
    απεστάλη από; στάλθηκε με; trimis de; trimis din; trimis cu; trimis prin; trimise de
    elküldve; küldve; poslano s; poslano iz; poslano z; poslano putem; послато са; послато из
    saadetud; saadetud minu; išsiųsta iš; išsiųsta naudojant; nosūtīts no; nosūtīts izmantojot
    dikirim dari; dikirim melalui; dihantar dari; dihantar daripada; đã gửi từ; gửi từ; được gửi từ
    ส่งจาก; נשלח מ; נשלח באמצעות; أُرسلت من; أرسلت من; تم الإرسال من; تم الارسال من; مرسل من
    ارسال شده از; فرستاده شده از; bidalia; sent o; seolta ó; sent frá
    发自; 發自; 發送自; 发送自; 傳送自; 传送自; 寄自; 寄件自; 從我的; 从我的; 來自; 来自
    """
)
SENT_FROM_TAILS = (
    *(" gesendet", " gesendet.", " versendet", " versendet.", " geschickt", " verschickt"),
    *(" envoyé", " enviado", " inviato", " verzonden", " verstuurd", " skickat", " sendt"),
    *("から送信", "から送信。", "から送信されました", "から送信されました。", "より送信", "で送信"),
    *(
        "から送信しています",
        "에서 보냄",
        "에서 보냈습니다",
        "에서 보낸 메일",
        "에서 전송",
        "에서 보냈음",
    ),
    *("에서 발송", "에서 전송됨", "에서 보낸 메일입니다"),
    *(" gönderildi", " gönderildi.", " gönderilmiştir", " gönderilmiştir."),
    *(
        " küldve",
        " küldve.",
        " elküldve",
        " 傳送",
        " 发送",
        " 發送",
        " 传送",
        "傳送",
        "发送",
        "發送",
    ),
    *(" भेजा गया", " lähetetty", " poslano", " odesláno", " wysłano"),
)
"""Beginnings, and ends, of lines that telephones add."""

DEVICES = _phrases(
    """
    iphone; ipad; ipod; ios; macbook; mac mini; apple watch; android; samsung; galaxy; huawei
    xiaomi; redmi; oneplus; realme; motorola; nokia; blackberry; xperia; lumia; lenovo; fairphone
    windows; outlook; hotmail; gmail; yahoo; aol; gmx; web.de; t-online; freenet; tutanota
    proton mail; protonmail; k-9; fairemail; bluemail; mailbird; thunderbird; mailspring; airmail
    polymail; fastmail; roundcube; squirrelmail; zimbra; mailbox.org; laposte; mail.ru; yandex
    яндекс; foxmail; 网易; naver; typeapp; aquamail; айфон; 아이폰; 갤럭시
    """
)
"""Names in "sent from" lines that only a telephone or a mail program writes."""

DEVICE_WORDS = _phrases(
    """
    apple; mac; watch; honor; poco; oppo; vivo; pixel; moto ; htc; sony; lg ; zte; asus; phone
    google; telekom; tuta; proton; k9; spark; edison; newton; canary; superhuman; zoho; mutt
    horde; posteo; libero; virgilio; orange; sfr; seznam; wp.pl; onet; interia; rambler; myoffice
    ukr.net; qq; 163; 126; 新浪; daum; kakao; aqua mail; mymail; blue mail; boxer; epost; e-post
    e-mail; email; mail; posta; pošta; poczt; correo; correio; courrier; ταχυδρομ; почт; пошт
    邮件; 邮箱; 郵件; 信箱; メール; 메일; smartphone; telefon; téléphone; teléfono; telefone
    telemóvel; puhelin; mobile; mobil; handy; tablet; móvil; celular; cellulare; matkapuhelim
    komórk; мобильн; мобільн; телефон; смартфон; планшет; κινητό; 手机; 手機; 携帯
    スマートフォン; スマホ; 휴대폰; 휴대전화
    스마트폰; มือถือ; điện thoại; هاتف; جهاز; הנייד; טלפון; ponsel
    """
)
"""Words in "sent from" lines that people also write."""

PROGRAM_LINES = _phrases(
    """
    yahoo mail:; yahoo mail :; yahoo mail - ; yahoo mail – ; get bluemail for; get blue mail for
    get outlook for; get yahoo mail; get the all-new; get aol app; download bluemail; télécharger b
    get spark for; get mail for windows; get your own encrypted; get proton mail; get protonmail
    secured by proton; secure email by; i use tuta; join yahoo; aol mail
    bluemail für; bluemail para; bluemail pour; bluemail per; bluemail voor
    holen sie sich bluemail; holen sie sich outlook; laden sie bluemail; laden sie outlook
    obtén bluemail; obtener bluemail; consigue bluemail; obtenez bluemail; obtenir bluemail
    scarica bluemail; ottieni bluemail; obtenha o bluemail; obter o bluemail; baixe o bluemail
    download bluemail; krijg bluemail; hämta bluemail; få bluemail; pobierz bluemail
    получить bluemail; скачать bluemail; 获取 bluemail; 取得 bluemail; bluemail を
    please excuse my brevity; excuse my brevity; bitte entschuldigen sie die kürze
    bitte verzeihen sie meine kürze; pardon my brevity; please excuse the brevity
    please excuse any typos; please excuse typos; excusez ma brièveté; disculpe mi brevedad
    perdona mi brevedad; disculpa la brevedad; scusate la brevità; scusa la brevità
    excuse mijn beknopt; desculpe a brevidade; простите за кратк; извините за кратк
    proszę wybaczyć zwięzł; ursäkta min fåordighet; undskyld min korthed
    """
)
"""Beginnings of lines in which a program advertises itself or excuses its user."""

ADVERTISED = (
    ("outlook", ("ios", "android", "mobile")),
    ("mail", ("app store", "google play")),
    ("bluemail", ("android", "ios", "iphone")),
)
"""Pairs of names that occur together only in advertisements of a program, in any language."""

REACTED = (" reacted via gmail", " reacted to your message")
"""Phrases below a reaction, which is only a face."""

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
"""Beginnings of the subjects of out-of-office notes: those of Outlook, Exchange, Notes, Gmail,
Zimbra, GMX, Yahoo and vacation(1), and those that people choose themselves."""

AWAY_WITHIN = _phrases(
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
"""Phrases of such subjects after a name, or after our own subject, as Notes and people write them.
None of them could be a userid."""

UNDELIVERED = _phrases(
    """
    mail system error; delivery notification; warning: message
    undeliverable; undelivered; mail delivery failed; mail delivery failure
    mail delivery subsystem; delivery status notification; delivery failure; delivery has failed
    returned mail; failure notice; message delivery failure; warning: could not send
    unzustellbar; nicht zugestellt; non remis; non recapitabile; no se puede entregar
    onbestelbaar; niet-bestelbaar; kan inte levereras; niedostarczone; não é possível entregar
    """
)
"""Beginnings of the subjects of reports that a mail was not delivered."""

REPORTS = UNDELIVERED + _phrases(
    """
    read:; not read:; gelesen:; lu :; non lu :; leído:; letto:; lida:; gelezen:; läst:
    przeczytano:; 開封済み:
    """
)
"""The same, and receipts that somebody opened a mail."""

ROLES = frozenset(
    _words(
        """
        mailerdaemon postmaster noreply donotreply dontreply bounce bounces autoreply
        autoresponder listserv majordomo nobody daemon mailer abuse notification notifications
        nichtantworten nepasrepondre noresponder
        """
    )
)
"""Local parts, without ``-``, ``_`` and ``.``, of addresses that no person reads."""
