# ruff: noqa: E501  # a row is one line
"""The shapes of tokens as data: one row per shape, with its source and date.

``gitleaks`` is that scanner's list of rules, ``vendor`` the service's own published format; the
date is when the row was last compared with it. :mod:`flow.core.secrets.shapes` reads the rows. To
add a shape: a row here, a made-up sample in tests/support/secret_samples.py, its kind in
docs/sandbox-secrets.md.
"""

from __future__ import annotations

from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ALPHABETS = {
    "ALNUM": b"[A-Za-z0-9]",
    "ALNUM_": b"[A-Za-z0-9_]",
    "ALNUM-": b"[A-Za-z0-9-]",
    "ALNUM%": b"[A-Za-z0-9%-]",
    "BASE32": b"[A-Z2-7]",
    "BASE64": b"[A-Za-z0-9+/=]",
    "BASE64_": b"[A-Za-z0-9+/=_]",
    "BASE64_-": b"[A-Za-z0-9+/=_-]",
    "DOTTED": rb"(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))",
    "HEX": b"[0-9a-f]",
    "HEX-": b"[0-9a-f-]",
    "HEX_": b"[0-9a-f_]",
    "HEX_local": b"[0-9a-flo_]",
    "HEXES": b"[0-9a-fA-F]",
    "LOWER": b"[a-z0-9]",
    "UPPER": b"[A-Z0-9]",
    "UPPER-": b"[A-Z0-9-]",
    "WORD": b"[A-Za-z0-9_-]",
    "WORD=": b"[A-Za-z0-9_=-]",
}

