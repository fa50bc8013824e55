"""The shapes of secrets: what a token looks like, whoever it belongs to (SPEC section 10, Secrets).

A shape is looked for only where one of its anchors stands in the text, so that none is compiled
for nothing. Every pattern has a bounded reach and no quantifier that can give back what it took,
so that the time is linear in the text. A pattern matches the least that makes a token; what else
belongs to it is a run of its alphabet, which has no bound and needs no memory.
"""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, NamedTuple
from flow.core import secret_chance as chance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Check = Callable[[bytes], bool]

REACH = 4096
"""No pattern looks further than this many bytes beyond where it begins."""

BEHIND = 32
"""No pattern looks further back than this many bytes."""


class Shape(NamedTuple):
    """One kind of secret.

    ``anchors`` are bytes of which one is part of every match (in lower case where ``folded``).
    Group 1 of ``pattern``, where there is one, is the secret, and ``check`` decides about it.
    ``run`` is a pattern for one more byte of the secret; ``until`` for what ends it.
    """

    kind: str
    anchors: tuple[bytes, ...]
    pattern: bytes
    run: bytes = b""
    until: bytes = b""
    check: Check | None = None
    folded: bool = False


ALNUM = b"[A-Za-z0-9]"
WORD = b"[A-Za-z0-9_-]"
DOTTED = rb"(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))"
BASE64 = b"[A-Za-z0-9+/=]"
HEX = b"[0-9a-f]"
UPPER = b"[A-Z0-9]"
BASE32 = b"[A-Z2-7]"


def _edge(width: int) -> bytes:
    """A word began ``width`` bytes ago: also behind an escape or a terminal's colours.

    It stands behind a literal and not before it, so that the literal is looked for.
    """
    before = (
        rb"(?<![A-Za-z0-9_]%b)",
        rb"(?<=\\[nrtbf]%b)",
        rb"(?<=[0-9;\[]m%b)",
        rb"(?<=%%[0-9A-Fa-f]{2}%b)",
        rb"(?<=\\u00[0-9A-Fa-f]{2}%b)",
    )
    return b"(?:%b)" % b"|".join(way % (b"." * width) for way in before)


def _literal(text: str) -> bytes:
    return b"".join(b"\\" + bytes([c]) if c in b".-/+" else bytes([c]) for c in text.encode())


def _token(
    kind: str,
    prefixes: str,
    alphabet: bytes,
    least: int,
    *,
    edge: bool = False,
    check: Check | None = None,
) -> Shape:
    """Prefixes (parted by blanks), then at least so many characters of an alphabet."""
    names = prefixes.split()
    head = b"|".join(_literal(n) + (_edge(len(n)) if edge else b"") for n in names)
    pattern = b"(?:%b)%b{%d}" % (head, alphabet, least)
    return Shape(kind, tuple(n.encode() for n in names), pattern, alphabet, check=check)


def _exact(kind: str, anchors: str, pattern: bytes, run: bytes = b"") -> Shape:
    return Shape(kind, tuple(a.encode() for a in anchors.split()), pattern, run)


