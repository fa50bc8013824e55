"""Reading a command as shell. The one owner of ``tree_sitter`` and its grammar of bash.

The grammar accepts more than bash does, and repairs what it cannot read: a text with any such place
is not understood, and comes back as None. So does one that is nested or long beyond measure.
"""

from __future__ import annotations

from flow.cheap_typing import TYPE_CHECKING, Any
from flow.core.masking_programs import SHELLS, shell_options
from flow.core.shell import LAST, Node, base_name

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
    root = _tree(data).root_node
    if root.has_error:
        return None
    try:
        return _statements(root.children, 0)
    except _NotUnderstood:
        return None


def _tree(data: bytes) -> Any:
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
    if parts[0].kind == "not":  # the grammar binds "!" to the first command; bash to all of them
        return Node("not", (Node("pipe", (parts[0].parts[0], *parts[1:])),))
    return Node("pipe", tuple(parts))


def _negated(node: Any, depth: int) -> Node:
    return Node("not", (_node(_named(node)[0], depth + 1),))


def _subshell(node: Any, depth: int) -> Node:
    return _statements(node.children, depth)._replace(kind="subshell")


def _compound(node: Any, depth: int) -> Node:
    if node.children[0].type == "((":
        return _test(node, depth)
    return _statements(node.children, depth)._replace(kind="group")


def _test(node: Any, depth: int) -> Node:
    """``[ ... ]``, ``[[ ... ]]`` and ``(( ... ))``, which can fail like any command."""
    return Node("command", _substitutions(node, depth), (node.children[0].type, None))


def _command(node: Any, depth: int) -> Node:
    words: list[str | None] = []
    parts = _substitutions(node, depth)
    reads = False
    fed: str | None = None
    for child in _named(node):
        if child.type == "command_name":
            words.append(_word(child.children[0] if child.children else child))
        elif child.type == "file_redirect":
            reads = reads or _reads(child)
        elif child.type == "herestring_redirect":
            fed = _word(child.children[-1])
        elif child.type != "variable_assignment":
            words.append(_word(child))
    return _with_script(Node("command", parts, tuple(words), reads=reads), fed)


def _with_script(node: Node, text: str | None) -> Node:
    """``bash <<< TEXT`` and ``bash << END`` as ``bash -c TEXT``, where the text is a plain one."""
    words = node.words
    if node.kind != "command" or text is None or not words or words[0] is None:
        return node
    options = [word or "" for word in words[1:]]
    plain = all(word.startswith(("-", "+")) for word in options)
    if base_name(words[0]) not in SHELLS or shell_options(words)[1] is not None or not plain:
        return node
    kept = [word for word in options if word not in ("-", "--", "-s")]
    return node._replace(words=(words[0], *kept, "-c", text))


def _heredoc(redirect: Any) -> str | None:
    """The text of ``<< END``; None where the shell computes it."""
    parts = {child.type: child for child in redirect.children}
    start, body = parts.get("heredoc_start"), parts.get("heredoc_body")
    if start is None or body is None:
        return None
    text, quoted = _text(body), _text(start)[:1] in ("'", '"', "\\")
    return text if quoted or not any(sign in text for sign in "$`\\") else None


def _assignment(node: Any, depth: int) -> Node:
    return Node("assign", _substitutions(node, depth))


def _declaration(node: Any, depth: int) -> Node:
    return Node("declare", _substitutions(node, depth))


def _redirected(node: Any, depth: int) -> Node:
    found: Node | None = None
    writes: list[str] = []
    reads = False
    after: list[Any] = []
    fed: str | None = None
    for child in _named(node):
        if child.type == "file_redirect":
            reads = reads or _reads(child)
            writes += _writes(child)
        elif child.type == "heredoc_redirect":
            after += child.children
            fed = _heredoc(child)
        elif child.type != "herestring_redirect" and child.type != "comment":
            found = _node(child, depth + 1)
    if found is None:
        return Node("command", _substitutions(node, depth), (None,))
    found = _with_script(found, fed)
    if writes or reads:
        found = _with_files(found, tuple(writes), reads)
    return _after_heredoc(found, after, depth)


def _with_files(node: Node, writes: tuple[str, ...], reads: bool) -> Node:
    """The grammar hangs a redirection of the last command on the whole list before it."""
    if node.kind in ("and", "or", "pipe", "not"):
        last = _with_files(node.parts[-1], writes, reads)
        return node._replace(parts=(*node.parts[:-1], last))
    if node.kind not in ("command", "group", "subshell"):
        node = Node("group", (node,))
    return node._replace(writes=(*node.writes, *writes), reads=node.reads or reads)


def _after_heredoc(node: Node, children: list[Any], depth: int) -> Node:
    """What stands on the line of a ``<<``, behind it, belongs around the command."""
    sign = ""
    for child in children:
        if child.type in ("&&", "||"):
            sign = child.type
        elif child.type == "pipeline":
            behind = [_node(part, depth + 1) for part in _named(child)]
            parts = node.parts if node.kind == "pipe" else (node,)
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
    return Node("for", (_statements(node.children[-1].children, depth),))


def _case(node: Any, depth: int) -> Node:
    bodies: list[Node] = []
    complete = False
    for item in _named(node):
        if item.type != "case_item":
            continue
        signs = [child.type for child in item.children]
        end = signs.index(")")
        patterns = [child.text for child in item.children[:end] if child.is_named]
        complete = complete or b"*" in patterns
        if ";&" in signs or ";;&" in signs:
            raise _NotUnderstood
        bodies.append(_statements(item.children[end + 1 :], depth))
    return Node("case", tuple(bodies), complete=complete)


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
    "c_style_for_statement": _for,
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
    if node.type == "concatenation":
        words = [_word(child) for child in _named(node)]
        return None if None in words or LAST in words else "".join(map(str, words))
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
