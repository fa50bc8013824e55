"""Reading a command as shell. The one owner of ``tree_sitter`` and its grammar of bash.

The grammar accepts more than bash does, and repairs unreadable parts: a text with such a part is
not understood, and None is returned. The same holds for a text that is nested too deeply or too
long.
"""

from __future__ import annotations

import re
from functools import partial

from flow.core.masked_exit.programs import SHELLS, shell_options
from flow.core.masked_exit.runner_names import starts_runners
from flow.core.masked_exit.runner_words import PYTHON, is_interpreter
from flow.core.masked_exit.shell import LAST, Kind, ShellNode, base_name
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_BYTES = 1 << 16
MOST_DEPTH = 60
_parser: list[Any] = []


class _NotUnderstood(Exception):
    """A construct that is not read. Never leaves this module."""


def parse_shell(text: str) -> ShellNode | None:
    """The shape of a shell text; None if it is not understood as a whole."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        return None
    if len(data) > MOST_BYTES:
        return None
    for misread, meant in _MISREAD:
        data = misread.sub(meant, data)
    root = syntax_tree(data).root_node
    if root.has_error or "\0" in text:
        return None
    try:
        return _statements(root.children, 0)
    except _NotUnderstood:
        return None


_MISREAD = (
    (re.compile(rb"((?:^|[;&|\n(])\s*)time\s+(?:-p\s+)?(?=[{(]\s)"), rb"\1"),
    (re.compile(rb"(\s)/(\s+\])"), rb"\1/.\2"),
)
"""Texts that the grammar misreads (a brace after ``time``, ``/`` before ``]``), and equivalents
that it reads correctly.
"""


def syntax_tree(data: bytes) -> Any:
    """The grammar's tree of a text."""
    if not _parser:
        import tree_sitter
        import tree_sitter_bash

        _parser.append(tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())))
    return _parser[0].parse(data)


def _statements(children: list[Any], depth: int) -> ShellNode:
    """A list of statements; an ``&`` sends the one before it into the background."""
    statements: list[ShellNode] = []
    for child in children:
        if child.type == "&" and statements:
            statements[-1] = ShellNode("background", (statements[-1],))
        elif child.is_named and child.type != "comment":
            statements.append(_shell_node(child, depth + 1))
    return ShellNode("sequence", tuple(statements))


def _shell_node(node: Any, depth: int) -> ShellNode:
    if depth > MOST_DEPTH:
        raise _NotUnderstood
    reader = _READERS.get(node.type)
    if reader is None:
        raise _NotUnderstood
    return reader(node, depth)


def _list_node(node: Any, depth: int) -> ShellNode:
    left, sign, right = [child for child in node.children if child.type != "comment"]
    kind: Any = {"&&": "and", "||": "or"}.get(sign.type)
    if kind is None:
        raise _NotUnderstood
    return _listed(kind, _shell_node(left, depth + 1), _member(right, depth))


def _listed(kind: Kind, first: ShellNode, right: ShellNode) -> ShellNode:
    return _joined(right, lambda second: ShellNode(kind, (first, second)))


def _member(node: Any, depth: int) -> ShellNode:
    """A part of a list or a pipeline; an ``and`` or ``or`` is one that the grammar took into it."""
    part = _shell_node(node, depth + 1)
    listed = part.kind in ("and", "or") and node.type not in ("list", "pipeline")
    return ShellNode("group", (part,)) if listed else part


def _joined(node: ShellNode, join: Callable[[ShellNode], ShellNode]) -> ShellNode:
    """``node`` with its first member joined to what stands before it.

    The grammar reads ``a | b | c && d`` as ``a | (b | c && d)``; for bash it is ``(a | b | c) &&
    d``.
    """
    if node.kind not in ("and", "or"):
        return join(node)
    return node._replace(parts=(_joined(node.parts[0], join), *node.parts[1:]))


def _pipeline(node: Any, depth: int) -> ShellNode:
    *before, last = [_member(child, depth) for child in _named_children(node)]
    return _joined(last, partial(_piped, before))


def _piped(before: list[ShellNode], last: ShellNode) -> ShellNode:
    parts: list[ShellNode] = []
    for part in (*before, last):
        parts += part.parts if part.kind == "pipe" else (part,)
    parts[1] = _with_script(parts[1], _printed(parts[0]))
    if parts[0].kind == "not":  # the grammar binds "!" to the first command; bash to all of them
        return ShellNode("not", (ShellNode("pipe", (parts[0].parts[0], *parts[1:])),))
    return ShellNode("pipe", tuple(parts))


