"""Reading a command as shell. The one owner of ``tree_sitter`` and its grammar of bash.

The grammar accepts more than bash does, and repairs what it cannot read: a text with any such place
is not understood, and comes back as None. So does one that is nested or long beyond measure.
"""

from __future__ import annotations

import re

from flow.core.masked_exit.programs import SHELLS, shell_options
from flow.core.masked_exit.shell import LAST, Node, base_name
from flow.startup.typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_BYTES = 1 << 16
MOST_DEPTH = 60
_parser: list[Any] = []


class _NotUnderstood(Exception):
    """A construct that is left alone. Never leaves this module."""


def parse(text: str) -> Node | None:
    """The shape of a shell text; None where it is not understood as a whole."""
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
"""What the grammar takes for something else (a brace behind ``time``, ``/`` before ``]``), and the
same in words that it reads rightly."""


def syntax_tree(data: bytes) -> Any:
    """The grammar's tree of a text."""
    if not _parser:
        import tree_sitter
        import tree_sitter_bash

        _parser.append(tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language())))
    return _parser[0].parse(data)


def _statements(children: list[Any], depth: int) -> Node:
    """A list of statements; an ``&`` sends the one before it into the background."""
    found: list[Node] = []
    for child in children:
        if child.type == "&" and found:
            found[-1] = Node("background", (found[-1],))
        elif child.is_named and child.type != "comment":
            found.append(_node(child, depth + 1))
    return Node("sequence", tuple(found))


def _node(node: Any, depth: int) -> Node:
    if depth > MOST_DEPTH:
        raise _NotUnderstood
    reader = _READERS.get(node.type)
    if reader is None:
        raise _NotUnderstood
    return reader(node, depth)


def _list(node: Any, depth: int) -> Node:
    left, sign, right = [child for child in node.children if child.type != "comment"]
    kind: Any = {"&&": "and", "||": "or"}.get(sign.type)
    if kind is None:
        raise _NotUnderstood
    return Node(kind, (_node(left, depth + 1), _node(right, depth + 1)))


def _pipeline(node: Any, depth: int) -> Node:
    parts: list[Node] = []
    for child in _named(node):
        part = _node(child, depth + 1)
        parts += part.parts if part.kind == "pipe" else (part,)
    if len(parts) == 2:
        parts[1] = _with_script(parts[1], _printed(parts[0]))
    if parts[0].kind == "not":  # the grammar binds "!" to the first command; bash to all of them
        return Node("not", (Node("pipe", (parts[0].parts[0], *parts[1:])),))
    return Node("pipe", tuple(parts))


def _printed(node: Node) -> str | None:
    """What ``echo TEXT`` and ``printf TEXT`` print; None where that cannot be told."""
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


def _negated(node: Any, depth: int) -> Node:
    return Node("not", (_node(_named(node)[0], depth + 1),))


def _subshell(node: Any, depth: int) -> Node:
    return _statements(node.children, depth)._replace(kind="subshell")


def _compound(node: Any, depth: int) -> Node:
    if node.children[0].type == "((":
        return _test(node, depth)
    return _statements(node.children, depth)._replace(kind="group")


_DECIDED = ("=", "==", "!=", "-n", "-z", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "!")


def _test(node: Any, depth: int) -> Node:
    """``[ ... ]``, ``[[ ... ]]`` and ``(( ... ))``, which can fail like any command.

    Its words are given where no file is asked for; ``&&`` and ``||`` in it are as outside.
    """
    kind = node.children[0].type
    inner = node.children[1:-1]
    if kind == "((":
        text = " ".join(map(_text, inner))
        plain = text if text.isdigit() else None
        return Node("command", _substitutions(node, depth), (kind, plain), source=(kind, text))
    return _tested(node, kind, inner, depth)


