"""Authentication-Results fields of real servers, and forged ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.inbound.auth.results import LONGEST_FIELD, METHODS, UNREADABLE, statements_by

MX = "mx.games.example"
HOME, SHOP = "home.example.org", "shop.example.com"


def results(field: str, server: str = MX) -> set[tuple[str, str, str]]:
    return {
        (result.method, result.result, result.domain) for result in statements_by(server, [field])
    }


SPF, DKIM, DMARC = ("spf", "pass", HOME), ("dkim", "pass", HOME), ("dmarc", "pass", HOME)

FORMS = {
    "opendkim": (
        (
            f"{MX};\tdkim=pass (2048-bit key; unprotected) header.d={HOME} header.i=@{HOME}"
            ' header.a=rsa-sha256 header.s=s1 header.b="Abc/def+"'
        ),
        {DKIM},
    ),
    "opendkim reason": (
        f'{MX}; dkim=pass reason="1024-bit key; insecure key" header.d={HOME} header.b=Abc12345',
        {DKIM},
    ),
    "opendkim trailing": (f"{MX}; dkim=pass header.d={HOME};", {DKIM}),
    "opendmarc": (f"{MX}; dmarc=pass (p=none dis=none) header.from={HOME}", {DMARC}),
    "opendmarc null sender": (f"{MX}; spf=none smtp.mailfrom=<>", {("spf", "none", "")}),
    "opendmarc brackets": (f"{MX}; spf=pass smtp.mailfrom=<alice@{HOME}>;", {SPF}),
    "policyd-spf": (
        (
            f"{MX}; spf=pass (sender SPF authorized) smtp.mailfrom={HOME}"
            f" (client-ip=203.0.113.9; helo=mail.{HOME}; envelope-from=alice@{HOME}; receiver={MX})"
        ),
        {SPF},
    ),
    "helo literal": (
        f"{MX}; spf=none smtp.helo=[203.0.113.9]; dkim=pass header.d={HOME}",
        {("spf", "none", ""), DKIM},
    ),
    "helo literal of the new internet": (
        f"{MX}; spf=pass smtp.mailfrom=alice@{HOME} smtp.helo=[IPv6:2001:db8::1]; dkim=none",
        {SPF, ("dkim", "none", "")},
    ),
    "null sender by its greeting": (
        f"{MX}; spf=pass smtp.mailfrom=<> smtp.helo={HOME}",
        {SPF},
    ),
    "empty sender": (f"{MX}; spf=pass smtp.mailfrom= smtp.helo={HOME};", {SPF}),
    "rspamd": (
        (
            f"{MX};\tdkim=pass header.d={HOME} header.s=s1 header.b=AbC/d;\tdmarc=pass"
            f" (policy=reject) header.from={HOME};\tspf=pass ({MX}: domain of alice designates"
            f" 203.0.113.9 as permitted sender) smtp.mailfrom=alice@{HOME};\tarc=none;"
        ),
        {SPF, DKIM, DMARC, ("arc", "none", "")},
    ),
    "exim": (
        (
            f"{MX}; iprev=pass (mail.{HOME}) smtp.remote-ip=2001:db8::1; auth=pass (PLAIN)"
            f" smtp.auth=alice; spf=pass smtp.mailfrom={HOME}; dkim=pass header.d={HOME}"
            f" header.a=rsa-sha256; dmarc=pass header.from={HOME}; arc=none"
        ),
        {SPF, DKIM, DMARC, ("arc", "none", "")},
    ),
    "gmail": (
        (
            f"{MX};       dkim=pass header.i=@{HOME} header.s=s1 header.b=AbC/+;  arc=pass (i=1"
            f" spf=pass spfdomain={HOME} dkim=pass dkdomain={HOME} dmarc=pass fromdomain={HOME});"
            f'       spf=pass (x: domain of a designates 1.2.3.4) smtp.mailfrom="a+b=c"@{HOME};'
            f"       dmarc=pass (p=NONE sp=NONE dis=NONE) header.from={HOME};       dara=pass"
            f" header.i=@gmail.com"
        ),
        {SPF, DKIM, DMARC, ("arc", "pass", "")},
    ),
    "microsoft": (
        (
            f"{MX} 1; spf=pass (sender ip is 203.0.113.9) smtp.rcpttodomain=b.example"
            f" smtp.mailfrom={HOME}; dmarc=pass (p=none sp=none pct=100) action=none"
            f" header.from={HOME}; dkim=pass (signature was verified) header.d={HOME}; arc=pass (0"
            " oda=1 ltdi=1 spf=[1,1,smtp.mailfrom=x.example]);compauth=pass reason=100"
        ),
        {SPF, DKIM, DMARC, ("arc", "pass", "")},
    ),
    "fastmail": (
        (
            f"{MX};    bimi=skipped (DMARC did not pass);    dkim=pass (2048-bit rsa key sha256)"
            f" header.d={HOME} header.i=@{HOME} header.b=AbC/ header.a=rsa-sha256 header.s=s1"
            f" x-bits=2048;    dmarc=pass policy.published-domain-policy=none"
            f" policy.applied-disposition=none (p=none,d=none) policy.policy-from=p"
            f" header.from={HOME};    iprev=pass smtp.remote-ip=203.0.113.9 (mail.{HOME});"
            f"    spf=pass smtp.mailfrom=alice@{HOME} smtp.helo=mail.{HOME};    x-ptr=pass"
            f" smtp.helo=x policy.ptr=x"
        ),
        {SPF, DKIM, DMARC},
    ),
    "blanks": (
        f'"{MX}" 1 ; dkim / 1 = pass header . d = {HOME} ; ; spf = none',
        {DKIM, ("spf", "none", "")},
    ),
    "nothing": (f"{MX}; none", set()),
    "a server without a name": (f"spf=pass (x) smtp.mailfrom={HOME}; dkim=none", set()),
}


@rows("name", FORMS)
def test_results_as_servers_write_them_are_read(name: str) -> None:
    field, statements = FORMS[name]
    assert results(field) == statements
    assert results(f"{field} ;") == statements
    assert results(field, "other.example") == set()


ALL = {(method, UNREADABLE, "") for method in METHODS}


@rows(
    ("field", "statements"),
    [
        # A client that names itself or its sender oddly must not end a quote, comment or value.
        (f"{MX}; spf=none smtp.helo=[x] dkim=pass header.d={HOME}", {("spf", "none", "")}),
        (f"{MX}; spf=none smtp.helo=[x; dkim=pass header.d={HOME}]",
         {("spf", UNREADABLE, ""), ("dkim", UNREADABLE, "")}),
        (f"{MX}; spf=none smtp.mailfrom=<x; dkim=pass header.d={HOME}>",
         {("spf", UNREADABLE, ""), ("dkim", UNREADABLE, "")}),
        (f'{MX}; spf=none smtp.mailfrom="x; dkim=pass header.d={HOME}"@a.example',
         {("spf", "none", "a.example")}),
        (f'{MX}; spf=none smtp.mailfrom="x; dkim=pass header.d={HOME}', ALL),
        (f"{MX}; spf=none (x; dkim=pass header.d={HOME}", ALL),
        (f"{MX}; spf=none (a) dkim=pass) smtp.mailfrom={HOME}", ALL),
        (f"{MX}; spf=pass smtp.mailfrom={SHOP} smtp.mailfrom={HOME}", {("spf", UNREADABLE, "")}),
        (f"{MX}; spf=pass smtp.mailfrom={SHOP}(x).{HOME}", {("spf", UNREADABLE, "")}),
        (f"{MX}; spf=pass smtp.mailfrom=<{SHOP}>{HOME}", {("spf", UNREADABLE, "")}),
        (f"{MX}; spf=pass smtp.mailfrom={HOME} and more", {("spf", UNREADABLE, "")}),
        # One statement that cannot be read may contradict the others of its method.
        (f"{MX}; dkim=pass header.d={HOME}; dkim=fail x; spf=pass smtp.mailfrom={HOME}",
         {("dkim", UNREADABLE, ""), SPF}),
        (f"{MX}; dkim=pass header.d={HOME}; =fail", ALL),
        (f"{MX}; dkim=pass header.d={HOME}; dkim", {("dkim", UNREADABLE, "")}),
        (f"{MX}; spf=pass smtp.mailfrom={HOME}\u00e9", ALL),
        (f"{MX}; spf=pass smtp.mailfrom={HOME}" + " " * LONGEST_FIELD, ALL),
        # The server's own name in the wrong place.
        (f"({MX}) evil.example; spf=pass smtp.mailfrom={HOME}", set()),
        (f"evil.example; {MX}; spf=pass smtp.mailfrom={HOME}", set()),
        (f'"{MX}".evil.example; spf=pass smtp.mailfrom={HOME}', set()),
        (f"{MX} evil; spf=pass smtp.mailfrom={HOME}", set()),
    ],
)  # fmt: skip
def test_nothing_forged_is_believed(field: str, statements: set[tuple[str, str, str]]) -> None:
    assert results(field) == statements


def test_a_field_of_ours_that_cannot_be_read_hides_those_below_it() -> None:
    forged = f"{MX}; spf=pass smtp.mailfrom={HOME}"
    for broken in (f'{MX}; spf=fail smtp.helo="x', f"{MX}; spf=fail ((", f"{MX}; spf=x y z"):
        (spf,) = (
            result for result in statements_by(MX, [broken, forged]) if result.method == "spf"
        )
        assert spf.result == UNREADABLE


WORDS = st.sampled_from([*"ab.@\"'()<>[]\\=-", HOME, "pass", "spf=pass", "smtp.mailfrom="])
CLIENT = st.lists(WORDS, max_size=12).map("".join)
SHAPES = ["smtp.mailfrom={}", "smtp.mailfrom=<{}>", "smtp.helo=[{}]", 'smtp.mailfrom="{}"', "({})"]


@given(CLIENT, st.sampled_from(SHAPES))
def test_the_client_words_in_one_statement_make_no_other_one_pass(word: str, shape: str) -> None:
    """The server copies a word without semicolons, so other statements do not change."""
    field = f"{MX}; spf=fail {shape.format(word)}; dkim=fail header.d={SHOP}"
    assert "pass" not in {result for _, result, _ in results(field)}