# Columns: kind, prefixes, alphabet, least length after them, `edge` if the prefix starts a word and a
# check of flow.core.secrets.checks (`-`: neither), source, date.
PREFIXED = """
adobe        p8e-                                    ALNUM     32  edge       gitleaks 2026-11
age          AGE-SECRET-KEY-1                        UPPER     50  -          gitleaks 2026-11
age          AGE-SECRET-KEY-PQ-1                     UPPER     50  -          vendor   2026-11
alibaba      LTAI                                    ALNUM     20  edge+mixed gitleaks 2026-11
anthropic    sk-ant-                                 WORD      24  -          gitleaks 2026-11
atlassian    ATATT3,ATCTT3                           WORD=     60  -          gitleaks 2026-11
atlassian    ATBB                                    ALNUM     32  edge+mixed gitleaks 2026-11
atlassian    ATTA                                    ALNUM     72  edge       gitleaks 2026-11
atlassian    BBDC-                                   BASE64    40  edge       vendor   2026-11
aws          ABSK                                    BASE64    100 edge       gitleaks 2026-11
aws          bedrock-api-key-                        BASE64    60  -          gitleaks 2026-11
aws          FwoGZXIvYXdz,IQoJb3JpZ2lu               BASE64    80  -          gitleaks 2026-11
brevo        xkeysib-                                ALNUM-    60  -          gitleaks 2026-11
brex         bxt_                                    ALNUM     30  edge       vendor   2026-11
buildkite    bkua_                                   HEX       40  -          vendor   2026-11
buildkite    bkct_,bkaj_                             HEX       40  edge       vendor   2026-11
cerebras     csk-                                    ALNUM     40  edge       vendor   2026-11
clojars      CLOJARS_                                HEX       60  -          gitleaks 2026-11
cloudflare   v1.0-                                   HEX-      150 edge       gitleaks 2026-11
cloudflare   cfut_,cfat_,cfk_                         ALNUM     40  edge       vendor   2026-11
cloudflare   eyJhIjoi                                BASE64    100 edge       vendor   2026-11
confluent    cflt                                    BASE64    58  edge+cased vendor   2026-11
contentful   CFPAT-                                  WORD      40  -          vendor   2026-11
crates       cio                                     ALNUM     32  edge+mixed vendor   2026-11
cursor       crsr_                                   HEX       60  edge       vendor   2026-11
defined      dnkey-                                  WORD=     79  -          gitleaks 2026-11
deno         ddp_                                    ALNUM     36  edge       vendor   2026-11
digitalocean dop_v1_,doo_v1_,dor_v1_                 HEX       64  -          gitleaks 2026-11
docker       dckr_pat_,dckr_oat_                     WORD      27  -          vendor   2026-11
doppler      dp.pt.,dp.st.,dp.sa.,dp.ct.,dp.scim.    DOTTED    40  edge       gitleaks 2026-11
doppler      dp.audit.                               DOTTED    40  edge       gitleaks 2026-11
dropbox      sl.u.,sl.B                              WORD      100 edge       gitleaks 2026-11
duffel       duffel_test_,duffel_live_               WORD=     40  -          gitleaks 2026-11
e2b          e2b_                                    HEX       40  edge       vendor   2026-11
easypost     EZAK,EZTK                               ALNUM     54  edge       gitleaks 2026-11
elevenlabs   sk_                                     HEX       48  edge       vendor   2026-11
facebook     EAAM,EAAC,EAAB                          ALNUM     100 edge+cased gitleaks 2026-11
figma        figd_,figu_                             WORD      38  -          vendor   2026-11
firecrawl    fc-                                     HEX       32  edge       vendor   2026-11
fireworks    fw_                                     ALNUM     22  edge+mixed vendor   2026-11
flutterwave  FLWSECK_TEST-,FLWSECK-                  ALNUM     12  -          gitleaks 2026-11
fly          fo1_                                    WORD      43  edge       gitleaks 2026-11
fly          fm1r_,fm1a_,fm2_                        BASE64    80  edge       gitleaks 2026-11
frameio      fio-u-                                  WORD=     60  -          gitleaks 2026-11
github       ghp_,gho_,ghu_,ghr_                     ALNUM     30  -          gitleaks 2026-11
github       github_pat_                             ALNUM_    40  -          gitleaks 2026-11
gitlab       glpat-,gldt-,glptt-,glrt-,glcbt-,glft-  DOTTED    20  -          gitleaks 2026-11
gitlab       glimt-,glagent-,glsoat-,gloas-,glffct-  DOTTED    20  -          gitleaks 2026-11
gitlab       GR1348941                               WORD      20  -          gitleaks 2026-11
gitlab       glwt-,gloat-                            DOTTED    20  -          vendor   2026-11
gocardless   live_                                   WORD      38  edge+cased vendor   2026-11
google       AIza                                    WORD      35  edge       gitleaks 2026-11
google       AQ.Ab                                   WORD      30  edge+mixed gitleaks 2026-11
google       ya29.                                   DOTTED    20  edge       gitleaks 2026-11
google       GOCSPX-                                 WORD      28  -          gitleaks 2026-11
google       1//0                                    WORD      40  edge       gitleaks 2026-11
google       GOOG1E                                  UPPER     50  edge       vendor   2026-11
grafana      glc_                                    BASE64    32  edge       gitleaks 2026-11
grafana      glsa_                                   ALNUM_    40  edge       gitleaks 2026-11
groq         gsk_                                    ALNUM     40  -          vendor   2026-11
heroku       HRKU-                                   WORD      36  -          gitleaks 2026-11
hubspot      pat-na1-,pat-na2-,pat-eu1-,pat-ap1-     HEX-      36  edge       vendor   2026-11
huggingface  hf_,api_org_                            ALNUM     30  edge       gitleaks 2026-11
inngest      signkey-prod-,signkey-test-             HEX       32  -          vendor   2026-11
intercom     dG9rO                                   BASE64    50  edge+cased vendor   2026-11
intra42      s-s4t2ud-,s-s4t2af-                     HEX       64  edge       gitleaks 2026-11
jfrog        AKCp                                    ALNUM     65  edge       gitleaks 2026-11
jfrog        cmVmd                                   ALNUM     59  edge+cased gitleaks 2026-11
jina         jina_                                   WORD      50  -          vendor   2026-11
langfuse     sk-lf-                                  HEX-      36  -          vendor   2026-11
langsmith    lsv2_pt_,lsv2_sk_                       HEX_      42  -          vendor   2026-11
langsmith    ls__                                    ALNUM     30  edge       vendor   2026-11
linear       lin_api_,lin_oauth_                     ALNUM     32  -          gitleaks 2026-11
llamacloud   llx-                                    WORD      40  edge+mixed vendor   2026-11
mercury      secret-token:                           ALNUM_    24  -          vendor   2026-11
minisign     RWRTY0Iy,RWRCSwAAAA                     BASE64    80  edge       vendor   2026-11
mongodb      mdb_sa_sk_                              WORD      32  -          vendor   2026-11
neon         napi_                                   ALNUM     60  edge       vendor   2026-11
netlify      nfp_                                    ALNUM     36  edge       vendor   2026-11
netlify      nfc_,nfo_,nfu_,nfb_                     ALNUM     36  edge+mixed vendor   2026-11
newrelic     NRAK-,NRII-,NRJS-                       WORD      19  -          gitleaks 2026-11
nostr        nsec1                                   LOWER     58  edge       vendor   2026-11
notion       ntn_                                    ALNUM     40  edge       gitleaks 2026-11
notion       secret_                                 ALNUM     43  edge       gitleaks 2026-11
npm          npm_                                    ALNUM     36  edge       gitleaks 2026-11
nuget        oy2                                     LOWER     43  edge       vendor   2026-11
nvidia       nvapi-                                  WORD      60  -          vendor   2026-11
octopus      API-                                    UPPER     26  edge+mixed gitleaks 2026-11
onepassword  ops_eyJ                                 WORD      100 -          gitleaks 2026-11
onepassword  ops_eyJ                                 BASE64_-  80  edge       gitleaks 2026-11
openai       sk-proj-,sk-svcacct-,sk-admin-,sk-None- WORD      32  -          gitleaks 2026-11
openai       sk-service-                             WORD      32  -          gitleaks 2026-11
openai       sk-                                     ALNUM     32  edge       gitleaks 2026-11
openai       sess-                                   ALNUM     40  edge       gitleaks 2026-11
openrouter   sk-or-v1-,sk-or-                        HEX       40  -          vendor   2026-11
openshift    sha256~                                 WORD      43  -          gitleaks 2026-11
openvsx      ovsxat_                                 ALNUM     30  edge       vendor   2026-11
packagist    packagist_ort_,packagist_uut_           HEX       60  -          vendor   2026-11
packagist    packagist_out_                          HEX       60  -          vendor   2026-11
paddle       pdl_live_,pdl_sdbx_                     ALNUM_    40  -          vendor   2026-11
perplexity   pplx-                                   ALNUM     40  -          gitleaks 2026-11
pinecone     pcsk_                                   ALNUM_    50  -          vendor   2026-11
plaid        access-sandbox-,access-production-      HEX-      36  -          gitleaks 2026-11
plaid        access-development-                     HEX-      36  -          gitleaks 2026-11
planetscale  pscale_tkn_,pscale_pw_,pscale_oauth_    DOTTED    30  -          gitleaks 2026-11
posthog      phx_,phs_                               ALNUM     40  edge       vendor   2026-11
prefect      pnu_                                    ALNUM     36  edge       gitleaks 2026-11
pulumi       pul-                                    HEX       40  edge       gitleaks 2026-11
pypi         pypi-AgE                                WORD      50  -          gitleaks 2026-11
readme       rdme_                                   LOWER     70  edge       gitleaks 2026-11
render       rnd_                                    ALNUM     28  edge+mixed vendor   2026-11
replicate    r8_                                     ALNUM     37  edge       vendor   2026-11
resend       re_                                     ALNUM_    30  edge+mixed vendor   2026-11
rubygems     rubygems_                               HEX       48  -          gitleaks 2026-11
runpod       rpa_                                    ALNUM     40  edge       vendor   2026-11
scalingo     tk-us-                                  WORD      48  edge       gitleaks 2026-11
sentry       sntrys_,sntryu_                         BASE64_   60  -          gitleaks 2026-11
sentry       sntryi_                                 HEX       64  -          vendor   2026-11
settlemint   sm_aat_,sm_pat_,sm_sat_                 ALNUM     16  edge       gitleaks 2026-11
shippo       shippo_live_,shippo_test_               HEXES     40  -          gitleaks 2026-11
shopify      shpat_,shpca_,shppa_,shpss_             HEXES     32  -          gitleaks 2026-11
shopify      shptka_,shpua_                          HEXES     32  -          vendor   2026-11
slack        xoxb-,xoxp-,xoxa-,xoxr-,xoxs-,xoxc-     ALNUM%    20  -          gitleaks 2026-11
slack        xoxd-,xoxo-                             ALNUM%    20  -          gitleaks 2026-11
slack        xoxe-,xoxe.,xapp-                       DOTTED    30  -          gitleaks 2026-11
snyk         snyk_uat.,snyk_sat.                     DOTTED    40  -          vendor   2026-11
sonar        squ_,sqp_,sqa_                          HEX       40  edge       vendor   2026-11
sourcegraph  sgp_                                    HEX_local 40  edge       gitleaks 2026-11
square       sq0atp-,sq0csp-                         WORD      22  -          gitleaks 2026-11
square       EAAA                                    WORD      50  edge+cased gitleaks 2026-11
statsig      secret-                                 ALNUM     40  edge+mixed vendor   2026-11
stripe       sk_live_,sk_test_,rk_live_,rk_test_     ALNUM_    20  -          gitleaks 2026-11
stripe       whsec_                                  BASE64    24  -          gitleaks 2026-11
stripe       sk_prod_,rk_prod_,sk_org_               ALNUM_    20  -          gitleaks 2026-11
stytch       secret-live-,secret-test-               WORD=     30  -          vendor   2026-11
supabase     sbp_                                    HEX       40  edge       vendor   2026-11
supabase     sb_secret_                              WORD      20  -          vendor   2026-11
tailscale    tskey-                                  ALNUM-    24  -          vendor   2026-11
tavily       tvly-                                   WORD      24  mixed      vendor   2026-11
together     tgp_v1_                                 WORD      40  -          vendor   2026-11
trigger      tr_dev_,tr_prod_,tr_pat_                ALNUM     20  edge+mixed vendor   2026-11
typeform     tfp_                                    DOTTED    40  edge       gitleaks 2026-11
vault        hvs.,hvb.,hvr.                          WORD      24  edge       gitleaks 2026-11
vercel       vercel_blob_rw_                         ALNUM_    30  -          vendor   2026-11
vercel       vck_                                    ALNUM     40  edge+mixed vendor   2026-11
vercel       vcp_,vci_,vca_,vcr_                     ALNUM     24  edge+mixed vendor   2026-11
voyage       pa-                                     WORD      43  edge+mixed vendor   2026-11
wallet       xprv9s21ZrQH143K,xprv9,zprv,yprv        ALNUM     90  edge+cased vendor   2026-11
wandb        wandb_v1_                               ALNUM_    60  -          vendor   2026-11
xai          xai-                                    ALNUM     60  -          vendor   2026-11
yandex       AQVN                                    WORD      35  edge+cased gitleaks 2026-11
yandex       y0_A,y0__                               WORD      55  edge+cased vendor   2026-11
"""
"""Tokens of services that begin with a prefix."""

