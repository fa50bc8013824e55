"""Write the generated parts of the docs: ``python tools/make_docs.py``.

The diagram of ``docs/lifecycle.md`` comes from the table in ``flow/core/goal/lifecycle.py``, the
tables of ``docs/goal-file.md`` from ``schemas/v1/goal.schema.json``, that of ``docs/settings.md``
from the table of keys, the list of commands in ``docs/reference/cli.md`` from the commands. A test
in ``tests/docs`` keeps them current.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(<!-- generated: ([a-z. -]+) -->\n).*?(<!-- end -->)", re.S)
CARRIED = "Carried, not acted on."


def generated(name: str) -> str:
    """The text of a generated block."""
    if name == "lifecycle diagram":
        return f"```mermaid\n{lifecycle_diagram()}```\n"
    if name == "command line":
        from tools.cli_docs import reference

        return reference()
    if name == "settings":
        return _settings_table()
    if name.startswith("goal "):
        return _keys(name.removeprefix("goal "))
    raise SystemExit(f"no generated block is called {name!r}")


def current(text: str) -> str:
    """``text`` with every generated block as it must be."""
    return BLOCK.sub(lambda found: f"{found[1]}{generated(found[2])}{found[3]}", text)


def pages() -> list[Path]:
    """The pages that have generated blocks."""
    found = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs/reference").glob("*.md")]
    return [page for page in sorted(found) if BLOCK.search(_read(page))]


def _read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def lifecycle_diagram() -> str:
    """The table of the lifecycle as a mermaid state diagram."""
    from flow.core.goal.lifecycle import TABLE, TERMINAL

    lines = ["stateDiagram-v2", "    [*] --> draft", "    [*] --> active"]
    for source, targets in TABLE.items():
        lines += [f"    {source} --> {target}" for target in targets]
        if source in TERMINAL:
            lines.append(f"    {source} --> [*]")
    return "\n".join(lines) + "\n"


WHO = {"own": "you", "stricter": "stricter", "pinned": "pinned", "union": "all", "first": "first"}
"""The column of ``docs/settings.md`` that tells whose word counts."""


def _settings_table() -> str:
    from flow.core.setting_keys import KEYS
    from flow.core.settings import config_rows, merge_layers

    defaults = {row.key: row.value for row in config_rows(merge_layers(()))}
    lines = ["| key | meaning | values | default | who |", "|---|---|---|---|---|"]
    for name, key in KEYS.items():
        default = "none" if defaults[name] is None else f"`{json.dumps(defaults[name])}`"
        values = _cell(key.kind.expected)
        row = (f"`{name}`", _cell(key.about), values, default, WHO[key.rule])
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines) + "\n"


def _keys(place: str) -> str:
    """The keys of one part of a goal file, as a table."""
    schema = json.loads((ROOT / "schemas/v1/goal.schema.json").read_text(encoding="utf-8"))
    part = schema["$defs"]["criterion"] if place == "criterion" else schema["properties"][place]
    required = part.get("required", ())
    head = ["| key | | meaning | values |", "|---|---|---|---|"]
    lines: list[str] = []
    carried: list[str] = []
    for key, rule in part["properties"].items():
        full = {**_definition(schema, rule), **rule}
        meaning = full.get("description", "")
        if meaning == CARRIED:
            carried.append(f"`{key}`")
            continue
        need = "required" if key in required else ""
        lines.append(f"| `{key}` | {need} | {_cell(meaning)} | {_cell(_values(full))} |")
    lines = [*head, *lines] if lines else []
    if carried:
        lines += ["", f"Carried, not acted on: {', '.join(carried)}."]
    return "\n".join(lines).lstrip("\n") + "\n"


def _definition(schema: dict[str, Any], rule: dict[str, Any]) -> dict[str, Any]:
    name = rule.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = schema["$defs"].get(name, {})
    return found


def _values(rule: dict[str, Any]) -> str:
    if "enum" in rule:
        return ", ".join(f"`{value}`" for value in rule["enum"])
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    words = " or ".join(_KINDS[kind] for kind in kinds if kind != "null")
    if rule.get("items") and kinds[0] == "array":
        words = "list"
    if "exclusiveMinimum" in rule:
        words += f" above {rule['exclusiveMinimum']}"
    if "minimum" in rule and rule["minimum"] >= 0:
        words += f" from {rule['minimum']}"
    if rule.get("maximum", 2**53) < 2**53:
        words += f" to {rule['maximum']}"
    if rule.get("format") == "date-time":
        words = "time, like `2026-03-01T10:15:00Z`"
    if "default" in rule:
        words += f", default `{json.dumps(rule['default'])}`"
    elif rule.get("examples") and rule.get("format") != "date-time":
        words += f", like `{rule['examples'][0]}`"
    return words


_KINDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "mapping",
}


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Bring every page up to date; says which ones changed."""
    sys.path.insert(0, str(ROOT))
    for page in pages():
        text = _read(page)
        new = current(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"{page.relative_to(ROOT)}: brought up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
