"""Recognising text that speaks to the judge, or poses as something other than data.

A list of patterns can never be complete, and nothing rests on it: what keeps evidence in its place
is the fence with its nonce. Recognising the usual attempts lets Flow label them for the judge and
name them to people.
"""

from __future__ import annotations

import re

from flow.cheap_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_JUDGE = r"(?:judge|evaluator|grader|reviewer|assessor|llm|language model|ai|assistant|claude|gpt)"
_GOOD = r"(?:pass(?:ed|es|ing)?|achieved|approved|satisfied|met|complete[d]?|done|true|10|1\.0)"

_INSTRUCTIONS = _any(
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
        r"\bstatus\b[^a-z0-9]{1,8}pass\b",
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
        r"\bignorier\w*.{0,60}(?:anweisung|vorherig|obig|regel)",
        r"\bignor(?:a|e|ez|ar|er|ate)\b.{0,60}(?:instru[cz]\w+|anterior\w*|pr[eé]c[eé]dent\w*)",
        r"игнорир\w*.{0,60}(?:инструкц|указан|правил)",
        r"(?:忽略|无视|無視).{0,20}(?:指令|说明|指示|規則|规则)|指示を無視|命令を無視",
    )
)

_IMITATIONS = _any(
    (
        r"flow[\s_-]{0,3}data\b.{0,40}[<>]|[<>]{2}.{0,10}flow[\s_-]{0,3}data",
        r"^<{3}(?!<)",
        r"\[\s*flow\s*:",
        (
            r"<\s*[|/]?\s*(?:im_start|im_end|im_sep|endoftext|eot_id|start_header_id|end_header_id"
            r"|begin_of_text|end_of_text|endofprompt|fim_\w+|user|assistant|system)\s*\|\s*>"
        ),
        r"\[/?\s*inst\s*\]|<<\s*/?\s*sys\s*>>|<\s*/?\s*s\s*>\s*\[",
        (
            r"<\s*/?\s*(?:system|instructions?|assistant|human|prompt|evidence|untrusted\w*|data"
            r"|judge|context|function_calls?|tool_\w+|antml\w*|result|contract|criteri(?:on|a))"
            r"(?:\s[^<>]{0,80})?>"
        ),
        r"[<>]{2}\s*/?\s*(?:begin|end|start|stop)\b.{0,40}[<>]{2}",
        (
            r"[-=#*~_]{3}\s*/?\s*(?:begin|end|start|stop)\b.{0,30}\b(?:data|evidence|prompt|untrusted"
            r"|instructions?|input|context|contract|criteria|fence)\b"
        ),
        r"^\s*\#{1,6}\s*(?:system|instructions?|new task|response|verdict)\b",
    )
)
_ENCODED = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


def normal(text: str) -> str:
    """``text`` as a reader takes it: look-alikes folded, invisible characters gone, lower case.

    Compatibility forms (full-width, mathematical letters) become plain ones; the commonest Cyrillic
    and Greek look-alikes of Latin letters do where Latin letters stand beside them.
    """
    from unicodedata import category, normalize

    folded = normalize("NFKC", text).casefold()
    folded = "".join(c for c in folded if category(c) not in ("Cf", "Cc", "Mn") or c in "\t ")
    if not folded.isascii() and re.search("[a-z]", folded):
        folded = folded.translate(_LOOK_ALIKES)
    return " ".join(folded.split())


_LOOK_ALIKES = str.maketrans("асеорхуіјѕԁӏοαενικτ‹›«»〈〉", "aceopxyijsdloaevikt<><><>")


def instructs(text: str) -> bool:
    """Whether ``text`` (one line, :func:`normal`) seems to tell a judge what to do."""
    return _INSTRUCTIONS.search(text) is not None


def imitates(text: str) -> bool:
    """Whether ``text`` (a line, :func:`normal`) poses as a fence, a role or a remark of Flow's."""
    return _IMITATIONS.search(text) is not None


def hides(line: str) -> bool:
    """Whether ``line`` holds an instruction to a judge in Base64."""
    from base64 import b64decode
    from binascii import Error

    for match in _ENCODED.finditer(line):
        run = match.group().rstrip("=")
        try:
            decoded = b64decode(run + "=" * (-len(run) % 4)).decode("utf-8")
        except (Error, UnicodeError):
            continue
        if any(instructs(normal(part)) for part in decoded.splitlines()):
            return True
    return False