def _printed(node: ShellNode) -> str | None:
    """The text that ``echo TEXT`` or ``printf TEXT`` prints; None if the words do not show it."""
    words = node.words
    if node.kind != "command" or node.parts or node.reads or node.writes or len(words) < 2:
        return None
    given = [word for word in words[1:] if word is not None and word != LAST]
    if len(given) + 1 != len(words) or words[0] not in ("echo", "printf"):
        return None
    if words[0] == "printf":
        if given[0] in ("%s", "%s\\n") and len(given) == 2:
            return given[1]
        given = [given[0].replace("\\n", "\n"), *given[1:]]
        if len(given) > 1 or "%" in given[0]:
            return None
    text = " ".join(given)
    return None if text.startswith("-") or "\\" in text else text


def _negated(node: Any, depth: int) -> ShellNode:
    return ShellNode("not", (_shell_node(_named_children(node)[0], depth + 1),))


def _subshell(node: Any, depth: int) -> ShellNode:
    return _statements(node.children, depth)._replace(kind="subshell")


def _compound(node: Any, depth: int) -> ShellNode:
    if node.children[0].type == "((":
        return _test_node(node, depth)
    return _statements(node.children, depth)._replace(kind="group")


_DECIDED = ("=", "==", "!=", "-n", "-z", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "!")
"""The signs of a test that its words alone decide; the others look at files."""


def _test_node(node: Any, depth: int) -> ShellNode:
    """``[ ... ]``, ``[[ ... ]]`` and ``(( ... ))``, which can fail like any command.

    Its words are given if it tests no file; ``&&`` and ``||`` in it are as outside.
    """
    kind = node.children[0].type
    inner = node.children[1:-1]
    if kind == "((":
        text = " ".join(map(_node_text, inner))
        plain = text if text.isdigit() else None
        return ShellNode("command", _substitutions(node, depth), (kind, plain), source=(kind, text))
    return _operand_node(node, kind, inner, depth)


def _operand_node(node: Any, kind: str, inner: list[Any], depth: int) -> ShellNode:
    if depth > MOST_DEPTH:
        raise _NotUnderstood
    leaves = list(_test_words(inner))
    signs: tuple[tuple[str, Any], ...] = (("||", "or"), ("&&", "and"), ("-o", "or"), ("-a", "and"))
    for sign, joined in signs if "(" not in map(_node_text, leaves) else ():
        places = [n for n, leaf in enumerate(leaves) if _node_text(leaf) == sign]
        if places and 0 < places[0] < len(leaves) - 1:
            sides = (leaves[: places[0]], leaves[places[0] + 1 :])
            return ShellNode(
                joined, tuple(_operand_node(node, kind, side, depth + 1) for side in sides)
            )
    parts = tuple(part for leaf in leaves for part in _substitutions(leaf, depth))
    if any(_node_text(leaf) not in _DECIDED for leaf in leaves if _is_sign(leaf)):
        text = "`" + " ".join(map(_node_text, leaves))
        return ShellNode("command", parts, (kind, None), (kind, text))
    words = [_node_text(leaf) if _is_sign(leaf) else _plain_word(leaf) for leaf in leaves]
    return ShellNode("command", parts, (kind, *words), (kind, *map(_node_text, leaves)))


def _is_sign(leaf: Any) -> bool:
    return leaf.type == "test_operator" or not leaf.is_named


_EXPRESSIONS = ("binary_expression", "unary_expression", "parenthesized_expression")


def _test_words(children: list[Any]) -> Iterator[Any]:
    """The words of a test; how the grammar groups them is no matter (it groups ``-a`` wrongly)."""
    for child in children:
        if child.type in _EXPRESSIONS:
            yield from _test_words(child.children)
        else:
            yield child