def _cloud() -> Iterator[Shape]:
    yield _exact(
        "aws",
        "AKIA ASIA ABIA ACCA A3T",
        b"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])" + _edge(4) + b"[A-Z2-7]{16}(?![A-Za-z0-9])",
    )
    yield _token("aws", "ABSK", BASE64, 100, edge=True)
    yield _token("aws", "bedrock-api-key-", BASE64, 60)
    yield _token("aws", "FwoGZXIvYXdz IQoJb3JpZ2lu", BASE64, 80)
    yield _token("google", "AIza", WORD, 35, edge=True)
    yield _token("google", "AQ.Ab", WORD, 30, edge=True, check=chance.mixed)
    yield _token("google", "ya29.", DOTTED, 20, edge=True)
    yield _token("google", "GOCSPX-", WORD, 28)
    yield _token("google", "1//0", WORD, 40, edge=True)
    yield _exact("azure", "AccountKey=", rb"(?<=AccountKey=)[A-Za-z0-9+/]{40}", BASE64)
    yield _exact("azure", "AccessKey=", rb"(?<=AccessKey=)[A-Za-z0-9+/]{40}", BASE64)
    yield _exact("azure", "sig=", rb"(?<=[?&;]sig=)[A-Za-z0-9+/%]{40}", b"[A-Za-z0-9+/%=]")
    yield _exact("azure", "Q~", rb"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31}", b"[A-Za-z0-9_~-]")
    yield _exact("azure", "JQQJ99", b"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20}", ALNUM)
    yield _token("alibaba", "LTAI", ALNUM, 20, edge=True, check=chance.mixed)
    yield _token("digitalocean", "dop_v1_ doo_v1_ dor_v1_", HEX, 64)
    yield _token("heroku", "HRKU-", WORD, 36)
    yield _token("fly", "fo1_", WORD, 43, edge=True)
    yield _token("fly", "fm1r_ fm1a_ fm2_", BASE64, 80, edge=True)
    yield _token("cloudflare", "v1.0-", b"[0-9a-f-]", 150, edge=True)
    yield _token("supabase", "sbp_", HEX, 40, edge=True)
    yield _token("supabase", "sb_secret_", WORD, 20)
    yield _token("netlify", "nfp_", ALNUM, 36, edge=True)
    yield _token("vercel", "vercel_blob_rw_", b"[A-Za-z0-9_]", 30)
    yield _token("vercel", "vck_", ALNUM, 40, edge=True, check=chance.mixed)
    yield _token("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", DOTTED, 30)
    yield _exact(
        "databricks", "dapi", b"dapi" + _edge(4) + b"[0-9a-f]{32}(?>-[0-9]|)(?![0-9A-Za-z])"
    )


def _code() -> Iterator[Shape]:
    yield _token("github", "ghp_ gho_ ghu_ ghr_", ALNUM, 30)
    yield _exact("github", "ghs_", b"ghs_[A-Za-z0-9]{30}", DOTTED)
    yield _token("github", "github_pat_", b"[A-Za-z0-9_]", 40)
    yield _token(
        "gitlab",
        "glpat- gldt- glptt- glrt- glcbt- glft- glimt- glagent- glsoat- gloas- glffct-",
        DOTTED,
        20,
    )
    yield _token("gitlab", "GR1348941", WORD, 20)
    yield _token("atlassian", "ATATT3 ATCTT3", b"[A-Za-z0-9_=-]", 60)
    yield _token("atlassian", "ATBB", ALNUM, 32, edge=True, check=chance.mixed)
    yield _token("npm", "npm_", ALNUM, 36, edge=True)
    yield _token("pypi", "pypi-AgE", WORD, 50)
    yield _token("rubygems", "rubygems_", HEX, 48)
    yield _token("crates", "cio", ALNUM, 32, edge=True, check=chance.mixed)
    yield _token("nuget", "oy2", b"[a-z0-9]", 43, edge=True)
    yield _token("clojars", "CLOJARS_", HEX, 60)
    yield _token("docker", "dckr_pat_ dckr_oat_", WORD, 27)
    yield _token("jfrog", "AKCp", ALNUM, 65, edge=True)
    yield _token("sonar", "squ_ sqp_ sqa_", HEX, 40, edge=True)
    yield _exact("circleci", "CCIPAT_", b"CCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}", HEX)
    yield _token("buildkite", "bkua_", HEX, 40)
    yield _token("deno", "ddp_", ALNUM, 36, edge=True)
    yield _exact("terraform", ".atlasv1.", rb"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60}", WORD)
    yield _token("pulumi", "pul-", HEX, 40, edge=True)
    yield _token("vault", "hvs. hvb. hvr.", WORD, 24, edge=True)
    yield _token("doppler", "dp.pt. dp.st. dp.sa. dp.ct. dp.scim. dp.audit.", DOTTED, 40, edge=True)
    yield _token("grafana", "glc_", BASE64, 32, edge=True)
    yield _token("grafana", "glsa_", b"[A-Za-z0-9_]", 40, edge=True)
    yield _token("sentry", "sntrys_ sntryu_", b"[A-Za-z0-9+/=_]", 60)
    yield _token("newrelic", "NRAK- NRII- NRJS-", b"[A-Za-z0-9_-]", 19)
    yield _exact("postman", "PMAK-", b"PMAK-[0-9a-f]{24}-[0-9a-f]{34}", HEX)
    yield _token("tailscale", "tskey-", b"[A-Za-z0-9-]", 24)
    yield _token("age", "AGE-SECRET-KEY-1", UPPER, 50)
    yield _token("onepassword", "ops_eyJ", WORD, 100)