# Columns: kind, anchors, bytes of a match before its anchor at most (`-`: the anchor may precede
# the match), pattern (`<4>`: a word began four bytes before), its run (an alphabet, a pattern,
# `-`), source, date.
FORMED = r"""
airtable pat 0 pat<3>[A-Za-z0-9]{14}\.[0-9a-f]{64} HEX vendor 2026-11
aws AKIA,ASIA,ABIA,ACCA,A3T 0 A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])<4>[A-Z2-7]{16}(?![A-Za-z0-9]) - gitleaks 2026-11
aws -Signature= - (?<=X-Amz-Signature=)[0-9a-f]{64} HEX vendor 2026-11
aws Signature= - (?<=[,?&\s]Signature=)[A-Za-z0-9%~_/+-]{24} [A-Za-z0-9%~_/+=-] vendor 2026-11
azure AccountKey= - (?<=AccountKey=)[A-Za-z0-9+/]{40} BASE64 vendor 2026-11
azure AccessKey= - (?<=AccessKey=)[A-Za-z0-9+/]{40} BASE64 vendor 2026-11
azure sig= - (?<=[?&;]sig=)[A-Za-z0-9+/%_-]{40} [A-Za-z0-9+/%=_-] vendor 2026-11
azure sig= - (?<=sig=)(?<![A-Za-z0-9_-]sig=)(?:[A-Za-z0-9+/]|%2[BFbf]){43}(?:=|%3[Dd]) - vendor 2026-11
azure Q~ 4 [A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31} [A-Za-z0-9_~-] gitleaks 2026-11
azure JQQJ99 52 [A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20} ALNUM vendor 2026-11
azure AZDO 76 [A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4} ALNUM vendor 2026-11
azure +ASt,ACDb,AIoT,+AMC,+AEh,+ARm 76 [A-Za-z0-9+/]{28,76}(?:\+ASt|ACDb|AIoT|\+AMC|\+AEh|\+ARm)[A-Za-z0-9+/]{5,6}= BASE64 vendor 2026-11
azure AzSe,AzCa,AzFu 42 [A-Za-z0-9+/]{40,42}Az(?:Se|Ca|Fu)[A-Za-z0-9]{6} BASE64 vendor 2026-11
circleci CCIPAT_,CCIPRJ_ 0 CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[0-9a-f]{40} HEX vendor 2026-11
clickup pk_ 0 pk_<3>[0-9]{6,10}_[A-Z0-9]{32} UPPER vendor 2026-11
databricks dapi 0 dapi<4>[0-9a-f]{32}(?>-[0-9]|)(?![0-9A-Za-z]) - gitleaks 2026-11
discord - - [MNO][DTjz]<2>[A-Za-z0-9_-]{21,26}+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27} WORD vendor 2026-11
discord /api/webhooks/ - (?<=/api/webhooks/)[0-9]{15,22}+/[A-Za-z0-9_-]{50} WORD vendor 2026-11
dynatrace dt0 0 dt0[a-z][0-9]{2}\.[A-Z2-7]{24}\.[A-Z2-7]{64} BASE32 gitleaks 2026-11
firebase :APA91b 11 [A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{100} WORD vendor 2026-11
github ghs_ 0 ghs_[A-Za-z0-9]{30} DOTTED vendor 2026-11
google -Signature= - (?<=X-Goog-Signature=)[0-9a-f]{64} HEX vendor 2026-11
harness pat.,sat. 0 [ps]at\.<4>[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20} ALNUM gitleaks 2026-11
jetbrains perm:,perm- 0 perm[:-]<5>[A-Za-z0-9=]{8,64}+\.[A-Za-z0-9=]{4,64}+\.[A-Za-z0-9]{20} ALNUM vendor 2026-11
launchdarkly sdk- 0 sdk-<4>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12} - vendor 2026-11
mailchimp -us0,-us1,-us2,-us3,-us4,-us5,-us6,-us7,-us8,-us9 32 [0-9a-f]{32}-us[0-9]{1,2}(?![0-9A-Za-z]) - gitleaks 2026-11
mailgun key- 0 key-(?<!-key-)<4>[0-9a-f]{32}(?![0-9A-Za-z]) - gitleaks 2026-11
mapbox sk.eyJ 0 sk\.eyJ[A-Za-z0-9_-]{20} DOTTED vendor 2026-11
maxmind _mmk 36 [A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk(?![A-Za-z0-9]) - gitleaks 2026-11
microsoft webhookb2/ - (?<=/webhookb2/)[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32} [0-9a-f/-] gitleaks 2026-11
onepassword A3- 0 A3-<3>[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5} UPPER- gitleaks 2026-11
paypal access_token$ 0 access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32} HEX vendor 2026-11
password_hash $2y$,$2a$,$2b$ 0 \$2[aby]\$[0-9]{2}\$[./A-Za-z0-9]{53} - vendor 2026-11
password_hash $apr1$ 0 \$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22} - vendor 2026-11
password_hash $1$,$5$,$6$ 0 \$[156]\$(?>rounds=[0-9]{1,9}+\$|)[./A-Za-z0-9]{1,16}+\$[./A-Za-z0-9]{22} [./A-Za-z0-9] vendor 2026-11
password_hash $y$,$7$,$gy$ 0 \$(?:g?y|7)\$[./A-Za-z0-9]{1,40}+\$[./A-Za-z0-9]{1,86}+\$[./A-Za-z0-9]{43} - vendor 2026-11
password_hash $argon2 0 \$argon2(?:id|i|d)\$v=[0-9]{1,3}\$[a-z0-9,=]{5,40}+\$[A-Za-z0-9+/]{8,64}+\$[A-Za-z0-9+/]{16} BASE64 vendor 2026-11
password_hash {SHA,{SSHA 0 \{SS?HA(?:256|512|)\}[A-Za-z0-9+/]{27} BASE64 vendor 2026-11
password_hash pbkdf2_sha 0 pbkdf2_sha(?:1|256|512)\$[0-9]{3,8}\$[A-Za-z0-9./]{1,64}+\$[A-Za-z0-9+/]{27} BASE64 vendor 2026-11
postman PMAK- 0 PMAK-[0-9a-f]{24}-[0-9a-f]{34} HEX gitleaks 2026-11
private_key ADANBgkqhkiG9w0BAQEFAASC,ADALBgkqhkiG9w0BAQoE 11 MII[A-Za-z0-9+/]{3,8}ADA(?:NBgkqhkiG9w0BAQEFAASC|LBgkqhkiG9w0BAQoE) KEY_LINES vendor 2026-11
private_key IBAAKC,IBAAKB,IBAAJB 7 MII[A-Za-z0-9+/]{2,4}IBAA(?:K[BC]|JB)[A-Za-z0-9+/]{40} KEY_LINES vendor 2026-11
private_key AgEAMBMGByqGSM49AgEG,AgEAMBAGByqGSM49AgEG 8 M[A-Za-z0-9+/]{2,7}AgEAMB[AM]GByqGSM49AgEG KEY_LINES vendor 2026-11
private_key MHcCAQEEI,MHQCAQEEI,MDECAQEEI,MGgCAQEEH 0 M(?:(?:Hc|HQ|DE)CAQEEI|GgCAQEEH)<9>[A-Za-z0-9+/]{40} KEY_LINES vendor 2026-11
private_key CAQAwEAYHKoZIzj0CAQ,CAQAwEwYHKoZIzj0CAQ 4 M[A-Za-z0-9+/]{2,3}CAQAwE[Aw]YHKoZIzj0CAQ KEY_LINES vendor 2026-11
private_key GByqGSM44BAEw 15 MII[A-Za-z0-9+/]{3}IBADCC[A-Za-z0-9+/]{3}GByqGSM44BAEw KEY_LINES vendor 2026-11
private_key GCSqGSIb3DQEFDTB 7 MI[A-Za-z0-9+/]{5}GCSqGSIb3DQEFDTB KEY_LINES vendor 2026-11
private_key MIGkAgEBBD 0 MIGkAgEBBD<10>[A-Za-z0-9+/]{40} KEY_LINES vendor 2026-11
private_key MIHcAgEBBEI 0 MIHcAgEBBEI<11>[A-Za-z0-9+/]{40} KEY_LINES vendor 2026-11
private_key CAQAwBQYDK2V,CAQEwBQYDK2V 4 M[A-Za-z0-9+/]{2,3}CAQ[AE]wBQYDK2V[uvwx]B[CD] KEY_LINES vendor 2026-11
private_key gkqhkiG9w0BBQ0w 13 MI[A-Za-z0-9+/]{2,10}BgkqhkiG9w0BBQ0w KEY_LINES vendor 2026-11
private_key b3BlbnNzaC1rZXktdjE 0 b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{40} KEY_LINES vendor 2026-11
sendgrid SG. 0 SG\.[A-Za-z0-9_-]{16,64}+\.[A-Za-z0-9_-]{16} WORD gitleaks 2026-11
slack hooks.slack.com/ - (?<=hooks.slack.com)/[a-z]{4,12}/T[A-Z0-9]{6,12}/ [A-Za-z0-9/] gitleaks 2026-11
telegram :AA 10 [0-9]{8,10}+:AA[A-Za-z0-9_-]{33} WORD vendor 2026-11
terraform .atlasv1. 14 [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60} WORD vendor 2026-11
totp secret= - (?<=[?&]secret=)[A-Z2-7]{16} BASE32 vendor 2026-11
twilio SK0,SK1,SK2,SK3,SK4,SK5,SK6,SK7,SK8,SK9,SKa,SKb,SKc,SKd,SKe,SKf 0 SK<2>[0-9a-f]{32}(?![0-9A-Za-z]) - gitleaks 2026-11
wireguard PresharedKey - (?<=PresharedKey\s=\s)[A-Za-z0-9+/]{42} BASE64 vendor 2026-11
zapier hooks.zapier.com/ - (?<=hooks.zapier.com)/hooks/catch/[0-9]{4,12}/[a-z0-9]{6} [a-z0-9/] vendor 2026-11
"""
"""Tokens whose form begins with no fixed prefix."""