def _command(node: Any, depth: int) -> ShellNode:
    words: list[str | None] = []
    source: list[str] = []
    variables: list[str] = []
    parts = _substitutions(node, depth)
    reads: list[str | None] = []
    fed: str | None = None
    given = _named_children(node)
    first = _node_text(given[0]) if given else ""
    if first == "time" and len(given) == 2 and given[1].type in ("subshell", "compound_statement"):
        return _shell_node(given[1], depth + 1)
    for child in given:
        if child.type == "file_redirect":
            reads += _read_files(child)
        elif child.type == "herestring_redirect":
            fed = _plain_word(child.children[-1])
        elif child.type == "variable_assignment":
            name, _, value = _node_text(child).partition("=")
            shown = value.strip("'\"")
            variables.append(f"{name}={shown}")
        else:
            named = child.type == "command_name" and bool(child.children)
            word = _plain_word(child.children[0] if named else child)
            words.append(_known_word(_node_text(child)) if word is None else word)
            source.append(_node_text(child))
    if words[:1] == ["coproc"]:
        return _coproc_node(
            ShellNode(
                "command", parts, tuple(words[1:]), reads=tuple(reads), source=tuple(source[1:])
            )
        )
    if words[:1] == ["!"]:
        rest = ShellNode("command", parts, tuple(words[1:]), tuple(source[1:]), tuple(variables))
        return ShellNode("not", (rest,))
    command = ShellNode(
        "command", parts, tuple(words), tuple(source), tuple(variables), reads=tuple(reads)
    )
    return _with_script(_with_shown(command), fed)


def _with_shown(node: ShellNode) -> ShellNode:
    """A command whose last word is ``$(echo TEXT)``, or that reads ``<(echo TEXT)``, with TEXT."""
    if len(node.parts) != 1 or node.words[-1:] != (None,) or len(node.parts[0].parts) != 1:
        return node
    text, last = _printed(node.parts[0].parts[0]), node.source[-1].strip('"')
    if text is None or last[-1:] != ")" or last[:2] not in ("$(", "<("):
        return node
    if last[:2] == "$(":
        return node._replace(words=(*node.words[:-1], text), parts=())
    bare = node._replace(words=node.words[:-1], source=node.source[:-1])
    if bare.words in (("source",), (".",)):
        bare = node._replace(words=(*bare.words, "/dev/stdin"))
    fed = _with_script(bare, text)
    return node if fed is bare else fed._replace(parts=())


def _coproc_node(node: ShellNode) -> ShellNode:
    """``coproc COMMAND``, which the grammar does not have. Not for several commands."""
    if not node.words or any(word in ("{", "(", None) for word in node.words[:2]):
        raise _NotUnderstood
    return ShellNode("background", (node,))


def _with_script(node: ShellNode, text: str | None) -> ShellNode:
    """``bash <<< TEXT`` and ``bash << END`` as ``bash -c TEXT``, if the text is a plain one.

    So with ``perl``, and ``cat << END`` as ``printf %s TEXT``.
    """
    words = node.words
    if node.kind != "command" or text is None or not words or words[0] is None:
        return node
    if words == ("cat",) and not node.reads:
        return node._replace(words=("printf", "%s", text), source=("printf", "%s", f"'{text}'"))
    if words in (("source", "/dev/stdin"), (".", "/dev/stdin")):
        return node._replace(words=("eval", text), source=("eval", f"'{text}'"))
    options = [word or "" for word in words[1:]]
    plain = all(word.startswith(("-", "+")) for word in options)
    kept = [word for word in options if word not in ("-", "--", "-s")]
    name = base_name(words[0])
    if is_interpreter(name) and plain:
        option = "-c" if PYTHON.fullmatch(name) else "-e"
        given = (words[0], *kept, option, text)
        return node._replace(words=given, source=given)
    if name not in SHELLS or shell_options(words)[1] is not None or not plain:
        return node
    command = (words[0], *kept, "-c", text)
    return node._replace(words=command, source=command)


def _heredoc(redirect: Any) -> str | None:
    """The text of ``<< END``; None if the shell computes it."""
    parts = {child.type: child for child in redirect.children}
    start, body = parts.get("heredoc_start"), parts.get("heredoc_body")
    if start is None or body is None:
        return None
    text, quoted = _node_text(body), _node_text(start)[:1] in ("'", '"', "\\")
    return text if quoted or not any(sign in text for sign in "$`\\") else None


def _assignment(node: Any, depth: int) -> ShellNode:
    children = node.children
    parts = _substitutions(node, depth)
    if node.type == "variable_assignments":
        return ShellNode("declare", tuple(_assignment(child, depth + 1) for child in children))
    name = _node_text(children[0])
    if [child.type for child in children[:2]] == ["variable_name", "="] and len(children) <= 3:
        value, text = (
            (_plain_word(children[2]), _node_text(children[2])) if len(children) == 3 else ("", "")
        )
        return ShellNode("assign", parts, (name, value), source=(name, text))
    name = name.partition("[")[0]
    return ShellNode("assign", parts, (name, None), source=(name, "`" + _node_text(node)))


