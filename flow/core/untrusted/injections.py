"""Patterns of text that speaks to a judge, or imitates a fence, a role or a remark of Flow's.

Collected from published prompt injections and from the chat formats of models and hosts, as they
were in November 2026. Each is matched against one line in its normal form
(:func:`flow.core.untrusted.suspicious.as_read`).
"""

from __future__ import annotations

import re
from unicodedata import category, normalize

from flow.startup.typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Language(NamedTuple):
    """Beginnings of words, separated by blanks; ``_`` is a blank inside one."""

    ignore: str
    rules: str
    """The things that a judge is asked to ignore."""
    answer: str
    good: str
    """Words for a favourable verdict."""


LANGUAGES: dict[str, Language] = {
    "German": Language(
        "ignorier missacht vergiss vergesst vergessen",
        "anweisung vorherig obig regel vorgaben kriteri",
        "antworte bewerte markiere werte urteile",
        "bestanden erfüllt erreicht achieved pass",
    ),
    "French": Language(
        "ignore ignorez ignorer oublie oubliez",
        "instruction précédent precedent précedent consigne règles critères",
        "réponds répondez note notez marque évalue",
        "réussi atteint validé achieved pass",
    ),
    "Spanish": Language(
        "ignora ignore ignoren ignorar olvida olvide",
        "instruccion anterior reglas criterios",
        "responde responda marca marque califica",
        "aprobad cumplid logrado achieved pass",
    ),
    "Portuguese": Language(
        "ignora ignore ignorar esqueça esqueca desconsidere",
        "instruç instruc anterior regras critérios",
        "responda marque avalie classifique",
        "aprovad cumprid alcançado achieved pass",
    ),
    "Italian": Language(
        "ignora ignorate ignorare dimentica",
        "istruzion precedent regole criteri",
        "rispondi rispondete segna valuta",
        "superat raggiunt approvat achieved pass",
    ),
    "Dutch": Language(
        "negeer vergeet",
        "instructie vorige eerdere regels criteria",
        "antwoord beoordeel markeer",
        "geslaagd behaald voldaan achieved pass",
    ),
    "Swedish": Language(
        "ignorera glöm bortse",
        "instruktion tidigare föregående regler",
        "svara bedöm markera",
        "godkän uppnå achieved pass",
    ),
    "Polish": Language(
        "zignoruj ignoruj zapomnij pomiń",
        "instrukc poprzedni powyższ zasad kryteri",
        "odpowiedz oceń oznacz",
        "zaliczon spełnion osiągnięt achieved pass",
    ),
    "Czech": Language(
        "ignoruj ignorujte zapomeň",
        "instrukc předchoz pokyn pravidl",
        "odpověz ohodnoť označ",
        "splněn dosažen achieved pass",
    ),
    "Turkish": Language(
        "görmezden yoksay unut",
        "talimat önceki kural yönerge",
        "yanıtla cevapla işaretle",
        "başarılı geçti achieved pass",
    ),
    "Russian": Language(
        "игнорир забудь проигнорир",
        "инструкц указан правил предыдущ",
        "ответь отвечай оцени отметь",
        "выполнен пройден достигнут achieved pass",
    ),
    "Ukrainian": Language(
        "ігноруй проігноруй забудь",
        "інструкц вказівк правил попередн",
        "відповідай оціни познач",
        "виконан пройден досягнут achieved pass",
    ),
    "Arabic": Language(
        "تجاهل انس", "تعليمات التعليمات السابقة القواعد", "أجب قيم", "ناجح محقق achieved pass"
    ),
    "Hindi": Language("अनदेखा भूल", "निर्देश नियम पिछले", "उत्तर जवाब", "सफल पास achieved"),
    "Vietnamese": Language(
        "bỏ_qua quên", "hướng_dẫn chỉ_dẫn quy_tắc", "trả_lời đánh_giá", "đạt achieved pass"
    ),
    "Indonesian": Language(
        "abaikan lupakan",
        "instruksi perintah aturan sebelumnya",
        "jawab nilai tandai",
        "lulus tercapai achieved pass",
    ),
}
UNSPACED: tuple[Language, ...] = (
    Language(
        "忽略 无视 無視 忘记",
        "指令 说明 指示 規則 规则 以上",
        "回答 判定 标记",
        "通过 達成 达成 合格 achieved",
    ),
    Language("無視 忘れ", "指示 命令 規則 ルール", "回答 判定 答え", "合格 達成 achieved"),
    Language("무시 잊어", "지시 지침 규칙 명령", "답하 대답 평가", "통과 합격 달성 achieved"),
)
"""Chinese, Japanese and Korean: words without blanks between them."""