def _tested(node: Any, kind: str, inner: list[Any], depth: int) -> Node:
    if depth > MOST_DEPTH:
        raise _NotUnderstood
    leaves = list(_leaves(inner))
    signs: tuple[tuple[str, Any], ...] = (("||", "or"), ("&&", "and"), ("-o", "or"), ("-a", "and"))
    for sign, both in signs if "(" not in map(_text, leaves) else ():
        places = [n for n, leaf in enumerate(leaves) if _text(leaf) == sign]
        if places and 0 < places[0] < len(leaves) - 1:
            sides = (leaves[: places[0]], leaves[places[0] + 1 :])
            return Node(both, tuple(_tested(node, kind, side, depth + 1) for side in sides))
    parts = tuple(part for leaf in leaves for part in _substitutions(_Only(leaf), depth))
    if any(_text(leaf) not in _DECIDED for leaf in leaves if _is_sign(leaf)):
        text = "`" + " ".join(map(_text, leaves))
        return Node("command", parts, (kind, None), (kind, text))
    words = [_text(leaf) if _is_sign(leaf) else _word(leaf) for leaf in leaves]
    return Node("command", parts, (kind, *words), (kind, *map(_text, leaves)))


class _Only:
    """A node of one child, so that the child itself is looked at."""

    def __init__(self, child: Any) -> None:
        self.children = [child]


def _is_sign(leaf: Any) -> bool:
    return leaf.type == "test_operator" or not leaf.is_named


_EXPRESSIONS = ("binary_expression", "unary_expression", "parenthesized_expression")


def _leaves(children: list[Any]) -> Iterator[Any]:
    """The words of a test; how the grammar groups them is no matter (it groups ``-a`` wrongly)."""
    for child in children:
        if child.type in _EXPRESSIONS:
            yield from _leaves(child.children)
        else:
            yield child


def _command(node: Any, depth: int) -> Node:
    words: list[str | None] = []
    source: list[str] = []
    variables: list[str] = []
    parts = _substitutions(node, depth)
    reads = False
    fed: str | None = None
    given = _named(node)
    first = _text(given[0]) if given else ""
    if first == "time" and len(given) == 2 and given[1].type in ("subshell", "compound_statement"):
        return _node(given[1], depth + 1)
    for child in given:
        if child.type == "file_redirect":
            reads = reads or _reads(child)
        elif child.type == "herestring_redirect":
            fed = _word(child.children[-1])
        elif child.type == "variable_assignment":
            name, _, value = _text(child).partition("=")
            shown = value.strip("'\"")
            variables.append(f"{name}={shown}")
        else:
            named = child.type == "command_name" and bool(child.children)
            words.append(_word(child.children[0] if named else child))
            source.append(_text(child))
    if words[:1] == ["coproc"]:
        return _coproc(
            Node("command", parts, tuple(words[1:]), reads=reads, source=tuple(source[1:]))
        )
    if words[:1] == ["!"]:
        rest = Node("command", parts, tuple(words[1:]), tuple(source[1:]), tuple(variables))
        return Node("not", (rest,))
    found = Node("command", parts, tuple(words), tuple(source), tuple(variables), reads=reads)
    return _with_script(found, fed)


def _coproc(node: Node) -> Node:
    """``coproc COMMAND``; the grammar knows nothing of it, and cannot read one of several."""
    if not node.words or any(word in ("{", "(", None) for word in node.words[:2]):
        raise _NotUnderstood
    return Node("background", (node,))


def _with_script(node: Node, text: str | None) -> Node:
    """``bash <<< TEXT`` and ``bash << END`` as ``bash -c TEXT``, where the text is a plain one."""
    words = node.words
    if node.kind != "command" or text is None or not words or words[0] is None:
        return node
    if words in (("source", "/dev/stdin"), (".", "/dev/stdin")):
        return node._replace(words=("eval", text), source=("eval", f"'{text}'"))
    options = [word or "" for word in words[1:]]
    plain = all(word.startswith(("-", "+")) for word in options)
    if base_name(words[0]).startswith("python") and options in ([], ["-"]):
        given = (words[0], "-c", text)
        return node._replace(words=given, source=given)
    if base_name(words[0]) not in SHELLS or shell_options(words)[1] is not None or not plain:
        return node
    kept = [word for word in options if word not in ("-", "--", "-s")]
    command = (words[0], *kept, "-c", text)
    return node._replace(words=command, source=command)


def _heredoc(redirect: Any) -> str | None:
    """The text of ``<< END``; None where the shell computes it."""
    parts = {child.type: child for child in redirect.children}
    start, body = parts.get("heredoc_start"), parts.get("heredoc_body")
    if start is None or body is None:
        return None
    text, quoted = _text(body), _text(start)[:1] in ("'", '"', "\\")
    return text if quoted or not any(sign in text for sign in "$`\\") else None