def _declaration(node: Any, depth: int) -> ShellNode:
    kind, *others = map(_node_text, node.children)
    if kind != "export" and any(re.fullmatch(r"-\w*n\w*", word) for word in others):
        raise _NotUnderstood  # a second name for a variable
    given = [child for child in _named_children(node) if child.type == "variable_assignment"]
    rest = ShellNode("command", _substitutions(node, depth), (":",), source=(":",))
    assignments = [_assignment(child, depth) for child in given]
    return ShellNode("declare", tuple(assignments) or (rest,))


def _unset(node: Any, depth: int) -> ShellNode:
    """``unset NAME``: the variable is empty from then on."""
    gone = [_node_text(child) for child in _named_children(node) if child.type == "variable_name"]
    empty = [ShellNode("assign", (), (name, ""), source=(name, "")) for name in gone]
    return ShellNode("declare", tuple(empty)) if empty else _declaration(node, depth)


def _redirected(node: Any, depth: int) -> ShellNode:
    statement: ShellNode | None = None
    writes: list[str] = []
    reads: list[str | None] = []
    after: list[Any] = []
    beside: list[ShellNode] = []
    fed: str | None = None
    for child in _named_children(node):
        if child.type == "file_redirect":
            reads += _read_files(child)
            writes += _written_files(child)
            beside += _substitutions(child, depth)
        elif child.type == "heredoc_redirect":
            after += child.children
            fed = _heredoc(child)
            for part in child.children:
                beside += _substitutions(part, depth) if part.type == "heredoc_body" else ()
        elif child.type != "herestring_redirect" and child.type != "comment":
            statement = _shell_node(child, depth + 1)
    if statement is None:
        parts = _substitutions(node, depth)
        return ShellNode("command", parts, (None,), ("`",), reads=tuple(reads))
    statement = _behind(tuple(beside), _with_script(statement, fed))
    if writes or reads:
        statement = _with_files(statement, tuple(writes), tuple(reads))
    return _after_heredoc(statement, after, depth)


def _shown_file(node: Any, depth: int) -> ShellNode:
    """``$(< FILE)``, which is ``$(cat FILE)``."""
    reads = [*_read_files(node)]
    if len(reads) != 1:
        raise _NotUnderstood
    shown = ("cat", _node_text(node.children[-1]))
    return ShellNode("command", _substitutions(node, depth), ("cat", reads[0]), shown)


def _behind(substitutions: tuple[ShellNode, ...], node: ShellNode) -> ShellNode:
    """A construct behind the substitutions in its words, whose status it drops."""
    if not substitutions:
        return node
    return ShellNode("group", (ShellNode("command", substitutions, (":",), (":",)), node))


def _with_files(
    node: ShellNode, writes: tuple[str, ...], reads: tuple[str | None, ...]
) -> ShellNode:
    """Add redirections to the last command; the grammar has them on the whole list before it."""
    if node.kind in ("and", "or", "pipe", "not"):
        last = _with_files(node.parts[-1], writes, reads)
        return node._replace(parts=(*node.parts[:-1], last))
    if node.kind not in ("command", "group", "subshell"):
        node = ShellNode("group", (node,))
    return node._replace(writes=(*node.writes, *writes), reads=(*node.reads, *reads))


def _after_heredoc(node: ShellNode, children: list[Any], depth: int) -> ShellNode:
    """The command joined with the rest of its ``<<`` line: a pipe, a list or a redirection."""
    sign = ""
    for child in children:
        if child.type in ("&&", "||"):
            sign = child.type
        elif child.type == "pipeline" and child.children[0].type.startswith("|"):
            *behind, last = [_member(part, depth) for part in _named_children(child)]
            *listed, first = node.parts if node.kind in ("and", "or") else (node,)
            piped = _joined(last, partial(_piped, [first, *behind]))
            node = _listed(node.kind, listed[0], piped) if listed else piped  # "a && b <<E | c"
        elif child.type in ("heredoc_start", "heredoc_body", "heredoc_end", "comment"):
            continue
        elif child.type == "file_redirect":
            node = _with_files(node, tuple(_written_files(child)), tuple(_read_files(child)))
        elif child.is_named and sign:
            node = _listed("and" if sign == "&&" else "or", node, _member(child, depth))
            sign = ""
        elif child.is_named and child.type != "file_descriptor":
            raise _NotUnderstood
    return node