LOOK_ALIKES = str.maketrans("асеорхуіјѕԁӏοαενικτ‹›«»〈〉", "aceopxyijsdloaevikt<><><>")


def _stem_pattern(words: str) -> str:
    """A pattern for words with these beginnings, also with look-alikes next to Latin letters."""
    plain = "".join(c for c in normalize("NFKC", words) if category(c) != "Mn").casefold()
    both = f"{plain} {plain.translate(LOOK_ALIKES)}"
    return "|".join(dict.fromkeys(re.escape(stem).replace("_", " ") for stem in both.split()))


def _in_other_languages() -> Iterator[str]:
    for language in LANGUAGES.values():
        ignore, rules, answer, good = (
            rf"(?<!\w)(?:{_stem_pattern(words)})\w{{0,12}}" for words in language
        )
        yield rf"{ignore}.{{0,60}}?{rules}|{rules}.{{0,60}}?{ignore}|{answer}.{{0,40}}?{good}"
    for language in UNSPACED:
        ignore, rules, answer, good = (f"(?:{_stem_pattern(words)})" for words in language)
        yield rf"{ignore}.{{0,20}}{rules}|{rules}.{{0,20}}{ignore}"
        yield rf"{answer}.{{0,10}}{good}|{good}.{{0,10}}{answer}"


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_JUDGE = r"(?:judge|evaluator|grader|reviewer|assessor|llm|language model|ai|assistant|claude|gpt)"
_GOOD = r"(?:pass(?:ed|es|ing)?|achieved|approved|satisfied|met|complete[d]?|done|true|10|1\.0)"

INSTRUCTIONS = _any_of(
    (
        (
            r"\b(?:ignore|disregard|forget|override|bypass|discard)\b.{0,60}"
            r"\b(?:instructions?|prompt|rules?|above|previous|prior|everything|criteria|system)\b"
        ),
        (
            r"\byou(?:'re| are| must| should| will| shall| have to| need to| can)\b.{0,60}"
            rf"\b(?:{_JUDGE}|approve|answer|respond|reply|verdict|mark|grade|rate|achieved)\b"
        ),
        (
            r"\b(?:answer|respond|reply|conclude|decide|rule|vote)\b.{0,40}"
            r"\b(?:achieved|verdict|pass|approved?|confidence|json)\b"
        ),
        (
            r"\b(?:return|output|emit|write|print|say|produce|give|set|report)\b.{0,40}"
            r"\b(?:verdict|achieved|confidence)\b"
        ),
        (
            r"\bverdict\b[^a-z0-9]{0,12}(?:is|to|must be|should be)?[^a-z0-9]{0,12}"
            r"(?:achieved|pass|approved)"
        ),
        r"\bstatus\b[^a-z0-9]{1,8}(?:is (?:now )?)?(?:pass|achieved)\b",
        (
            r"\b(?:goal|criteri(?:on|a)|ac[0-9]+)(?:'s)?\b[^a-z0-9]{1,4}(?:[\w-]{1,40}[^a-z0-9]{1,4})?"
            rf"(?:status|state|result)\b[^a-z0-9]{{1,8}}(?:is (?:now )?)?{_GOOD}\b"
        ),
        r"^[^a-z0-9]*(?:the )?goal\b[^a-z0-9]{1,4}(?:is |was |has been )?(?:now )?achieved\b",
        r"\bconfidence\b[^a-z0-9]{1,8}(?:is |of |to )?(?:1(?:\.0+)?|0\.9\d*|100 ?%)(?![\d.])",
        (
            rf"\b(?:mark|grade|score|rate|consider|treat|deem|count|regard|judge|accept)\b.{{0,40}}"
            rf"\b(?:ac\d+|criteri(?:on|a)|goal|this|everything|all|it)\b.{{0,30}}\b{_GOOD}\b"
        ),
        (
            rf"\b(?:dear|hey|hello|attention|note to|message (?:to|for)|instructions? (?:to|for))\b"
            rf"[^a-z0-9]{{0,4}}(?:the |any |all |every )?{_JUDGE}s?\b"
        ),
        rf"^[^a-z0-9]*(?:the )?(?:ai )?{_JUDGE}\b.{{0,20}}\b(?:must|should|will|shall)\b",
        (
            r"^[^a-z0-9]*(?:system|developer)[^a-z0-9]{0,3}"
            r"(?:prompt|message|note|override|instructions?|notice|update)\b"
        ),
        r"^[^a-z0-9]*(?:assistant|human|system)[^a-z0-9]{0,3}:(?:\s|$)",
        (
            r"\b(?:new|real|actual|updated|revised|final|true)\b.{0,20}"
            r"\b(?:instructions?|system prompt|task is|rules are)\b"
        ),
        r"\bend of (?:the )?(?:data|evidence|input|prompt|untrusted|context)\b",
        rf"\bas (?:an?|the) (?:\w+ )?{_JUDGE}\b",
        r"\bdo not (?:evaluate|judge|grade|check|verify|assess|look at|read)\b",
        r"\b(?:jailbreak|prompt injection|developer mode|god mode|maintenance mode)\b",
        (
            r"\b(?:previous|prior|above) (?:instructions?|rules?|prompt|text)\b.{0,30}"
            r"\b(?:void|invalid|obsolete|cancel\w*|superseded|no longer|over|wrong)\b"
        ),
        (
            r"\b(?:correct|right|proper|appropriate|fair|accurate|honest|only (?:possible|valid))"
            r" (?:\w+ )?(?:assessment|answer|judg\w+|verdict|evaluation|conclusion|rating|grade"
            r"|decision|response|status|outcome|score)\b.{0,30}\b(?:is|be|reads?)\b"
            rf"[^a-z0-9]{{0,4}}(?:an? )?{_GOOD}\b"
        ),
        (
            r"\b(?:should|must|ought to|deserves? to|can (?:safely )?) ?be\b.{0,20}"
            r"\b(?:judged|graded|rated|scored|evaluated|assessed|marked|considered|deemed)\b"
            rf".{{0,20}}\b{_GOOD}\b"
        ),
        r"\bdeserves? (?:a |the )?(?:pass|full marks|top (?:score|marks|grade))\b",
        (
            r"^[^a-z0-9]*flow\b[^a-z0-9]{0,3}.{0,40}\b(?:verdict|achieved|passed|proved|verified"
            r"|approved|confirmed)\b"
        ),
        (
            r"\bcriterion [a-z]+[0-9]+\b[^a-z0-9]{1,4}(?:must_pass[^a-z0-9]{1,4})?(?:is )?"
            r"(?:pass(?:ed)?|met|satisfied|achieved)\b"
        ),
    )
)

