"""Made-up secrets, put together at run time: no file of the repository holds one.

Every value comes from one generator with a fixed seed, so that each run masks the same text.
"""

from __future__ import annotations

import base64
import random
import string
from functools import cache

ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
HEX = "0123456789abcdef"
BASE32 = string.ascii_uppercase + "234567"
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits


class Maker:
    """Makes one kind of token after the other."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, size: int) -> str:
        """So many characters; the first ones hold a digit and both cases, as nearly all do."""
        while True:
            text = "".join(self._random.choice(alphabet) for _ in range(size))
            kinds = (str.isdigit, str.islower, str.isupper)
            wanted = [k for k in kinds if any(k(c) for c in alphabet) and size > 8]
            if text[0] in "_-" or text[-1] in "_-":
                continue
            if all(sum(map(kind, text)) >= size // 10 for kind in wanted):
                return text

    def uuid(self) -> str:
        return "-".join(self.of(HEX, size) for size in (8, 4, 4, 4, 12))

    def lines(self, count: int) -> str:
        text = base64.b64encode(self._random.randbytes(48 * count)).decode()
        return "\n".join(text[at : at + 64] for at in range(0, len(text), 64))

    def pem(self, label: str, count: int = 6, headers: str = "") -> str:
        edge = "-" * 5
        return f"{edge}BEGIN {label}{edge}\n{headers}{self.lines(count)}\n{edge}END {label}{edge}"

    def jwt(self, header: str) -> str:
        parts = (header, '{"sub":"1","name":"' + self.of(ALNUM, 12) + '"}')
        coded = [base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in parts]
        return ".".join((*coded, self.of(WORD, 43)))


def _prefixed(make: Maker) -> dict[str, tuple[str, str]]:
    """Name → (the kind it counts as, the token): a prefix and so many characters."""
    rows = """
        aws-access-key aws AK+IA BASE32 16
        aws-temporary-key aws AS+IA BASE32 16
        aws-bedrock aws AB+SK ALNUM 120
        aws-session aws IQoJ+b3JpZ2lu ALNUM 300
        google-api google AI+za WORD 35
        google-access google ya+29. WORD 60
        google-client-secret google GOC+SPX- WORD 28
        google-refresh google 1/+/0 WORD 60
        github-classic github gh+p_ ALNUM 36
        github-oauth github gh+o_ ALNUM 36
        github-user github gh+u_ ALNUM 36
        github-server github gh+s_ ALNUM 36
        github-refresh github gh+r_ ALNUM 76
        github-fine github github+_pat_ ALNUM 82
        gitlab-personal gitlab gl+pat- WORD 20
        gitlab-deploy gitlab gl+dt- WORD 20
        gitlab-runner gitlab gl+rt- WORD 20
        gitlab-trigger gitlab gl+ptt- HEX 40
        gitlab-job gitlab gl+cbt- WORD 24
        gitlab-old-runner gitlab GR13+48941 WORD 20
        atlassian atlassian ATA+TT3 WORD 180
        bitbucket atlassian AT+BB ALNUM 32
        npm npm np+m_ ALNUM 36
        pypi pypi py+pi-AgE WORD 150
        rubygems rubygems ruby+gems_ HEX 48
        crates crates ci+o ALNUM 32
        nuget nuget oy+2 LOWER 43
        clojars clojars CLO+JARS_ HEX 60
        docker-personal docker dckr+_pat_ WORD 27
        docker-organisation docker dckr+_oat_ WORD 32
        jfrog jfrog AK+Cp ALNUM 69
        sonar sonar sq+u_ HEX 40
        buildkite buildkite bk+ua_ HEX 40
        deno deno dd+p_ ALNUM 36
        pulumi pulumi pu+l- HEX 40
        vault vault hv+s. WORD 90
        doppler doppler dp.+pt. ALNUM 43
        grafana-cloud grafana gl+c_ ALNUM 80
        new-relic newrelic NR+AK- UPPER 27
        age age AGE-SEC+RET-KEY-1 UPPER 58
        digitalocean digitalocean do+p_v1_ HEX 64
        heroku heroku HR+KU- WORD 60
        fly fly fo+1_ WORD 43
        supabase supabase sb+p_ HEX 40
        supabase-secret supabase sb_se+cret_ ALNUM 32
        netlify netlify nf+p_ ALNUM 36
        planetscale planetscale pscale+_tkn_ WORD 43
        databricks databricks da+pi HEX 32
        slack-bot slack xo+xb-1234567890- ALNUM 24
        slack-user slack xo+xp-1234567890- ALNUM 32
        slack-app slack xa+pp-1-A0- ALNUM 64
        slack-refresh slack xo+xe-1- ALNUM 100
        stripe-live stripe sk_+live_ ALNUM 24
        stripe-test stripe sk_+test_ ALNUM 99
        stripe-restricted stripe rk_+live_ ALNUM 24
        stripe-webhook stripe wh+sec_ ALNUM 32
        twilio twilio S+K HEX 32
        mailgun mailgun ke+y- HEX 32
        shopify shopify sh+pat_ HEX 32
        square square sq0+atp- WORD 22
        easypost easypost EZ+AK ALNUM 54
        notion notion nt+n_ ALNUM 46
        linear linear lin_+api_ ALNUM 40
        figma figma fi+gd_ WORD 40
        contentful contentful CF+PAT- WORD 43
        typeform typeform tf+p_ WORD 59
        huggingface huggingface h+f_ ALNUM 34
        openai-old openai s+k- ALNUM 48
        openai-project openai sk-+proj- WORD 156
        openai-service openai sk-+svcacct- WORD 120
        openai-admin openai sk-+admin- WORD 100
        anthropic-api anthropic sk-+ant-api03- WORD 95
        anthropic-admin anthropic sk-+ant-admin01- WORD 95
        anthropic-oauth anthropic sk-+ant-oat01- WORD 95
        openrouter openrouter sk-+or-v1- HEX 64
        groq groq gs+k_ ALNUM 52
        xai xai xa+i- ALNUM 80
        perplexity perplexity pp+lx- ALNUM 48
        replicate replicate r+8_ ALNUM 37
        cerebras cerebras cs+k- LOWER 48
        together together tgp+_v1_ WORD 43
        nvidia nvidia nva+pi- WORD 64
        pinecone pinecone pc+sk_ ALNUM 70
        elevenlabs elevenlabs s+k_ HEX 48
        tavily tavily tv+ly- ALNUM 32
        firecrawl firecrawl f+c- HEX 32
        jina jina ji+na_ WORD 60
        fireworks fireworks f+w_ ALNUM 24
        google-gemini google AQ.+Ab WORD 48
        bedrock-short aws bedrock-+api-key- ALNUM 120
        cursor cursor cr+sr_ HEX 64
        voyage voyage p+a- WORD 43
        vercel-gateway vercel vc+k_ ALNUM 56
        adobe adobe p8+e- LOWER 32
        trello atlassian AT+TA HEX 72
        bitbucket-server atlassian BB+DC- ALNUM 44
        brex brex bx+t_ ALNUM 36
        confluent confluent cf+lt ALNUM 60
        defined defined dn+key- LOWER 79
        duffel duffel duf+fel_test_ WORD 43
        e2b e2b e2+b_ HEX 40
        facebook facebook EA+AM ALNUM 120
        flutterwave flutterwave FLW+SECK_TEST- HEX 32
        frameio frameio fi+o-u- WORD 64
        gitlab-workspace gitlab gl+wt- WORD 20
        gocardless gocardless li+ve_ WORD 40
        google-hmac google GO+OG1E UPPER 56
        inngest inngest sign+key-prod- HEX 64
        intercom intercom dG9+rO ALNUM 54
        intra42 intra42 s-s4+t2ud- HEX 64
        jfrog-reference jfrog cm+Vmd ALNUM 59
        langsmith-old langsmith ls+__ ALNUM 32
        llamacloud llamacloud ll+x- ALNUM 48
        mercury mercury secret+-token: ALNUM 40
        minisign minisign RWR+TY0Iy ALNUM 204
        mongodb mongodb mdb+_sa_sk_ WORD 40
        neon neon na+pi_ LOWER 64
        netlify-oauth netlify nf+o_ ALNUM 36
        nostr nostr ns+ec1 LOWER 58
        octopus octopus AP+I- UPPER 26
        openshift openshift sha+256~ WORD 43
        openvsx openvsx ovs+xat_ ALNUM 36
        packagist packagist packagist+_ort_ HEX 68
        paddle paddle pdl_+live_apikey_ LOWER 50
        posthog posthog ph+x_ ALNUM 43
        prefect prefect pn+u_ ALNUM 36
        readme readme rd+me_ LOWER 70
        render render rn+d_ ALNUM 28
        runpod runpod rp+a_ UPPER 44
        scalingo scalingo tk+-us- WORD 48
        settlemint settlemint sm+_pat_ ALNUM 16
        shippo shippo ship+po_live_ HEX 40
        shopify-app shopify shp+tka_ HEX 32
        snyk snyk snyk_+uat. ALNUM 60
        sourcegraph sourcegraph sg+p_ HEX 40
        square-access square EA+AA WORD 60
        statsig statsig sec+ret- ALNUM 43
        stripe-prod stripe sk+_prod_ ALNUM 24
        stytch stytch secret+-live- WORD 40
        trigger trigger tr_+dev_ ALNUM 24
        wallet wallet xpr+v9 ALNUM 106
        yandex-key yandex AQ+VN WORD 36
        yandex-oauth yandex y0+_A WORD 57
        cloudflare-user cloudflare cf+ut_ ALNUM 48
        cloudflare-account cloudflare cf+at_ ALNUM 48
        onepassword-service onepassword ops+_eyJ ALNUM 300
    """
    found = {}
    for row in rows.strip().splitlines():
        name, kind, prefix, alphabet, size = row.split()
        token = prefix.replace("+", "") + make.of(globals()[alphabet], int(size))
        found[name] = (kind, token)
    return found


def _formed(make: Maker) -> dict[str, tuple[str, str]]:
    """Tokens of several parts."""
    of = make.of
    return {
        "azure-client": ("azure", of(ALNUM, 3) + "8" + "Q" + "~" + of(ALNUM, 34)),
        "azure-new": ("azure", of(ALNUM, 52) + "JQQJ" + "99" + of(ALNUM, 26)),
        "terraform": ("terraform", of(ALNUM, 14) + ".atlas" + "v1." + of(ALNUM, 67)),
        "sendgrid": ("sendgrid", "S" + "G." + of(WORD, 22) + "." + of(WORD, 43)),
        "mailchimp": ("mailchimp", of(HEX, 32) + "-us" + "12"),
        "telegram": ("telegram", "712345" + "6789:A" + "A" + of(WORD, 33)),
        "discord": ("discord", "MT" + "A" + of(ALNUM, 21) + "." + of(WORD, 6) + "." + of(WORD, 38)),
        "airtable": ("airtable", "pa" + "t" + of(ALNUM, 14) + "." + of(HEX, 64)),
        "postman": ("postman", "PM" + "AK-" + of(HEX, 24) + "-" + of(HEX, 34)),
        "circleci": ("circleci", "CCI" + "PAT_" + of(ALNUM, 22) + "_" + of(HEX, 40)),
        "grafana": ("grafana", "gl" + "sa_" + of(ALNUM, 32) + "_" + of(HEX, 8)),
        "resend": ("resend", "r" + "e_" + of(ALNUM, 8) + "_" + of(ALNUM, 24)),
        "brevo": ("brevo", "xkey" + "sib-" + of(HEX, 64) + "-" + of(ALNUM, 16)),
        "langsmith": ("langsmith", "lsv2" + "_pt_" + of(HEX, 32) + "_" + of(HEX, 10)),
        "langfuse": ("langfuse", "sk-" + "lf-" + make.uuid()),
        "plaid": ("plaid", "access-" + "sandbox-" + make.uuid()),
        "tailscale": ("tailscale", "tskey-" + "auth-" + of(ALNUM, 12) + "-" + of(ALNUM, 32)),
        "dynatrace": ("dynatrace", "dt0" + "c01." + of(BASE32, 24) + "." + of(BASE32, 64)),
        "cloudflare": ("cloudflare", "v1" + ".0-" + of(HEX, 24) + "-" + of(HEX, 146)),
        "hubspot": ("hubspot", "pat-" + "na1-" + make.uuid()),
        "clickup": ("clickup", "pk" + "_4712345_" + of(UPPER, 32)),
        "azure-devops": ("azure", of(ALNUM, 76) + "AZ" + "DO" + of(ALNUM, 4)),
        "azure-cask": ("azure", of(ALNUM, 76) + "+A" + "St" + of(ALNUM, 6) + "=="),
        "azure-search": ("azure", of(ALNUM, 42) + "Az" + "Se" + of(ALNUM, 6)),
        "circleci-project": ("circleci", "CCI" + "PRJ_" + of(ALNUM, 22) + "_" + of(HEX, 40)),
        "firebase": ("firebase", of(WORD, 11) + ":APA" + "91b" + of(WORD, 134)),
        "harness": (
            "harness",
            ".".join(("pa" + "t", of(WORD, 22), of(ALNUM, 24), of(ALNUM, 20))),
        ),
        "jetbrains": (
            "jetbrains",
            "per" + "m:" + ".".join((of(ALNUM, 12), of(ALNUM, 10), of(ALNUM, 30))),
        ),
        "launchdarkly": ("launchdarkly", "sd" + "k-" + make.uuid()),
        "maxmind": ("maxmind", of(ALNUM, 6) + "_" + of(ALNUM, 29) + "_m" + "mk"),
        "onepassword-key": (
            "onepassword",
            "A" + "3-" + "-".join(of(UPPER, size) for size in (6, 6, 5, 5, 5)),
        ),
        "paypal": ("paypal", "access_tok" + "en$production$" + of(LOWER, 16) + "$" + of(HEX, 32)),
        "bcrypt": ("password_hash", "$2" + "y$10$" + of(ALNUM, 53)),
        "apache": ("password_hash", "$ap" + "r1$" + of(ALNUM, 8) + "$" + of(ALNUM, 22)),
        "crypt-sha512": ("password_hash", "$" + "6$" + of(ALNUM, 16) + "$" + of(ALNUM, 86)),
        "yescrypt": ("password_hash", "$y" + "$j9T$" + of(ALNUM, 22) + "$" + of(ALNUM, 43)),
        "argon2": (
            "password_hash",
            "$arg" + "on2id$v=19$m=65536,t=3,p=4$" + of(ALNUM, 22) + "$" + of(ALNUM, 43),
        ),
        "ldap-hash": ("password_hash", "{SS" + "HA}" + of(ALNUM, 40)),
        "django-hash": (
            "password_hash",
            "pbkdf2" + "_sha256$600000$" + of(ALNUM, 22) + "$" + of(ALNUM, 43) + "=",
        ),
        "jwt-hs": ("jwt", make.jwt('{"alg":"HS256","typ":"JWT"}')),
        "jwt-typ": ("jwt", make.jwt('{"typ":"JWT","alg":"RS256"}')),
        "jwt-other": ("jwt", make.jwt('{"b64":true,"alg":"ES256"}')),
    }


def prefix(size: int) -> str:
    """What a log puts in front of a line: so many characters, words and numbers."""
    text = "2026-01-15T10:30:45.123456Z INFO host-7f9c4d web[4711] (deploy.keys:214) request=8: "
    return (text * (size // len(text) + 1))[: size - 2] + ": "


def _keys(make: Maker) -> dict[str, tuple[str, str]]:
    key = "PRIVATE" + " KEY"
    encrypted = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011223344556677\n\n"
    found = {
        "pem": make.pem(key),
        "pem-rsa": make.pem(f"RSA {key}", 25),
        "pem-rsa-encrypted": make.pem(f"RSA {key}", 25, encrypted),
        "pem-ec": make.pem(f"EC {key}", 3),
        "pem-dsa": make.pem(f"DSA {key}", 10),
        "pem-openssh": make.pem(f"OPENSSH {key}", 7),
        "pem-encrypted": make.pem(f"ENCRYPTED {key}", 12),
        "pgp": make.pem(f"PGP {key} BLOCK", 30, "Version: GnuPG v2\n\n"),
        "pem-base64": base64.b64encode(make.pem(f"RSA {key}").encode()).decode(),
        "pem-base64-lines": base64.encodebytes(make.pem(key).encode()).decode().rstrip(),
        "pem-in-json": make.pem(key).replace("\n", "\\n"),
        "pem-crlf": make.pem(key).replace("\n", "\r\n"),
        "pem-on-one-line": make.pem(key).replace("\n", " "),
        "pem-in-source": make.pem(key).replace("\n", "\\n' +\n  '"),
        "pem-indented": make.pem(key).replace("\n", "\n      "),
        "pem-in-a-log": make.pem(key).replace("\n", "\n2026-01-15T10:30:45Z deploy[12]: "),
        "pem-in-url": make.pem(key).replace("\n", "%0A").replace("+", "%2B").replace(" ", "%20"),
        "pem-escaped-slashes": make.pem(key).replace("/", "\\/"),
        "pem-short": make.pem(key, 1),
        "pem-cat-a": make.pem(f"RSA {key}", 20).replace("\n", "$\n"),
        "pem-in-a-list": make.pem(f"EC {key}", 3).replace("\n", "\\n', '"),
        "pem-in-a-diff": make.pem(f"RSA {key}", 25).replace("\n", "\n+"),
        **{
            f"pem-behind-{size}": make.pem(f"RSA {key}", 25).replace("\n", "\n" + prefix(size))
            for size in (10, 48, 49, 60, 100, 250, 600, 1000)
        },
        **{
            f"pem-short-behind-{size}": make.pem(key, 1).replace("\n", "\n" + prefix(size))
            for size in (10, 49, 250, 1000)
        },
        "pem-in-container-log": make.pem(f"RSA {key}", 25).replace(
            "\n", '\\n","stream":"stdout","time":"2026-01-15T10:30:45.1Z"}\n{"log":"'
        ),
        "pem-encrypted-in-container-log": make.pem(f"RSA {key}", 25, encrypted).replace(
            "\n", '\\n","stream":"stdout","time":"2026-01-15T10:30:45.1Z"}\n{"log":"'
        ),
        "pem-behind-a-header": make.pem(key, 2).replace("\n", "\nX-Key-Line: "),
        "pem-base64-in-a-log": base64.encodebytes(make.pem(key, 9).encode())
        .decode()
        .rstrip()
        .replace("\n", "\n2026-01-15T10:30:45Z web-7f9c [info] deploy: "),
        "der-rsa": "MII" + "EvQIBADANBgkqhkiG9w0BAQEFAA" + "SC" + make.of(ALNUM, 1500),
        "der-ed25519": "MC4" + "CAQAwBQYDK2VwBCIEI" + make.of(ALNUM, 43),
        "der-ec": "MIGH" + "AgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg" + make.of(ALNUM, 120),
        "der-ec-old": "MHc" + "CAQEEI" + make.of(ALNUM, 150),
        "der-ec-384": "MIGk" + "AgEBBD" + make.of(ALNUM, 210),
        "der-ec-521": "MIHc" + "AgEBBEI" + make.of(ALNUM, 280),
        "der-rsa-1024": "MIIC" + "XAIBAAKBg" + make.of(ALNUM, 800),
        "der-rsa-512": "MIIB" + "OgIBAAJBA" + make.of(ALNUM, 400),
        "der-dsa": "MIIB" + "uwIBAAKBg" + make.of(ALNUM, 580),
        "der-ec-koblitz": "MHQ" + "CAQEEI" + make.of(ALNUM, 149),
        "der-ec-bare": "MDE" + "CAQEEI" + make.of(ALNUM, 59),
        "der-ec-224": "MGg" + "CAQEEH" + make.of(ALNUM, 132),
        "der-ec-without-public": "MEE" + "CAQAwEwYHKoZIzj0CAQYIKoZIzj0DAQcEJ" + make.of(ALNUM, 56),
        "der-rsa-pss": "MII" + "EvAIBADALBgkqhkiG9w0BAQoE" + make.of(ALNUM, 1600),
        "der-dsa-8": "MIIB" + "WwIBADCCATMGByqGSM44BAEw" + make.of(ALNUM, 400),
        "der-encrypted-ed25519": "MIGb" + "MFcGCSqGSIb3DQEFDTBK" + make.of(ALNUM, 190),
        "der-ed448": "MEc" + "CAQAwBQYDK2VxBDsEOQ" + make.of(ALNUM, 76),
        "der-ed25519-with-public": "MFE" + "CAQEwBQYDK2VwBCIEI" + make.of(ALNUM, 94),
        "putty": f"Private-Lines: 6\n{make.lines(6)}\nPrivate-MAC: {make.of(HEX, 64)}",
    }
    return {name: ("private_key", text) for name, text in found.items()}


@cache
def tokens() -> dict[str, tuple[str, str]]:
    """Name → (kind, secret): each is masked as a whole, wherever it stands."""
    make = Maker(20261121)
    return {**_prefixed(make), **_formed(make), **_keys(make)}


@cache
def settings() -> dict[str, tuple[str, str, str, str]]:
    """Name → (kind, what stands before, secret, what stands after)."""
    make = Maker(7)
    of = make.of
    user = base64.b64encode(b"someone:" + of(ALNUM, 12).encode()).decode()
    return {
        "bearer": ("authorization", "Authorization: Bearer ", of(ALNUM, 32), "\r\n"),
        "bearer-json": ("authorization", '"authorization": "Bearer ', of(WORD, 24), '"'),
        "bearer-curl": ("authorization", "-H 'Authorization: token ", of(HEX, 40), "'"),
        "bearer-alone": ("authorization", "sent bearer ", of(ALNUM, 40), " to it"),
        "basic": ("authorization", "Authorization: Basic ", user, "\n"),
        "docker-config": ("authorization", '{"auths": {"h": {"auth": "', user, '"}}}'),
        "okta": ("authorization", "Authorization: SSWS ", "00" + of(WORD, 40), "\n"),
        "url": ("url_password", "postgres://app:", of(ALNUM, 12), "@db:5432/x"),
        "url-short": ("url_password", "https://someone:", of(ALNUM, 6), "@example.com/"),
        "url-no-user": ("url_password", "redis://:", of(ALNUM, 20), "@cache/0"),
        "aws-secret": ("assignment", "aws_secret_access_key = ", of(ALNUM + "/+", 40), "\n"),
        "aws-secret-json": ("assignment", '"SecretAccessKey": "', of(ALNUM + "/+", 40), '",'),
        "azure-storage": ("azure", "AccountName=a;AccountKey=", of(ALNUM, 86) + "==", ";"),
        "azure-bus": ("azure", "SharedAccessKey=", of(ALNUM, 43) + "=", ";"),
        "azure-sas": ("azure", "https://a.example/c?sv=1&sig=", of(ALNUM, 43) + "%3D", "&x"),
        "slack-hook": (
            "slack",
            "https://hooks.slack" + ".com",
            "/services/T" + of(UPPER, 8) + "/B" + of(UPPER, 8) + "/" + of(ALNUM, 24),
            " ",
        ),
        "discord-hook": (
            "discord",
            "https://discord.com/api/webhooks/",
            "123456789012345678/" + of(WORD, 68),
            " ",
        ),
        "npmrc": ("assignment", "//registry.example/:_authToken=", make.uuid(), "\n"),
        "heroku-old": ("assignment", "HEROKU_API_KEY=", make.uuid(), "\n"),
        "yaml-password": ("assignment", "  password: ", of(ALNUM, 24), "\n"),
        "json-token": ("assignment", '{"access_token": "', of(ALNUM, 40), '"}'),
        "json-in-json": ("assignment", '{\\"clientSecret\\": \\"', of(ALNUM, 40), '\\"}'),
        "query": ("assignment", "GET /x?access_token=", of(HEX, 40), "&y=1"),
        "python": ("assignment", "api_key = '", of(HEX, 32), "'\n"),
        "ruby": ("assignment", ':secret_key_base => "', of(HEX, 128), '"'),
        "option": ("assignment", "tool --token ", of(ALNUM, 32), " run"),
        "export": ("assignment", "export MISTRAL_API_KEY=", of(ALNUM, 32), "\n"),
        "bare": ("authorization", "Authorization: ", of(ALNUM, 40), "\r\n"),
        "curl": ("option", "curl -s -u admin:", "s3" + "cr3t!", " https://x.example/"),
        "curl-long": ("option", "curl --user 'bob:", "hun" + "ter2", "' https://x.example/"),
        "mysql": ("option", "mysql -h db -u root -p", "s3" + "cr3t", " shop"),
        "mysqldump": ("option", "mysqldump --password=", "s3" + "cr3t", " shop"),
        "sshpass": ("option", "sshpass -p ", "s3" + "cr3t", " ssh host"),
        "redis": ("option", "redis-cli -h cache -a ", "s3" + "cr3t", " ping"),
        "docker-login": ("option", "docker login -u me -p ", "s3" + "cr3t", " registry.example"),
        "netrc": ("password", "machine h.example login me password ", "s3" + "cr3t", "\n"),
        "netrc-lines": ("password", "machine h\n  login me\n  password ", "s3" + "cr3t", "\n"),
        "pgpass": ("password", "db.example:5432:shop:app:", "s3" + "cr3t", "\n"),
        "go-dsn": ("password", "dsn app:", "s3" + "cr3t", "@tcp(db:3306)/shop"),
        "jdbc": ("password", "jdbc:mysql://db/shop?user=app&password=", "s3" + "cr3t", "&x=1"),
        "oracle": ("password", "jdbc:oracle:thin:app/", "s3" + "cr3t", "@db:1521"),
        "ado": ("password", "Server=db;User Id=sa;Password=", "S3" + "cr3t!", ";Encrypt=yes"),
        "npmrc-basic": ("password", "//r.example/:_auth=", user, "\n"),
        "jwk": ("jwk", '{"kty":"EC","x":"abc","d":"', of(ALNUM, 43), '"}'),
        "jwk-symmetric": ("jwk", '{"kty": "oct", "k": "', of(ALNUM, 43), '"}'),
        "cookie": ("cookie", "Cookie: ", "theme=dark; session=" + of(ALNUM, 32), "\r\n"),
        "set-cookie": ("cookie", "Set-Cookie: ", "sid=" + of(ALNUM, 40) + "; Path=/", "\r\n"),
        "amz": ("aws", "https://b.example/x?X-Amz-Signature=", of(HEX, 64), "&y=1"),
        "amz-header": ("aws", "SignedHeaders=host, Signature=", of(HEX, 64), "\n"),
        "goog": ("google", "https://b.example/x?X-Goog-Signature=", of(HEX, 512), " "),
        "teams": (
            "microsoft",
            "https://x.webhook.office.com/webhookb2/",
            f"{make.uuid()}@{make.uuid()}/IncomingWebhook/{of(HEX, 32)}/{make.uuid()}",
            " ",
        ),
        "zapier": (
            "zapier",
            "https://hooks.zapier.com",
            "/hooks/catch/1234567/" + of(LOWER, 7),
            " ",
        ),
        "totp": ("totp", "otpauth://totp/x?secret=", of(BASE32, 32), "&issuer=x"),
        "wireguard": ("assignment", "PrivateKey = ", of(ALNUM, 43) + "=", "\n"),
        "wireguard-shared": ("wireguard", "PresharedKey = ", of(ALNUM, 43) + "=", "\n"),
        "cohere": ("assignment", "COHERE_API_KEY: ", of(ALNUM, 40), "\n"),
        "htpasswd": ("option", "htpasswd -b /etc/x/.htpasswd admin ", "s3" + "cr3t", "\n"),
        "htpasswd-create": ("option", "htpasswd -c -B -C 10 -b users me '", "s3" + "cr3t", "'"),
        "htpasswd-print": ("option", "$ htpasswd -nbB admin ", "s3" + "cr3t!", " >> users"),
        "openssl": ("option", "openssl rsa -in k.pem -passin pass:", "s3" + "cr3t", " -out x"),
        "openssl-out": ("option", "openssl genrsa -passout 'pass:", "s3" + "cr3t", "' 2048"),
        "openssl-enc": ("option", "openssl enc -aes256 -pass pass:", "s3" + "cr3t", "\n"),
        "keytool": ("option", "keytool -list -storepass ", "s3" + "cr3t", " -v"),
        "keytool-key": ("option", "keytool -genkey -keypass '", "s3" + "cr3t", "'"),
        "httpie": ("option", "http -a someone:", "s3" + "cr3t", " https://x.example/a"),
        "httpie-long": ("option", "https POST x.example a=b --auth=me:", "s3" + "cr3t", "\n"),
        "httpie-quoted": ("option", "http GET https://x.example --auth 'me:", "s3" + "cr3t", "'"),
        "ansible": ("password", "web1 ansible_become_pass=", "s3" + "cr3t", " ansible_port=22"),
        "ansible-ssh": ("password", "    ansible_ssh_pass: '", "Blumen" + "!Topf", "'\n"),
        "ansible-json": ("password", '{"ansible_password": "', "s3" + "cr3t", '"}'),
        "pass-of-a-file": ("password", "SMTP_PASS=", "hun" + "ter2", "\n"),
        "pass-of-yaml": ("password", '  DB_PASS: "', "hun" + "ter-2", '"\n'),
        "pass-in-lower-case": ("assignment", "smtp_pass = '", of(ALNUM, 20), "'\n"),
        "pass-in-json": ("assignment", '{"db_pass": "', of(ALNUM, 20), '"}'),
        "xml": ("password", "<server><password>", "s3" + "cr3t", "</password></server>"),
        "xml-lines": (
            "password",
            '<wsse:Password Type="x">\n  ',
            "s3" + "cr3t",
            "\n</wsse:Password>",
        ),
        "xml-data": ("password", "<passphrase><![CDATA[", "s3" + "cr3t", "]]></passphrase>"),
        "xml-secret": ("password", "<secret>", "hun" + "ter2-x", "</secret>"),
        "xml-key": ("password", "<apiKey>", of(ALNUM, 12), "</apiKey>"),
        "xml-token": ("password", "<token>", of(ALNUM, 12), "</token>"),
        "php": ("password", "define('DB_PASSWORD', '", "s3" + "cr3t", "');"),
        "php-quoted": ("password", 'define( "SMTP_PASS" , "', "s3" + "cr3t", '" );'),
        "php-secret": ("password", "define('APP_SECRET', '", "hun" + "ter2-x", "');"),
        "php-salt": ("password", "define('SECURE_AUTH_KEY',  '", of(ALNUM + "|;<( )>", 64), "');"),
        "azure-sas-bare": ("azure", "the signature is sig=", of(ALNUM, 43) + "=", "\n"),
        "azure-sas-line": ("azure", "\nsig=", of(ALNUM, 40) + "%2B" + of(ALNUM, 2) + "%3D", "\n"),
    }


ORDINARY = {
    "commit": "commit 3f2a9c1e4b5d6f708192a3b4c5d6e7f801234567 (HEAD -> main)",
    "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty.txt",
    "sha512": "checksum " + "0f1e2d3c4b5a6978" * 8,
    "uuid": "request 550e8400-e29b-41d4-a716-446655440000 done",
    "image": "data:image/png;base64," + base64.b64encode(random.Random(3).randbytes(3000)).decode(),
    "base64url": base64.urlsafe_b64encode(random.Random(4).randbytes(6000)).decode(),
    "integrity": '"integrity": "sha512-'
    + base64.b64encode(random.Random(5).randbytes(64)).decode()
    + '",',
    "pip hash": "--hash=sha256:" + "9c2b1a0f3e4d5c6b" * 4,
    "docker digest": "docker.io/library/python@sha256:" + "ab12cd34ef56ab78" * 4,
    "versions": "pytest-8.3.4, pluggy-1.5.0, hypothesis-6.119.4, node v20.11.1-rc.2+build.77",
    "tests": "tests/test_auth.py::TestTokenRefresh::test_password_is_reset[case-12] PASSED [ 42%]",
    "prose": "The password must have 12 characters; a token expires after 3600 seconds, the secret "
    "stays with the credential helper. Pass the API key in a header.",
    "url": "https://example.com:8443/a/b?x=1&y=2#top and git@github.com:owner/repo.git",
    "url with user": "ssh://git@example.com:22/owner/repo.git",
    "url placeholders": "postgres://user:***@db/x https://${USER}:${PASSWORD}@host/ "
    "redis://:$REDIS_PASSWORD@cache",
    "traceback": 'Traceback (most recent call last):\n  File "app/token_store.py", line 12, in f\n'
    '    token = self._tokens[session.user_identifier]\n    secret = os.environ["APP_SECRET"]\n'
    "KeyError: 'password_reset_confirmation_token'\n",
    "minified": "!function(e,t){token:function(e){return e.secretAccessTokenProvider},password:t."
    'passwordValidationResultHandler,apiKey:n.apiKeyConfiguration||"",a=e.tokenTypeToDescription}',
    "identifiers": "getAccessTokenFromAuthenticationProviderForTenant "
    "AbstractSingletonProxyFactoryBean__init_subclass_with_password_2",
    "settings": "token_type: bearer\ntokenizer: cl100k_base_multilingual\npassword_hashers: "
    "django.contrib.auth.hashers.PBKDF2PasswordHasher\nsecretName: production-database-credentials",
    "code": "password: str = Field(default_factory=generate_password)\nconst token = await "
    "getTokenFromSecureStorage2(userId);\nsecret = get_secret_value(SecretId=arn)\n",
    "templates": "token: ${{ secrets.GITHUB_TOKEN }}\npassword: {{ .Values.database.password }}\n"
    "API_KEY=<your-api-key-goes-here>\nPASSWORD=$DATABASE_PASSWORD_FROM_VAULT",
    "talk about keys": 'if "-----BEGIN RSA PRIVATE KEY-----" in text: raise ValueError("no keys")',
    "names of keys": 'BEGIN = "-----BEGIN RSA PRIVATE KEY-----"\nEND = "-----END RSA PRIVATE KEY"\n'
    "digest = 'da39a3ee5e6b4b0d3255bfef95601890afd80709aabbccdd'",
    "public key": "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEabcdefghijklmnop"
    "\n-----END PUBLIC KEY-----",
    "certificate": "-----BEGIN CERTIFICATE-----\n"
    + "MIIBszCCAVmgAwIBAgIUQ" * 12
    + "\n-----END CERTIFICATE-----",
    "ssh public": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHx2bW9kZWxhYmNkZWZnaGlqa2xtbm9w me@host",
    "css": ".sk-circle-fade-dot-animation{margin:0} .sk-folding-cube-before-rotation{top:0}",
    "headers": "Authorization: Bearer <token>\nAuthorization: Bearer $TOKEN\nauthorization: basic\n"
    "WWW-Authenticate: Basic realm=protected\nbearer authentication is required here",
    "paths": "token file /srv/deploy/config/tokens/production/access-token-2024.json is missing",
    "module": "optimize/_highspy/_highs_options.cpython-311-x86_64-linux-gnu.so, "
    "for more see `Basic Operations for Tables`_ and Basic Authentication",
    "numbers": "3.14159265358979323846 1700000000123 0x7fff5fbff8c0 1e-10 18446744073709551615",
    "dates": "2026-01-15T10:30:45.123456Z INFO password-service started in 1234ms, token cache 512",
    "npm names": "npm_config_registry npm_lifecycle_script npm_package_dependencies_typescript",
    "emoji": "✓ 12 tests passed 🎉 — naïve façade, Zürich",
    "binary": bytes(range(256)).decode("latin-1"),
    "terminal": "\x1b[32mPASSED\x1b[0m tests/test_secrets.py \x1b[1m[100%]\x1b[0m",
    "go": "ok  \tgithub.com/owner/repo/internal/token\t0.123s\tcoverage: 81.2% of statements",
    "cargo": "test auth::token::tests::rejects_expired_tokens_2 ... ok",
    "jest": "PASS src/auth/password.test.ts (5.21 s) ✓ hashes the password (12 ms)",
    "talk and a lock file": 'if "-----BEGIN PRIVATE KEY-----" in text:\n    fail()\n'
    + "\n".join(
        f'"integrity": "sha512-{base64.b64encode(random.Random(n).randbytes(64)).decode()}",'
        for n in range(4)
    ),
    "talk and a digest": "BEGIN = '-----BEGIN RSA PRIVATE KEY-----'\n"
    "commit 3f2a9c1e4b5d6f708192a3b4c5d6e7f801234567\n" + "ab12cd34ef56ab78" * 4,
    "talk and both ends": 'START = "-----BEGIN EC PRIVATE KEY-----"\n'
    'STOP = "-----END EC PRIVATE KEY-----"\ndef the_body_between_them(textOfTheWholeFile): ...',
    "tests of keys": "tests/test_pem.py::test_reads[-----BEGIN PRIVATE KEY-----] PASSED [ 50%]\n"
    "tests/test_pem.py::test_writes[-----BEGIN PRIVATE KEY-----] PASSED [100%]",
    "options": "docker run -u 1000:1000 -p 8080:80 image; curl -u $USER:$PASS https://x; mysql -p\n"
    "curl -u user:password https://x; curl -fsSL https://x.example/install.sh | sh -s -- -u\n"
    "mkdir -p /srv/app/data; docker compose -p shop up; docker run -p 127.0.0.1:5432:5432 postgres",
    "uuids in json": '{"d": "550e8400-e29b-41d4-a716-446655440000", "k": "default", "id": '
    '"9b2d1c7e-1f2a-4b3c-8d4e-5f6a7b8c9d0e", "d": "M10 20L30 40Z", "k": "' + "ab12cd34" * 8 + '"}',
    "hex dump": "00000000  7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00  |.ELF............|\n"
    "00000010: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF............",
    "go.sum": "golang.org/x/text v0.14.0 h1:ScX5w1eTa3QqT8oi6+ziP7dTV1S2+ALU0bI+0zXKWiQ=",
    "yarn": 'resolved "https://r.example/x/-/x-1.0.tgz#da39a3ee5e6b4b0d3255bfef95601890afd80709"',
    "cookies": "Set-Cookie: theme=dark; Path=/; HttpOnly\nCookie: lang=en-GB; consent=yes",
    "connection": "Server=localhost;Database=shop;Trusted=true; ?password=<password>&x\n"
    "postgres listens on 0.0.0.0:5432->5432/tcp, db:5432:shop, app.ts:54:12:error:missing",
    "ci": "##[group]Run actions/checkout@08c6903cd8c0fde910a37f88322edcfb5dd907a8\n"
    "::add-mask::***\nDownloaded digest sha256:" + "5e6b4b0d" * 8 + " (layer 1/7, 12.3MB)",
    "authorization": "Authorization: Digest username=me, realm=x\nauthorization: required\n"
    "access-control-allow-headers: authorization, content-type, x-requested-with",
    "curves": "path d='M0 0h24v24H0z' fill='none' data-k='row-12' key-12 pa-12 re_path fc-list",
    "machine": "machine learning on the default login page; password reset",
    "snapshot": "exports[`test_renders 1`] = `<div class='live_preview secret-santa api-docs'>`;",
    "htpasswd": "htpasswd -b FILE USER PASS; htpasswd -nb admin password\n"
    'htpasswd -b users me "$PASSWORD"; htpasswd -c /etc/x/.htpasswd admin; htpasswd -D users me',
    "openssl": "openssl rsa -passin env:SECRET; openssl rsa -passin file:k.txt; openssl "
    "-passin pass:\n"
    "openssl enc -pass pass:$PASSWORD; -passin pass:password\nkeytool -storepass:env PW "
    "-keypass $P",
    "httpie": "http -a $USER:$PASSWORD https://x; serving http on port -a 0.0.0.0:8080\n"
    "http -a localhost:8080\nhttp -a user:password x.example; http --auth-type=bearer x.example",
    "ansible": "ansible_become_pass='{{ vault_pass }}' ansible_ssh_pass: !vault |\n"
    "ansible_password={{ lookup('env', 'X') }} ansible_become_pass=$PASS ansible_pass_file: x.txt",
    "names with pass": "ALL_TESTS_PASS=yes TESTS_PASS: 12/14 FIRST_PASS=SHADOW_MAP "
    "MULTI_PASS=12.5\n"
    "render_pass = create_render_pass(device) test_pass: 0.98 after_pass=first_level_of_the_tree\n"
    "PRE_PASS=/usr/share/x1 SMTP_PASS=${SMTP_PASS} DB_PASS=$PASS GIT_ASKPASS=/usr/bin/x2y",
    "xml": "<password>${db.password}</password><password></password><password>{COQLCE6DU6GtcS5P}"
    "</password><password>********</password><token>identifier</token><secret>$SECRET</secret>\n"
    "<token>else</token><token>next_word</token><password>password</password><apiKey>your-api-key"
    "</apiKey> enter <password> then <token> <password>the new one</password>",
    "php": "define('DB_PASSWORD', getenv('X')); define('PASSWORD_MIN', '8'); "
    "define('DB_PASS', '');\n"
    "define('CSRF_TOKEN', 'csrf_token'); define('AUTH_KEY', 'put your unique phrase here');\n"
    "define(['jquery', 'password'], f); define('DB_PASSWORD', 'password'); #define PASS 1",
    "signatures": "sig=abcdef sig=" + "ab12cd34" * 8 + " session.sig=abc design=" + "aB3xYz7Kq" * 5,
    "user names": "cfut_dir cfat_names cfk_1 ops_eyJ ops_identifier_of_a_function",
    "public keys in lines": "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA" + "aB3xYz7Kq" * 9 + "\n"
    "MCowBQYDK2VwAyEA"
    + "aB3xYz7Kq" * 4
    + "\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE"
    + "aB3xYz7Kq" * 9
    + "\nMIIBtzCCASwGByqGSM44BAEw"
    + "aB3xYz7Kq" * 9,
}
