"""The strict YAML reader: what it takes, what it refuses, and that nothing else ever leaves it."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flow.adapters.contracts import formats, strict_yaml
from flow.adapters.contracts.strict_yaml import NumberFault, decode_text, plain_value
from flow.errors import ContractError
from tests.adapters.contracts.samples import EVIDENCE, GOAL, SMALL_GOAL
from tests.support.effort import examples

FILE = "goals/issue-4.goal.yaml"
GOAL_TEXT = formats.dump_yaml(GOAL)


@pytest.fixture(params=["C parser", "pure parser"])
def parser(request: Any, monkeypatch: Any) -> str:
    """Both of PyYAML's parsers; the second one is for builds without libyaml."""
    if request.param == "pure parser":
        monkeypatch.setattr(strict_yaml, "new_parser", strict_yaml._pure_parser)
    return str(request.param)


def read(text: str | bytes) -> Any:
    return formats.parse_yaml(text if isinstance(text, bytes) else text.encode(), file=FILE)


def refused(text: str | bytes) -> list[str]:
    with pytest.raises(ContractError) as caught:
        read(text)
    assert all(fault.file == FILE for fault in caught.value.faults)
    assert all(fault.remedy for fault in caught.value.faults)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("nULL", "nULL"),
        ("true", True),
        ("FALSE", False),
        ("tRUE", "tRUE"),
        ("yes", "yes"),
        ("no", "no"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("1:30", "1:30"),
        ("010", "010"),
        ("-010", "-010"),
        ("00", "00"),
        ("0", 0),
        ("-0", 0),
        ("+5", 5),
        ("-12", -12),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        ("1e", "1e"),
        (".", "."),
        ("2026-03-01", "2026-03-01"),
        ("2026-13-45", "2026-13-45"),
        ("2026-03-01T10:15:00Z", "2026-03-01T10:15:00Z"),
        ("9007199254740992", 2**53),
        ("-9007199254740992", -(2**53)),
        ('"no"', "no"),
        ("'010'", "010"),
        ('"12"', "12"),
        ('"\\u00e9\\U0001F600\\e"', "é😀\x1b"),
        ("é 😀 中", "é 😀 中"),
        ("=", "="),
        ('"a\\\n  b"', "ab"),
        ("|\n  x\n  y\n", "x\ny\n"),
        (">-\n  x\n  y\n", "x y"),
        ("[1, [2, {a: no}]]", [1, [2, {"a": "no"}]]),
        ("{a: 1, b: }", {"a": 1, "b": None}),
    ],
)
def test_values_are_those_of_yaml_1_2_core(parser: str, text: str, value: Any) -> None:
    found = read(f"key: {text}\n")["key"]
    assert found == value
    assert type(found) is type(value)


def test_key_order_is_kept_and_keys_may_look_like_yaml_1_1(parser: str) -> None:
    assert list(read("on: 1\nb: 2\n'1': 3\na: 4\nyes: 5\n")) == ["on", "b", "1", "a", "yes"]