def _assignment(node: Any, depth: int) -> Node:
    children = node.children
    parts = _substitutions(node, depth)
    if node.type == "variable_assignments":
        return Node("declare", tuple(_assignment(child, depth + 1) for child in children))
    name = _text(children[0])
    if [child.type for child in children[:2]] == ["variable_name", "="] and len(children) <= 3:
        value, text = (_word(children[2]), _text(children[2])) if len(children) == 3 else ("", "")
        return Node("assign", parts, (name, value), source=(name, text))
    name = name.partition("[")[0]
    return Node("assign", parts, (name, None), source=(name, "`" + _text(node)))


def _declaration(node: Any, depth: int) -> Node:
    given = [child for child in _named(node) if child.type == "variable_assignment"]
    rest = Node("command", _substitutions(node, depth), (":",), source=(":",))
    found = [_assignment(child, depth) for child in given]
    return Node("declare", tuple(found) or (rest,))


def _redirected(node: Any, depth: int) -> Node:
    found: Node | None = None
    writes: list[str] = []
    reads = False
    after: list[Any] = []
    beside: list[Node] = []
    fed: str | None = None
    for child in _named(node):
        if child.type == "file_redirect":
            reads = reads or _reads(child)
            writes += _writes(child)
            beside += _substitutions(child, depth)
        elif child.type == "heredoc_redirect":
            after += child.children
            fed = _heredoc(child)
        elif child.type != "herestring_redirect" and child.type != "comment":
            found = _node(child, depth + 1)
    if found is None:
        return Node("command", _substitutions(node, depth), (None,), source=("`",))
    found = _with_script(found, fed)
    if beside:
        given = Node("command", tuple(beside), (":",), source=(":",))
        found = Node("group", (given, found))
    if writes or reads:
        found = _with_files(found, tuple(writes), reads)
    return _after_heredoc(found, after, depth, fed)


def _with_files(node: Node, writes: tuple[str, ...], reads: bool) -> Node:
    """The grammar hangs a redirection of the last command on the whole list before it."""
    if node.kind in ("and", "or", "pipe", "not"):
        last = _with_files(node.parts[-1], writes, reads)
        return node._replace(parts=(*node.parts[:-1], last))
    if node.kind not in ("command", "group", "subshell"):
        node = Node("group", (node,))
    return node._replace(writes=(*node.writes, *writes), reads=node.reads or reads)


def _after_heredoc(node: Node, children: list[Any], depth: int, fed: str | None) -> Node:
    """What stands on the line of a ``<<``, behind it, belongs around the command."""
    sign = ""
    for child in children:
        if child.type in ("&&", "||"):
            sign = child.type
        elif child.type == "pipeline":
            behind = [_node(part, depth + 1) for part in _named(child)]
            parts = node.parts if node.kind == "pipe" else (node,)
            if node.words == ("cat",) and len(behind) == 1:
                behind = [_with_script(behind[0], fed)]
            node = Node("pipe", (*parts, *behind))
        elif child.type in ("heredoc_start", "heredoc_body", "heredoc_end", "comment"):
            continue
        elif child.type == "file_redirect":
            node = _with_files(node, tuple(_writes(child)), _reads(child))
        elif child.is_named and sign:
            right = _node(child, depth + 1)
            node = Node("and" if sign == "&&" else "or", (node, right))
            sign = ""
        elif child.is_named and child.type != "file_descriptor":
            raise _NotUnderstood
    return node


def _if(node: Any, depth: int) -> Node:
    parts: list[Node] = []
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
                parts += _if(child, depth + 1).parts
        elif child.type == "fi":
            break
        else:
            waiting.append(child)
    if len(parts) % 2 and not complete:
        parts.append(_statements(waiting, depth))
    return Node("if", tuple(parts), complete=complete)


def _while(node: Any, depth: int) -> Node:
    body = node.children[-1]
    condition = _statements(node.children[1:-1], depth)
    if len(condition.parts) == 1:
        condition = condition.parts[0]
    kind: Any = node.children[0].type
    return Node(kind, (condition, _statements(body.children, depth)))