HEADERS = r"""
jwt eyJ 0 eyJ(?:(?:hbGciOi|0eXAiOi|raWQiOi|lbmMiOi|jdHkiOi|qa3UiOi|4NXQiOi|4NWMiOi|6aXAiOi)[A-Za-z0-9_-]{8}|[A-Za-z0-9_-]{10,1000}+\.eyJ[A-Za-z0-9_-]{10}) DOTTED - vendor 2026-11
authorization authorization 0 (?i:authorization)<QUOTE>\s{0,3}+[:=,]\s{0,3}+<QUOTE>(?i:bearer|token|apikey|api-key|ssws|bot|key|bearer:)\s{1,3}+([A-Za-z0-9._~+/=-]{12,512}+) [A-Za-z0-9_~+/=-] header vendor 2026-11
authorization basic~ 0 (?i:basic)\x20{1,3}+([A-Za-z0-9+/_-]{8,512}+={0,2}+) BASE64 basic vendor 2026-11
authorization "auth" 0 "auth"\s{0,3}+:\s{0,3}+"([A-Za-z0-9+/]{8,512}+={0,2}+)(?=") BASE64 basic vendor 2026-11
authorization bearer~ 0 (?i:bearer)\x20{1,3}+([A-Za-z0-9._~+/=-]{20,512}+) [A-Za-z0-9_~+/=-] random vendor 2026-11
url_password :// 0 ://[^\s/@:\"'<>?#\\]{0,128}+:([^\s/@\"'<>?#\\]{1,256}+)(?=@) - chosen vendor 2026-11
assignment passw,passp,passc,pwd,token,credential,secret,privatekey,private_key,private-key,apikey,api_key,api-key,accesskey,access_key,access-key,accountkey,account_key,account-key,authkey,auth_key,auth-key,signing_key,signing-key,shared_key,shared-key,encryption_key,encryption-key,master_key,master-key 0 <NAME>[A-Za-z0-9_.-]{0,32}+<QUOTE>(?:\s{0,4}+(?::=|=>|=|:)\s{0,4}+|\x20{1,2})<QUOTE>([A-Za-z0-9+/_.~!@#$%^*|?-]{16,256}+={0,2}+) [A-Za-z0-9+/_~$%^*|=-] random vendor 2026-11
"""
"""Secrets after a header or a name: kind, anchors in lower case (``~`` is a blank), bytes of a
match before its anchor, pattern whose group is the secret (``<NAME>``, ``<QUOTE>``: see the
reader), its run, check, source, date.
"""

