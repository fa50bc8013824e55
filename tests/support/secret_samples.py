"""Made-up secrets, put together at run time: no file of the repository holds one.

Every value comes from one generator with a fixed seed, so that each run masks the same text.
"""

from __future__ import annotations

import base64
import random
import string

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
        "jwt-hs": ("jwt", make.jwt('{"alg":"HS256","typ":"JWT"}')),
        "jwt-typ": ("jwt", make.jwt('{"typ":"JWT","alg":"RS256"}')),
        "jwt-other": ("jwt", make.jwt('{"b64":true,"alg":"ES256"}')),
    }


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
        "putty": f"Private-Lines: 6\n{make.lines(6)}\nPrivate-MAC: {make.of(HEX, 64)}",
    }
    return {name: ("private_key", text) for name, text in found.items()}


def tokens() -> dict[str, tuple[str, str]]:
    """Name → (kind, secret): each is masked as a whole, wherever it stands."""
    make = Maker(20261121)
    return {**_prefixed(make), **_formed(make), **_keys(make)}


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
        "cohere": ("assignment", "COHERE_API_KEY: ", of(ALNUM, 40), "\n"),
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
}