def test_markers_directive_comments_and_line_ends(parser: str) -> None:
    assert read("%YAML 1.2\n---\r\n# c\r\na: 1 # d\r\n...\r\n") == {"a": 1}


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", "a", "is given twice, first on line 1 (line 3)"),
        ("a: {b: 1, 'b': 2}\n", "a.b", "is given twice"),
        ("l:\n  - x: 1\n    x: 1\n", "l[0].x", "is given twice"),
        ("a: &x 1\n", "a", "has the anchor &x"),
        ("a: [&x 1, *x]\n", "a[1]", "is the alias *x"),
        ("a: !!str 1\n", "a", "has the tag 'tag:yaml.org,2002:str'"),
        ("a: !x {b: 1}\n", "a", "has the tag '!x'"),
        ("a: ! 1\n", "a", "has the tag '!'"),
        ("a: !!python/object:os.system x\n", "a", "has the tag"),
        ("a: !!set {b, c}\n", "a", "has the tag"),
        ("a: !!binary aGk=\n", "a", "has the tag"),
        ("!!map\na: 1\n", "", "has the tag"),
        ("a: .nan\n", "a", ".nan is not a finite number"),
        ("a: -.INF\n", "a", "-.INF is not a finite number"),
        ("a: 1e999\n", "a", "is too large for a number"),
        ("a: 9007199254740993\n", "a", "is not within -2^53 and 2^53"),
        (f"a: {'9' * 5000}\n", "a", "is not within -2^53 and 2^53"),
        (f"a: 0x{'f' * 5000}\n", "a", "is not within -2^53 and 2^53"),
        ("1: a\n", "'1'", "is no text as a key"),
        ("a: {true: 1}\n", "a.true", "true is no text as a key"),
        ("~: 1\n", "'~'", "is no text as a key"),
        (".inf: 1\n", "'.inf'", "is no text as a key"),
        ("[a]: 1\n", "", "has a key that is no text"),
        ("? {a: 1}\n: 2\n", "", "has a key that is no text"),
        ("!!str a: 1\n", "a", "has a tag or an anchor on its key"),
        ("a: {b: 1}\nc:\n  <<: {d: 1}\n", "c.'<<'", "is a merge key"),
        ("a: 1\n---\nb: 2\n", "", "more than one document"),
        ("a: 1\n...\n---\n", "", "more than one document"),
        ("", "", "it is empty"),
        ("# only a comment\n", "", "it is empty"),
        ("---\n", "", "it is empty"),
        ("--- hello\n", "", "it holds only 'hello'"),
        ("just words\n", "", "it holds only 'just words'"),
        ("- a\n", "", "it is a list"),
        ("%YAML 1.1\n---\na: no\n", "", "it says it is YAML 1.1"),
        ("a: b: c\n", "line 1", "is not valid YAML"),
        ("a: [1\n", "line", "is not valid YAML"),
        ("a: 'x\n", "line", "is not valid YAML"),
        ("\ta: 1\n", "line 1", "is not valid YAML"),
        ("a: 1\nb\n", "line", "is not valid YAML"),
        ("a: @x\n", "line 1", "is not valid YAML"),
        ("a: \x1b[31m\n", "line 1", "holds the control character U+001B"),
        ("a: 1\nb: \x00\n", "line 2", "holds the control character U+0000"),
        ("a: x\x85y\n", "line 1", "holds the control character U+0085"),
        ("a: x\u2028y\n", "line 1", "holds the control character U+2028"),
        ("a: x\ufeffy\n", "line 1", "holds the control character U+FEFF"),
        ("a: 1\rb: 2\n", "line 1", "holds the control character U+000D"),
        ('a: "x\\0y"\n', "a", "holds a NUL"),
        ('"a\\0": 1\n', "'a\\x00'", "holds a NUL"),
    ],
)
def test_what_is_not_plain_is_refused_with_its_place(
    parser: str, text: str, key: str, words: str
) -> None:
    messages = refused(text)
    assert any(words in message for message in messages), messages
    assert any(message.startswith(f"{FILE}: {key}") for message in messages), messages


@pytest.mark.parametrize(
    "text",
    [
        "\U0001f600",
        "a\U00010000\U0010ffffb",
        "\\\U0001f600",
        "\\ud83d\\ude00",
        "\ufffd",
        '"',
        "\\u",
    ],
)
def test_json_as_many_programs_write_it_is_read(parser: str, text: str) -> None:
    """They escape all beyond ASCII, and an emoji as two halves."""
    document = {text: [text, {"a": text}]}
    for indent in (None, 1):
        data = json.dumps(document, indent=indent).encode()
        assert formats.parse_yaml(data, file=FILE) == document


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "\\ud83d"}',
        '{"a": "\\ude00\\ud83d"}',
        '{"a": "\\ud83d\\u0041"}',
        '{"a": "\\ud83d \\ude00"}',
        '{a: "\\ud83d\\ude00"}',
        'a: "\\ud83d\\ude00"',
        '{"a": "\\ud83d\\ude00", "a": 1}',
        '{"a": "\\ud83d\\ude00", "b": NaN01, "c": 1e999}',
    ],
)
def test_half_a_character_in_json_and_its_other_faults_are_refused(parser: str, text: str) -> None:
    assert refused(text)


def test_the_case_of_an_escape_does_not_matter(parser: str) -> None:
    assert read('{"a": "\\uD83D\\uDe00"}') == {"a": "\U0001f600"}


def test_a_text_that_only_looks_like_an_escape_stays(parser: str) -> None:
    text = "{'a': '\\ud83d\\ude00'}"
    assert read(text) == {"a": "\\ud83d\\ude00"}