def _for(node: Any, depth: int) -> Node:
    if node.children[0].type != "for":
        raise _NotUnderstood
    named = _named(node)
    words = [_word(child) for child in named[1:-1]]
    source = [_text(child) for child in named[:-1]]
    body = _statements(node.children[-1].children, depth)
    return Node("for", (body,), (source[0], *words), source=tuple(source))


def _counting(node: Any, depth: int) -> Node:
    body = _statements(node.children[-1].children, depth)
    return Node("for", (body,), ("_", None), source=("_", "`"))


def _case(node: Any, depth: int) -> Node:
    bodies: list[Node] = []
    source = [_text(node.children[1])]
    complete = False
    for item in _named(node):
        if item.type != "case_item":
            continue
        signs = [child.type for child in item.children]
        end = signs.index(")")
        patterns = [_text(child) for child in item.children[:end] if child.is_named]
        complete = complete or "*" in patterns
        source.append("|".join(patterns))
        if ";&" in signs or ";;&" in signs:
            raise _NotUnderstood
        bodies.append(_statements(item.children[end + 1 :], depth))
    words = (_word(node.children[1]),)
    return Node("case", tuple(bodies), words, complete=complete, source=tuple(source))


def _function(node: Any, depth: int) -> Node:
    names = [child for child in _named(node) if child.type == "word"]
    return Node("function", (_node(_named(node)[-1], depth + 1),), (_text(names[0]),))


_READERS: dict[str, Callable[[Any, int], Node]] = {
    "list": _list,
    "pipeline": _pipeline,
    "negated_command": _negated,
    "subshell": _subshell,
    "compound_statement": _compound,
    "test_command": _test,
    "command": _command,
    "variable_assignment": _assignment,
    "variable_assignments": _assignment,
    "declaration_command": _declaration,
    "unset_command": _declaration,
    "redirected_statement": _redirected,
    "if_statement": _if,
    "while_statement": _while,
    "for_statement": _for,
    "c_style_for_statement": _counting,
    "case_statement": _case,
    "function_definition": _function,
}


def _named(node: Any) -> list[Any]:
    return [child for child in node.children if child.is_named and child.type != "comment"]


def _text(node: Any) -> str:
    return str(node.text.decode("utf-8"))


def _word(node: Any) -> str | None:
    """A word without its quotes; None where the shell computes it."""
    text = _text(node)
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
        return _number(_named(node))
    if node.type == "concatenation":
        words = [_word(child) for child in _named(node)]
        return None if None in words or LAST in words else "".join(map(str, words))
    return None


def _number(parts: list[Any]) -> str | None:
    """The value of ``$((...))`` where numbers alone, or a 0, decide it."""
    if len(parts) == 1 and parts[0].type == "number":
        text = _text(parts[0])
        return text if text == "0" or (text[:1] in "123456789" and text.isdigit()) else None
    if len(parts) == 1 and parts[0].type == "binary_expression":
        left, sign, right = parts[0].children
        one, other = _number([left]), _number([right])
        if _text(sign) in ("*", "&") and "0" in (one, other):
            return "0" if LAST in (_text(left), _text(right)) or None not in (one, other) else None
        if one is not None and other is not None and _text(sign) in ("+", "-"):
            total = int(one) + (int(other) if _text(sign) == "+" else -int(other))
            return str(total) if total >= 0 else None
    return None


def _reads(redirect: Any) -> bool:
    signs = [child.type for child in redirect.children if not child.is_named]
    return "<" in signs and _text(redirect.children[-1]) != "/dev/null"


def _writes(redirect: Any) -> Iterator[str]:
    signs = [child.type for child in redirect.children if not child.is_named]
    if any(sign in (">", ">>", "&>", "&>>", ">|") for sign in signs):
        word = _word(redirect.children[-1])
        if word is not None:
            yield word


def _substitutions(node: Any, depth: int) -> tuple[Node, ...]:
    """The commands inside ``$(...)``, ``<(...)`` and back quotes, in the order of the text."""
    found: list[Node] = []
    waiting = list(reversed(node.children))
    steps = 0
    while waiting:
        child = waiting.pop()
        steps += 1
        if child.type in ("command_substitution", "process_substitution"):
            found.append(_statements(child.children, depth + 1))
        else:
            waiting.extend(reversed(child.children))
    return tuple(found)
