"""Phrases of lines that mail programs add below a mail, by language. All are casefolded.

`program_lines` says how they are put together.
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

from pbmserv.inbound.word_lists import listed_phrases

SENT_FROM = listed_phrases(
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
"""Beginnings of lines that telephones and mail programs add: "Sent from my iPhone" (Apple Mail),
"Verzonden vanuit Outlook voor Android"."""

SENT_FROM_TAILS = (
    *(" gesendet", " gesendet.", " versendet", " versendet.", " geschickt", " verschickt"),
    *(" envoyé", " enviado", " inviato", " verzonden", " verstuurd", " skickat", " sendt"),
    *(" lähetetty", " poslano", " odesláno", " wysłano"),
    *(" gönderildi", " gönderildi.", " gönderilmiştir", " gönderilmiştir."),
    *(" küldve", " küldve.", " elküldve", " भेजा गया"),
    *("から送信", "から送信。", "から送信されました", "から送信されました。"),
    *("から送信しています", "より送信", "で送信"),
    *("에서 보냄", "에서 보냈습니다", "에서 보낸 메일", "에서 보낸 메일입니다", "에서 보냈음"),
    *("에서 전송", "에서 전송됨", "에서 발송"),
    *(" 傳送", " 发送", " 發送", " 传送", "傳送", "发送", "發送"),
)
"""Ends of such lines in languages with the verb last: "Von meinem iPhone gesendet" (Apple Mail),
"Windows için Posta ile gönderildi" (Windows Mail)."""

DEVICES = listed_phrases(
    """
    iphone; ipad; ipod; ios; macbook; mac mini; apple watch; android; samsung; galaxy; huawei
    xiaomi; redmi; oneplus; realme; motorola; nokia; blackberry; xperia; lumia; lenovo; fairphone
    windows; outlook; hotmail; gmail; yahoo; aol; gmx; web.de; t-online; freenet; tutanota
    proton mail; protonmail; k-9; fairemail; bluemail; mailbird; thunderbird; mailspring; airmail
    polymail; fastmail; roundcube; squirrelmail; zimbra; mailbox.org; laposte; mail.ru; yandex
    яндекс; foxmail; 网易; naver; typeapp; aquamail; айфон; 아이폰; 갤럭시
    """
)
"""Names in such lines that only a telephone or a mail program writes: "Sent from my Galaxy"."""

DEVICE_WORDS = listed_phrases(
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
"""Words in such lines that people also write: "Sent from my phone, so no drawing today"."""

PROGRAM_LINES = listed_phrases(
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
"""Beginnings of lines in which a program advertises itself, "Get Outlook for iOS", or excuses its
user, "Please excuse my brevity." (K-9 Mail)."""

ADVERTISED = (
    ("outlook", ("ios", "android", "mobile")),
    ("mail", ("app store", "google play")),
    ("bluemail", ("android", "ios", "iphone")),
)
"""Pairs of names that occur together only in advertisements of a program, in any language: "Holen
Sie sich Outlook für Android", "Outlook for iOS を入手"."""