@pytest.mark.parametrize("text", ['a: "\\ud800"\n', 'a: "\\uDFFF\\uD800"\n', '"\\udc00": 1\n'])
def test_half_a_character_is_refused(parser: str, text: str) -> None:
    assert refused(text)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("a: 1".encode("utf-16"), "it is UTF-16 or UTF-32"),
        ("a: 1".encode("utf-16-le"), "it is UTF-16 or UTF-32"),
        ("a: 1".encode("utf-16-be"), "it is UTF-16 or UTF-32"),
        ("a: 1".encode("utf-32"), "it is UTF-16 or UTF-32"),
        (b"\xef\xbb\xbfa: 1", "byte order mark"),
        (b"a: 1\nb: \xff", "line 2: not a YAML file: byte 0xff is not UTF-8"),
        (b"a: \xed\xa0\x80", "is not UTF-8"),
        (b"a: \xc0\x80", "is not UTF-8"),
        (b"a: " + b"x" * (1 << 20), "more than 1048576"),
    ],
)
def test_bytes_that_are_not_utf_8_text_are_refused(data: bytes, words: str) -> None:
    (message,) = refused(data)
    assert words in message


def test_a_file_of_just_the_limit_is_read() -> None:
    assert len(read(b"a: " + b"x" * ((1 << 20) - 3))["a"]) == (1 << 20) - 3


@pytest.mark.parametrize(("depth", "fits"), [(31, True), (32, False)])
def test_depth_is_counted_from_the_files_own_mapping(parser: str, depth: int, fits: bool) -> None:
    for text in ("a: " + "[" * depth + "]" * depth, "a: " + "{b: " * depth + "1" + "}" * depth):
        if fits:
            assert read(text)
        else:
            assert "nests deeper than 32 levels" in refused(text)[-1]


@pytest.mark.parametrize(
    "text", ["a: " + "[" * 100_000, "- " * 100_000, "a: " + "{b: " * 100_000, "? " * 100_000]
)
def test_deep_nesting_ends_at_the_limit_not_in_recursion(text: str) -> None:
    assert refused(text)


def test_an_alias_bomb_is_refused_at_its_aliases(parser: str) -> None:
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 25)]
    assert len(refused("\n".join(lines))) == 25 + 48


def test_all_faults_are_named_at_once_those_of_the_schema_too() -> None:
    text = GOAL_TEXT.replace("id: issue-4", "id: Issue-4\n  id: x", 1)
    text = text.replace("confidence", "x").replace("status: active", "status: done")
    text = text.replace("timeout_seconds: 12.5", "timeout_seconds: .nan")
    with pytest.raises(ContractError) as caught:
        formats.read_goal(text.encode(), file=FILE)
    assert [fault.key for fault in caught.value.faults] == [
        "metadata.id",
        "objective.acceptance_criteria[0].timeout_seconds",
        "metadata.id",
        "lifecycle.status",
    ]


def test_a_value_that_could_not_be_read_has_no_second_fault() -> None:
    text = GOAL_TEXT.replace("status: active", "status: !x active").replace(
        "kind:", "? [a]\n: b\nkind:"
    )
    with pytest.raises(ContractError) as caught:
        formats.read_goal(text.encode(), file=FILE)
    assert len(caught.value.faults) == 2


def test_the_list_of_faults_ends() -> None:
    assert 1000 <= len(refused("".join("a: 1\n" for _ in range(3000)))) <= 1002


# Goals and evidence ---------------------------------------------------------------------


def test_a_goal_and_its_warnings() -> None:
    goal, warnings = formats.read_goal(GOAL_TEXT.encode(), file=FILE, expect_id="issue-4")
    assert goal.document == GOAL
    assert goal.criterion("AC2") is not None
    assert warnings == ()
    text = GOAL_TEXT.replace("must_pass: true", "must_pass: true\n      mustpas: true")
    goal, (warning,) = formats.read_goal(text.encode(), file=FILE)
    assert "did you mean must_pass?" in warning
    assert goal.criteria[0].document["mustpas"] is True


def test_evidence_and_its_warnings() -> None:
    text = formats.dump_yaml(EVIDENCE)
    evidence, warnings = formats.read_evidence(text.encode(), file="e.evidence.yaml")
    assert evidence.document == EVIDENCE
    assert warnings == ()