def _services() -> Iterator[Shape]:
    yield _token("slack", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxo-", b"[A-Za-z0-9%-]", 20)
    yield _token("slack", "xoxe- xoxe. xapp-", DOTTED, 30)
    yield _exact(
        "slack",
        "hooks.slack.com/",
        b"(?<=hooks.slack.com)/[a-z]{4,12}/T[A-Z0-9]{6,12}/",
        b"[A-Za-z0-9/]",
    )
    yield _token("stripe", "sk_live_ sk_test_ rk_live_ rk_test_", b"[A-Za-z0-9_]", 20)
    yield _token("stripe", "whsec_", b"[A-Za-z0-9+/=]", 24)
    yield _exact("twilio", "SK", b"SK" + _edge(2) + b"[0-9a-f]{32}(?![0-9A-Za-z])")
    yield _exact("sendgrid", "SG.", rb"SG\.[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{16}", WORD)
    yield _exact("mailgun", "key-", rb"key-(?<!-key-)" + _edge(4) + b"[0-9a-f]{32}(?![0-9A-Za-z])")
    yield _exact("mailchimp", "-us", rb"[0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z])")
    yield _token("brevo", "xkeysib-", b"[A-Za-z0-9-]", 60)
    yield _token("resend", "re_", b"[A-Za-z0-9_]", 30, edge=True, check=chance.mixed)
    yield _exact("telegram", ":AA", rb"[0-9]{8,10}+:AA[A-Za-z0-9_-]{33}", WORD)
    yield _exact(
        "discord",
        "MT MD Mj Mz NT ND Nj Nz OT OD",
        b"(?:[MN][DTjz]|O[DT])"
        + _edge(2)
        + rb"[A-Za-z0-9_-]{21,26}+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
        WORD,
    )
    yield _exact(
        "discord", "/api/webhooks/", rb"(?<=/api/webhooks/)[0-9]{15,22}+/[A-Za-z0-9_-]{50}", WORD
    )
    yield _token("shopify", "shpat_ shpca_ shppa_ shpss_", b"[0-9a-fA-F]", 32)
    yield _token("square", "sq0atp- sq0csp-", WORD, 22)
    yield _token("easypost", "EZAK EZTK", ALNUM, 54, edge=True)
    yield _token(
        "plaid", "access-sandbox- access-production- access-development-", b"[0-9a-f-]", 36
    )
    yield _token("notion", "ntn_", ALNUM, 40, edge=True)
    yield _token("notion", "secret_", ALNUM, 43, edge=True)
    yield _token("linear", "lin_api_ lin_oauth_", ALNUM, 32)
    yield _token("figma", "figd_ figu_", WORD, 38)
    yield _exact("airtable", "pat", b"pat" + _edge(3) + rb"[A-Za-z0-9]{14}\.[0-9a-f]{64}", HEX)
    yield _token("typeform", "tfp_", DOTTED, 40, edge=True)
    yield _token("contentful", "CFPAT-", WORD, 40)
    yield _exact("dynatrace", "dt0", rb"dt0[a-z][0-9]{2}\.[A-Z2-7]{24}\.[A-Z2-7]{64}", BASE32)
    yield _exact("mapbox", "sk.eyJ", rb"sk\.eyJ[A-Za-z0-9_-]{20}", DOTTED)
    yield _token("dropbox", "sl.u. sl.B", WORD, 100, edge=True)


def _models() -> Iterator[Shape]:
    yield _token("anthropic", "sk-ant-", WORD, 24)
    yield _token("openai", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-service-", WORD, 32)
    yield _token("openrouter", "sk-or-v1- sk-or-", HEX, 40)
    yield _token("langfuse", "sk-lf-", b"[0-9a-f-]", 36)
    yield _token("openai", "sk-", ALNUM, 32, edge=True)
    yield _token("openai", "sess-", ALNUM, 40, edge=True)
    yield _token("cursor", "crsr_", HEX, 60, edge=True)
    yield _token("voyage", "pa-", WORD, 43, edge=True, check=chance.mixed)
    yield _token("groq", "gsk_", ALNUM, 40)
    yield _token("xai", "xai-", ALNUM, 60)
    yield _token("perplexity", "pplx-", ALNUM, 40)
    yield _token("huggingface", "hf_ api_org_", ALNUM, 30, edge=True)
    yield _token("replicate", "r8_", ALNUM, 37, edge=True)
    yield _token("cerebras", "csk-", ALNUM, 40, edge=True)
    yield _token("together", "tgp_v1_", WORD, 40)
    yield _token("nvidia", "nvapi-", WORD, 60)
    yield _token("langsmith", "lsv2_pt_ lsv2_sk_", b"[0-9a-f_]", 42)
    yield _token("pinecone", "pcsk_", b"[A-Za-z0-9_]", 50)
    yield _token("elevenlabs", "sk_", HEX, 48, edge=True)
    yield _token("tavily", "tvly-", WORD, 24, check=chance.mixed)
    yield _token("firecrawl", "fc-", HEX, 32, edge=True)
    yield _token("jina", "jina_", WORD, 50)
    yield _token("fireworks", "fw_", ALNUM, 22, edge=True, check=chance.mixed)
    yield _token("wandb", "wandb_v1_", b"[A-Za-z0-9_]", 60)


_SPACE = rb"(?: |%20|\+)"
_DASHES = _SPACE + b"?-{4,5}"
_LABEL = b"(?:[A-Z0-9]{1,12}+%b){0,3}PRIVATE%bKEY(?>%bBLOCK|)" % (_SPACE, _SPACE, _SPACE)
_LINE_END = (
    rb"(?>\r?+\n|(?>\\{1,4}+r|)\\{1,4}+n(?>\\{0,4}+[\"'][ \t+,.\\]{0,6}+(?>\r?+\n|)|)"
    rb"|(?>%0[dD]|)%0[aA])"
)
_HEADER = rb"(?>[^\n]{0,48}?[A-Za-z][A-Za-z-]{2,20}+: [^\n\\%]{0,100}+|[ \t]{0,48}+)"
_BODY = b"[A-Za-z0-9+/]{40}"
_BODY_FOLLOWS = rb"(?=(?>\\{0,4}+[\"']|)[ \t]{0,8}+(?:%b|%b(?>(?>%b%b){0,8})[^\n]{0,48}?%b))" % (
    _BODY,
    _LINE_END,
    _HEADER,
    _LINE_END,
    _BODY,
)
"""Else it is talk about keys. Between the line and the body: headers, and what marks lines."""

_WRAPPED = rb"(?:[A-Za-z0-9+/=]|\r?+\n(?=[A-Za-z0-9+/]{20}))"


def _keys() -> Iterator[Shape]:
    yield Shape(
        "private_key",
        (b"PRIVATE KEY", b"PRIVATE%20KEY", b"PRIVATE+KEY"),
        b"-{4,5}%b?BEGIN%b" % (_SPACE, _SPACE) + _LABEL + _DASHES + _BODY_FOLLOWS,
        until=b"-{4,5}%b?END%b" % (_SPACE, _SPACE) + _LABEL + _DASHES,
    )
    yield Shape(
        "private_key",
        (b"Private-Lines:",),
        rb"Private-Lines: [0-9]{1,4}+(?=[\r\n\\])",
        until=b"Private-MAC: [0-9a-f]{40}[0-9a-f]{0,24}+",
    )
    begins = [
        chance.base64(b"-----BEGIN %bPRIVATE KEY" % kind)
        for kind in (b"", b"RSA ", b"EC ", b"DSA ", b"OPENSSH ", b"ENCRYPTED ")
    ]
    pattern = b"(?:%b)" % b"|".join(begins)
    yield Shape("private_key", (chance.base64(b"-----BEGIN "),), pattern, run=_WRAPPED)


_QUOTE = rb"(?>\\{0,3}+[\"']|)"
_VALUE = rb"[A-Za-z0-9+/_.~!@#$%^*|?-]"
_NAME = (
    rb"(?:[pP](?i:ass(?:word|wd|phrase|code)|wd|rivate[_-]?key)|[tT](?i:oken)|[cC](?i:redential)"
    rb"|[sS](?i:ecret|(?:igning|hared)[_-]key)|[aA](?i:(?:pi|ccess|ccount|uth)[_-]?key)"
    rb"|[eE](?i:ncryption[_-]key)|[mM](?i:aster[_-]key))"
)


def _headers() -> Iterator[Shape]:
    yield _exact(
        "jwt",
        "eyJ",
        rb"eyJ(?:(?:hbGciOi|0eXAiOi|raWQiOi|lbmMiOi|jdHkiOi|qa3UiOi|4NXQiOi|4NWMiOi|6aXAiOi)"
        rb"[A-Za-z0-9_-]{8}|[A-Za-z0-9_-]{10,1000}+\.eyJ[A-Za-z0-9_-]{10})",
        DOTTED,
    )
    yield Shape(
        "authorization",
        (b"authorization",),
        rb"(?i:authorization)"
        + _QUOTE
        + rb"\s{0,3}+[:=,]\s{0,3}+"
        + _QUOTE
        + rb"(?i:bearer|token|apikey|api-key|ssws|bot|key|bearer:)\s{1,3}+"
        + rb"([A-Za-z0-9._~+/=-]{12,512}+)",
        rb"[A-Za-z0-9_~+/=-]",
        check=chance.header,
        folded=True,
    )
    yield Shape(
        "authorization",
        (b"basic ",),
        rb"(?i:basic) {1,3}+([A-Za-z0-9+/_-]{8,512}+={0,2}+)",
        BASE64,
        check=chance.basic,
        folded=True,
    )
    yield Shape(
        "authorization",
        (b'"auth"',),
        rb'"auth"\s{0,3}+:\s{0,3}+"([A-Za-z0-9+/]{8,512}+={0,2}+)(?=")',
        BASE64,
        check=chance.basic,
    )
    yield Shape(
        "authorization",
        (b"bearer ",),
        rb"(?i:bearer) {1,3}+([A-Za-z0-9._~+/=-]{20,512}+)",
        rb"[A-Za-z0-9_~+/=-]",
        check=chance.random,
        folded=True,
    )
    yield Shape(
        "url_password",
        (b"://",),
        rb"://[^\s/@:\"'<>?#\\]{0,128}+:([^\s/@\"'<>?#\\]{1,256}+)(?=@)",
        check=chance.chosen,
    )
    yield Shape(
        "assignment",
        (
            *(b"passw", b"passp", b"passc", b"pwd", b"secret", b"token", b"credential"),
            *(b"apikey", b"accesskey", b"accountkey", b"authkey", b"privatekey"),
            *(b"_key", b"-key"),
        ),
        _NAME
        + rb"[A-Za-z0-9_.-]{0,32}+"
        + _QUOTE
        + rb"(?:\s{0,4}+(?::=|=>|=|:)\s{0,4}+| {1,2})"
        + _QUOTE
        + b"("
        + _VALUE
        + rb"{16,256}+={0,2}+)",
        rb"[A-Za-z0-9+/_~$%^*|=-]",
        check=chance.random,
        folded=True,
    )


def shapes() -> tuple[Shape, ...]:
    """All of them; where two begin at the same byte the first one counts."""
    return (*_keys(), *_cloud(), *_code(), *_services(), *_models(), *_headers())