def _if_node(node: Any, depth: int) -> ShellNode:
    parts: list[ShellNode] = []
    complete = False
    waiting: list[Any] = []
    for child in node.children:
        if child.type in ("if", "elif"):
            continue
        if child.type == "then":
            parts.append(_statements(waiting, depth))
            waiting = []
        elif child.type in ("elif_clause", "else_clause"):
            if waiting or len(parts) % 2:
                parts.append(_statements(waiting, depth))
                waiting = []
            if child.type == "else_clause":
                parts.append(_statements(child.children[1:], depth))
                complete = True
            else:
                parts += _if_node(child, depth + 1).parts
        elif child.type == "fi":
            break
        else:
            waiting.append(child)
    if len(parts) % 2 and not complete:
        parts.append(_statements(waiting, depth))
    return ShellNode("if", tuple(parts), complete=complete)


def _while_node(node: Any, depth: int) -> ShellNode:
    body = node.children[-1]
    condition = _statements(node.children[1:-1], depth)
    if len(condition.parts) == 1:
        condition = condition.parts[0]
    kind: Any = node.children[0].type
    return ShellNode(kind, (condition, _statements(body.children, depth)))


def _for_node(node: Any, depth: int) -> ShellNode:
    if node.children[0].type != "for":
        raise _NotUnderstood
    named = _named_children(node)
    words = [_plain_word(child) for child in named[1:-1]]
    source = [_node_text(child) for child in named[:-1]]
    body = _statements(node.children[-1].children, depth)
    loop = ShellNode("for", (body,), (source[0], *words), source=tuple(source))
    return _behind(tuple(part for item in named[:-1] for part in _substitutions(item, depth)), loop)


def _c_style_for(node: Any, depth: int) -> ShellNode:
    body = _statements(node.children[-1].children, depth)
    return ShellNode("for", (body,), ("_", None), source=("_", "`"))


def _case_node(node: Any, depth: int) -> ShellNode:
    bodies: list[ShellNode] = []
    source = [_node_text(node.children[1])]
    complete = False
    for item in _named_children(node):
        if item.type != "case_item":
            continue
        signs = [child.type for child in item.children]
        end = signs.index(")")
        patterns = [_node_text(child) for child in item.children[:end] if child.is_named]
        complete = complete or "*" in patterns
        source.append("|".join(patterns))
        if ";&" in signs or ";;&" in signs:
            raise _NotUnderstood
        bodies.append(_statements(item.children[end + 1 :], depth))
    subject = node.children[1]
    inner = _substitutions(subject, depth)
    if inner:  # as a variable that is set first: what is asked of it may show a failure
        given = ShellNode("assign", inner, (_SUBJECT, None), source=(_SUBJECT, source[0]))
        cases = ShellNode(
            "case", tuple(bodies), (None,), (f"${_SUBJECT}", *source[1:]), complete=complete
        )
        return ShellNode("group", (ShellNode("declare", (given,)), cases))
    words = (_plain_word(subject),)
    return ShellNode("case", tuple(bodies), words, complete=complete, source=tuple(source))


_SUBJECT = "_flow_case"
"""The variable that stands for the subject of a ``case`` with commands in it."""


def _function(node: Any, depth: int) -> ShellNode:
    names = [child for child in _named_children(node) if child.type == "word"]
    return ShellNode(
        "function", (_shell_node(_named_children(node)[-1], depth + 1),), (_node_text(names[0]),)
    )


_READERS: dict[str, Callable[[Any, int], ShellNode]] = {
    "list": _list_node,
    "pipeline": _pipeline,
    "file_redirect": _shown_file,
    "negated_command": _negated,
    "subshell": _subshell,
    "compound_statement": _compound,
    "test_command": _test_node,
    "command": _command,
    "variable_assignment": _assignment,
    "variable_assignments": _assignment,
    "declaration_command": _declaration,
    "unset_command": _unset,
    "redirected_statement": _redirected,
    "if_statement": _if_node,
    "while_statement": _while_node,
    "for_statement": _for_node,
    "c_style_for_statement": _c_style_for,
    "case_statement": _case_node,
    "function_definition": _function,
}