@pytest.mark.parametrize("reader", [formats.read_goal, formats.read_evidence])
def test_the_id_is_that_of_the_files_name(reader: Any) -> None:
    document = GOAL if reader is formats.read_goal else EVIDENCE
    with pytest.raises(
        ContractError, match=r"metadata\.id: .* is not the id in the file's name, 'other'"
    ):
        reader(formats.dump_yaml(document).encode(), file=FILE, expect_id="other")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a goal file: it is empty"),
        (b"hello", "not a goal file: it holds only 'hello'"),
        (b"a: 1\n---\nb: 1\n", "not a goal file: it holds more than one document"),
        ("a: 1".encode("utf-16"), "not a goal file: it is UTF-16"),
    ],
)
def test_what_is_no_goal_file_is_called_so(data: bytes, words: str) -> None:
    with pytest.raises(ContractError, match=words):
        formats.read_goal(data, file=FILE)


# Nothing but ContractError --------------------------------------------------------------


def only_contract_errors(data: bytes) -> None:
    for reader in (
        lambda: formats.parse_yaml(data, file=FILE),
        lambda: formats.read_goal(data, file=FILE),
        lambda: formats.read_evidence(data, file=FILE),
    ):
        try:
            reader()
        except ContractError as error:
            text = f"{error}{error.to_dict()['message']}"
            text.encode()  # whatever was in the file, the message can be written somewhere


@examples(133, long=8000)
@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf")
@example(b"%TAG ! tag:x,2000:\n---\na: !b 1\n")
@example(b'a: "\\U00110000"')
@example(b"%YAML 99999999999.1\n---\na: 1")
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    only_contract_errors(data)


YAML_TEXT = st.text(st.sampled_from("ab01-:?,[]{}#&*!|>'\"%@`\\ \n\t~.=<é😀\r"), max_size=60)


@examples(200, long=12000)
@given(YAML_TEXT)
def test_any_yaml_like_text_is_read_or_refused(text: str) -> None:
    only_contract_errors(text.encode())


@examples(100, long=6000)
@given(YAML_TEXT)
def test_the_pure_parser_leaks_nothing_either(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strict_yaml, "new_parser", strict_yaml._pure_parser)
        only_contract_errors(text.encode())


@examples(100, long=6000)
@given(st.data())
def test_a_damaged_goal_is_read_or_refused(data: st.DataObject) -> None:
    raw = bytearray(
        formats.dump_yaml(data.draw(st.sampled_from([GOAL, SMALL_GOAL, EVIDENCE]))).encode()
    )
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        size = data.draw(st.integers(0, 20))
        raw[place : place + size] = data.draw(
            st.one_of(st.binary(max_size=6), YAML_TEXT.map(str.encode))
        )
        if not raw:
            break
    only_contract_errors(bytes(raw))


def number_by_patterns(text: str) -> str:
    """The kind of a plain scalar that is no word, by the patterns of YAML's core schema."""
    if re.fullmatch(r"[-+]?0[0-9]+", text):
        return "text"
    if re.fullmatch(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", text):
        return "int"
    if re.fullmatch(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", text):
        return "float"
    if re.fullmatch(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", text):
        return "refused"
    return "text"


def test_a_plain_scalar_is_the_number_that_the_patterns_say() -> None:
    texts = [
        "".join(chars) for count in (1, 2, 3, 4) for chars in product("-+.019aexoT: ", repeat=count)
    ]
    texts += [
        f"{sign}.{word}"
        for sign in ("", "-", "+", "++")
        for word in ("inf", "Inf", "INF", "iNF", "nan", "NaN", "NAN", "nAN", "infx")
    ]
    texts += [
        "2026-01-05T09:00:00Z",
        "2026-01-05",
        "0xFF",
        "0xfg",
        "0o17",
        "0o18",
        "1e5",
        "1E-5",
        "٣",
        "1٣",
    ]
    for text in texts:
        try:
            value = plain_value(text)
        except NumberFault:
            kind = "refused"
        else:
            kind = {int: "int", float: "float"}.get(type(value), "text")
            assert kind != "text" or value == text
        assert kind == number_by_patterns(text), text


@pytest.mark.parametrize(
    "char", [*map(chr, range(0x120)), *"\u2028\u2029\u202e\ufeff\ufffd\ufffe\uffff😀"]
)
def test_a_control_character_is_refused_wherever_it_stands(char: str) -> None:
    raw = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)")
    for text in (f"a: x{char}y\n", f"a: x\n# é{char}\n", f"a: x{char}"):
        try:
            decode_text(text.encode(), file="f", what="a file")
            refused = False
        except ContractError:
            refused = True
        assert refused == bool(raw.search(text)), repr(text)