OPTIONS = """
curl            -u~?,--user@,--proxy-user@,-U~?       user     vendor 2026-11
wget            --password@,--http-password@,--ftp-password@ password vendor 2026-11
mysql           -p(?=[^\\s]),--password=                     password vendor 2026-11
mariadb         -p(?=[^\\s]),--password=                     password vendor 2026-11
sshpass         -p~?                                        password vendor 2026-11
redis-cli       -a~,--pass~                                 password vendor 2026-11
docker~login    -p~,--password@                          password vendor 2026-11
mongo           -p~?,--password@                         password vendor 2026-11
ldapsearch      -w~                                         password vendor 2026-11
"""
"""Program, options (``~`` is a blank, ``@`` one or ``=``), form of their value (``user`` is USER:PASSWORD), source, date."""

SETTINGS = r"""
password machine,default 0 (?:machine\s{1,4}+\S{1,255}+|default)\s{1,20}+login\s{1,4}+[\w.@+-]{1,128}+\s{1,20}+password\s{1,4}+(\S{1,128}+) - typed vendor 2026-11
password :5432:,:*: 0 :(?:5432|\*):[^\s:]{1,64}+:[^\s:]{1,64}+:([^\s:"']{3,128}+)(?![^\s]) - typed vendor 2026-11
password @tcp(,@unix( 129 :([^\s@:/"'\\]{3,128}+)@(?:tcp|unix)\( - typed vendor 2026-11
password jdbc:oracle 0 jdbc:oracle:[a-z]{1,8}+:[^\s/@:]{1,64}+/([^\s@"']{1,128}+)(?=@) - chosen vendor 2026-11
password password,passwd,pwd 0 (?i:(?<=[?&;])(?:password|passwd|pwd)\s?=\s?)([^&;\s"'<>\\]{3,128}+) - typed vendor 2026-11
password _auth 0 _auth[\x20\t]{0,2}=[\x20\t]{0,2}"?([A-Za-z0-9+/]{8,512}+={0,2}+) - basic vendor 2026-11
password _password 0 _password[\x20\t]{0,2}=[\x20\t]{0,2}"?([A-Za-z0-9+/]{8,512}+={0,2}+) - cased vendor 2026-11
option htpasswd 0 htpasswd(?=[^\n]{0,40}?[\x20\t]-[A-Za-z]{0,9}b)(?:(?=[^\n]{0,40}?[\x20\t]-[A-Za-z]{0,9}n)(?:[\x20\t]{1,4}-[A-Za-z]{1,10}(?:[\x20\t]{1,4}[0-9]{1,6}(?=[\x20\t])|)){1,6}|(?![^\n]{0,40}?[\x20\t]-[A-Za-z]{0,9}n)(?:[\x20\t]{1,4}-[A-Za-z]{1,10}(?:[\x20\t]{1,4}[0-9]{1,6}(?=[\x20\t])|)){1,6}[\x20\t]{1,4}[^\s;|&<>-][^\s;|&<>]{0,200}+)[\x20\t]{1,4}[^\s;|&<>-][^\s;|&<>]{0,200}+[\x20\t]{1,4}["']?([^\s"'\\]{3,200}+) - typed vendor 2026-11
option -storepass,-keypass,-srcstorepass,-deststorepass,-srckeypass,-destkeypass 0 -(?:src|dest|)(?:store|key)pass[\x20\t]{1,4}["']?([^\s"'\\-][^\s"'\\]{2,200}+) - typed vendor 2026-11
option -pass 0 -pass(?:in|out|)[\x20\t]{1,4}["']?pass:["']?([^\s"'\\]{3,200}+) - typed vendor 2026-11
option http~,https~,xh~,xhs~ 0 (?:http|xh)s?\x20(?:(?!(?:http|xh)s?\x20)[^\n]){0,300}?(?<=[\x20\t])(?:-a[\x20\t]|--auth[\x20\t=])["']?[^\s:"'$\\/]{1,64}+:([^\s"'\\]{3,200}+) - typed vendor 2026-11
password ansible_ 0 ansible_[a-z_]{0,24}pass(?:word|)\\{0,3}+["']?[\x20\t]{0,3}[:=][\x20\t]{0,3}\\{0,3}+["']?(?!!vault)([^\s"'\\]{3,128}+) - typed vendor 2026-11
password _PASS=,_PASS:~ 0 _PASS(?:=|:\x20)["']?([^\s"'\\;&|,]{6,128}+) - coined vendor 2026-11
assignment _pass=,_pass:,_pass~,_pass",_pass',_pass\ 0 (?i:_pass)<QUOTE>\x20{0,4}+(?::=|=>|=|:)\s{0,4}+<QUOTE>([A-Za-z0-9+/_.~!@#$%^*|?-]{16,256}+={0,2}+) [A-Za-z0-9+/_~$%^*|=-] random vendor 2026-11
password <password,<passwd,<passphrase,<wsse:password 0 (?i:<(?:password|passwd|passphrase|wsse:password))(?:\x20[^<>\n]{1,200}|)>\s{0,8}(?:<!\[CDATA\[|)([^\s<>&\]]{3,256}+)(?=(?:\]\]>|)\s{0,8}</) - typed vendor 2026-11
password <secret,<token,<apikey,<api_key,<api-key,<accesskey,<access_key,<accesstoken,<access_token,<clientsecret,<client_secret,<authtoken 0 (?i:<(?:secret(?:_?key|)|token|api[_-]?key|access_?(?:key|token)|authtoken|client_?secret))(?:\x20[^<>\n]{1,200}|)>\s{0,8}(?:<!\[CDATA\[|)([^\s<>&\]]{8,512}+)(?=(?:\]\]>|)\s{0,8}</) - coined vendor 2026-11
password define( 0 define\(\s{0,4}["'][A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|PASS|PWD)["']\s{0,4},\s{0,4}["']([^"'\\\s]{3,128}+)(?=["']) - typed vendor 2026-11
password define( 0 define\(\s{0,4}["'][A-Z0-9_]{0,40}(?:SECRET|TOKEN|API_?KEY|SECRET_KEY|ACCESS_KEY)["']\s{0,4},\s{0,4}["']([^"'\\\s]{8,256}+)(?=["']) - coined vendor 2026-11
password define( 0 define\(\s{0,4}["'](?:SECURE_|)(?:AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)["']\s{0,4},\s{0,4}'((?!put\x20your)[^'\\\r\n]{32,128}+)(?=') - - vendor 2026-11
jwk "d","d\,"k","k\ 3 \\{0,3}+"[dk]\\{0,3}+"\s{0,3}+:\s{0,3}+\\{0,3}+"([A-Za-z0-9_-]{22,1400}+)(?=\\{0,3}+") - cased vendor 2026-11
jwk "dp","dq","qi" 0 "(?:dp|dq|qi)"\s{0,3}+:\s{0,3}+"([A-Za-z0-9_-]{40,800}+)(?=") - cased vendor 2026-11
cookie cookie 4 (?i:(?:set-)?cookie)["']?\s?:\s?["']?([A-Za-z0-9_.$%!#*|~^+-]{1,128}+=(?>(?:(?![cC](?i:ookie))[^\r\n"'\\]){8,2000})) - cookies vendor 2026-11
authorization authorization 0 (?i:authorization)["']?\s{0,3}+[:=]\s{0,3}+["']?([A-Za-z0-9._~+/-]{20,512}+={0,2}+)(?![\ta-zA-Z0-9]|\x20[a-zA-Z]) - random vendor 2026-11
"""
"""Files and connection strings; columns as in ``HEADERS``."""


def rows(table: str, columns: int) -> Iterator[list[str]]:
    """The rows of one of these tables, each split into ``columns`` fields."""
    for line in table.strip().splitlines():
        row = line.split()
        if len(row) != columns:
            raise ValueError(line)
        yield row