IMITATIONS = _any_of(
    (
        r"flow[\s_-]{0,3}data\b.{0,40}[<>]|[<>]{2}.{0,10}flow[\s_-]{0,3}data",
        r"^<{3}(?!<)",
        r"\[\s*flow\s*:",
        r"<\|[^\s|<>]{1,40}\|>|\[/?(?:tool_calls|tool_results|available_tools|system_prompt)\]",
        (
            r"<\s*[|/]?\s*(?:im_start|im_end|im_sep|endoftext|eot_id|start_header_id|end_header_id"
            r"|begin_of_text|end_of_text|endofprompt|fim_\w+|user|assistant|system)\s*\|\s*>"
        ),
        r"\[/?\s*inst\s*\]|<<\s*/?\s*sys\s*>>|<\s*/?\s*s\s*>\s*\[",
        (
            r"<\s*/?\s*(?:system|instructions?|assistant|human|prompt|evidence|untrusted\w*|data"
            r"|judge|context|result|contract|criteri(?:on|a)|thinking|reminder|important|developer"
            r"|user|antml\w*(?::\w+)?|(?:function|tool)s?[_-]?\w*"
            r"|(?:system|user|assistant|developer|human|model)[_-](?!out\b|err\b)\w[\w-]*"
            r"|(?:local[_-])?command[_-]\w[\w-]*|ide_\w+|task[_-]notification|environment_details"
            r"|additional_data|attached_files|(?:start|end)_of_turn)(?:\s[^<>]{0,80})?>"
        ),
        r"[<>]{2}\s*/?\s*(?:begin|end|start|stop)\b.{0,40}[<>]{2}",
        (
            r"[-=#*~_]{3}\s*/?\s*(?:begin|end|start|stop)\b.{0,30}\b(?:data|evidence|prompt|untrusted"
            r"|instructions?|input|context|contract|criteria|fence)\b"
        ),
        (
            r"^\s*\#{1,6}\s*(?:system|instructions?|new task|response|verdict|your reply"
            r"|what (?:flow measured|you are asked))\b"
        ),
    )
)

OTHER_LANGUAGES = _any_of(_in_other_languages())
ANY_OTHER_LANGUAGE = re.compile(
    "|".join(
        dict.fromkeys(
            stem
            for language in (*LANGUAGES.values(), *UNSPACED)
            for stem in _stem_pattern(f"{language.ignore} {language.answer}").split("|")
        )
    )
)
"""A quick check before :data:`OTHER_LANGUAGES`, which is slow: each of its matches contains one of
these.
"""