def _named_children(node: Any) -> list[Any]:
    return [child for child in node.children if child.is_named and child.type != "comment"]


def _node_text(node: Any) -> str:
    return str(node.text.decode("utf-8"))


def _plain_word(node: Any) -> str | None:
    """A word without its quotes; None if the shell computes it."""
    text = _node_text(node)
    if text == "{}":  # find's own sign, which the shell leaves alone
        return text
    if node.type in ("word", "number"):
        if not any(sign in text for sign in "*?[{~$`") and "\n" not in text:
            return text.replace("\\", "")
        return text if node.type == "word" and "\\" not in text and "{" not in text else None
    if node.type == "raw_string":
        return text[1:-1] if text != f"'{LAST}'" else None
    if text in (LAST, f'"{LAST}"'):
        return LAST
    if node.type == "string":
        inner = text[1:-1]
        return None if any(sign in inner for sign in "$`\\") else inner
    if node.type == "arithmetic_expansion":
        return _arithmetic_value(_named_children(node))
    if node.type == "concatenation":
        words = [_plain_word(child) for child in _named_children(node)]
        return None if None in words or LAST in words else "".join(map(str, words))
    return None


_BELOW_HERE = re.compile(r'"?(?:\$PWD|\$\{PWD\}|\$\(pwd\)|`pwd`)"?/([^"$`\\*?\[{]+)"?')
_PROGRAMS_IN = tuple(
    re.compile(text)
    for text in (
        r'"?\$.*/([A-Za-z][\w.+-]*)"?',
        r'"?\$\{\w+:?-(?:[^{}$`]*/)?([A-Za-z][\w.+-]*)\}"?',
        r'"?(?:\$\(|`) *(?:which|command -v|type -[pP]) +([A-Za-z][\w.+-]*) *(?:\)|`)"?',
    )
)


def _known_word(text: str) -> str | None:
    """A word that the shell computes, as far as Flow needs it.

    ``./x`` for ``$PWD/x``, ``.../pytest`` for ``$BIN/pytest``. None for all but a place below the
    folder, and the name of a program that may run tests.
    """
    here = _BELOW_HERE.fullmatch(text)
    if here is not None:
        return f"./{here[1]}"
    matches = filter(None, (pattern.fullmatch(text) for pattern in _PROGRAMS_IN))
    name = next((match[1] for match in matches), None)
    return f".../{name}" if name is not None and starts_runners(name) else None


def _arithmetic_value(parts: list[Any]) -> str | None:
    """The value of ``$((...))`` if numbers alone, or a 0, decide it; else None."""
    if len(parts) == 1 and parts[0].type == "number":
        text = _node_text(parts[0])
        return text if text == "0" or (text[:1] in "123456789" and text.isdigit()) else None
    if len(parts) == 1 and parts[0].type == "binary_expression":
        left, sign, right = parts[0].children
        first, second = _arithmetic_value([left]), _arithmetic_value([right])
        if _node_text(sign) in ("*", "&") and "0" in (first, second):
            certain = LAST in (_node_text(left), _node_text(right)) or None not in (first, second)
            return "0" if certain else None
        if first is not None and second is not None and _node_text(sign) in ("+", "-"):
            total = int(first) + (int(second) if _node_text(sign) == "+" else -int(second))
            return str(total) if total >= 0 else None
    return None


def _read_files(redirect: Any) -> Iterator[str | None]:
    signs = [child.type for child in redirect.children if not child.is_named]
    if "<" in signs and _node_text(redirect.children[-1]) != "/dev/null":
        yield _plain_word(redirect.children[-1])


def _written_files(redirect: Any) -> Iterator[str]:
    signs = [child.type for child in redirect.children if not child.is_named]
    if any(sign in (">", ">>", "&>", "&>>", ">|") for sign in signs):
        word = _plain_word(redirect.children[-1])
        if word is not None:
            yield word


def _substitutions(node: Any, depth: int) -> tuple[ShellNode, ...]:
    """The commands inside ``$(...)``, ``<(...)`` and back quotes, in the order of the text.

    ``node`` may be such a substitution itself.
    """
    substitutions: list[ShellNode] = []
    waiting = [node]
    while waiting:
        child = waiting.pop()
        if child.type in ("command_substitution", "process_substitution"):
            substitutions.append(_statements(child.children, depth + 1))
        else:
            waiting.extend(reversed(child.children))
    return tuple(substitutions)
