"""The Stop hook's entry in a host's own file (``flow init --host``, SPEC 5 and 6).

The entry has the plain command, found on the ``PATH``: these files are committed, and a path of one
machine would break the hook on every other. Everything else in the file stays unchanged, an entry
of the user's own too.

Facts on the hosts: Claude Code 2.1.197 reads the file of the folder that it is started in. It runs
a command that several settings files name once, but runs it beside the same hook of a plugin. Codex
0.169.0 reads ``.codex/hooks.json`` of the checkout's top from folders below it too, and runs only
hooks that a person has trusted. Gemini 0.61.0 counts milliseconds, and reads the file of the folder
that it is started in. Cursor's file and its seconds are known by documentation only.
"""

from __future__ import annotations

import os
import re

from flow.adapters.contracts import formats
from flow.adapters.fs import files
from flow.adapters.process.environment import find_program
from flow.core import layout
from flow.core.stop.hosts import event_name
from flow.core.text.display import visible
from flow.errors import FlowError
from flow.startup.json import items_of, object_of, text_of
from flow.startup.typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flow.adapters.contracts.text import Path
    from flow.adapters.setup.json_file import JsonFile

    Settings = Mapping[str, Mapping[str, Any]]
    """The content of Claude Code's settings files, by the names that people know, winner first."""

FILES = layout.HOST_FILES
CLAUDE = FILES["claude"]
SECONDS = 330
"""Seconds that a host allows for the hook, which ends by itself before that (SPEC 6)."""
STATUS_LINE = "flow statusline"
PLUGIN = "flow"
"""The plugin's name: it is ``flow@`` and the name of a marketplace in Claude Code's settings."""

_OURS = re.compile(r"flow hook stop(?: --host[ =]\w+)?")
"""A command that ``flow init`` wrote: such an entry is kept up to date."""
_RUNS_IT = re.compile(
    r"""(?:^|[\s/"'])flow(?:["'])?\s+hook\s+stop\b|flow-goal-(?:evaluator|stop)\.sh"""
)
"""A command that starts the Stop hook, written by anyone."""


class Hook(NamedTuple):
    """A host's hook: its place, and notes for people."""

    host: str
    file: str
    event: str
    command: str
    notes: tuple[str, ...]


def command(host: str) -> str:
    """The command that the host runs at a stop."""
    return f"flow hook stop --host {host}"


def add_hook(target: JsonFile, host: str, top: str, environ: Mapping[str, str]) -> tuple[Hook, str]:
    """Bring the hook into ``target``, the host's file; returns it, and a description of the change.

    Raises :class:`ContractError` if the file has another kind of value in the hook's place.
    """
    event = event_name(host)
    entries = list(_starting_it(target, event))
    ours = next((path for path, text in entries if _OURS.fullmatch(text.strip())), None)
    settings = _settings_files(top, environ) if host == "claude" else {}
    plugin = _plugin_file(settings)
    notes = _host_notes(target, host, settings, environ, written=not plugin)
    if plugin and entries:
        did = ""
        notes.append(
            f"{target.name} runs the Stop hook, and so does the plugin enabled in {plugin}: it "
            f"would run twice; take the entry out of hooks.{event}"
        )
    elif plugin:
        did = f"no hook added: the plugin enabled in {plugin} brings it"
    elif ours is not None:
        did = _renewed(target, host, ours)
    elif entries:
        did = f"no hook added: an entry of your own runs it: {_cut_text(entries[0][1])}"
    else:
        _add_hook(target, host, event)
        did = f"added the hook: {event} runs {command(host)}"
    if len(entries) > 1:
        notes.append(f"{len(entries)} entries of hooks.{event} run the Stop hook: keep one")
    notes += _other_entries(target, settings, plugin)
    return Hook(host, target.name, event, command(host), tuple(notes)), did


def has_hook(target: JsonFile, host: str) -> bool:
    """Whether the host's file starts the Stop hook."""
    return any(True for _ in _starting_it(target, event_name(host)))


def _other_entries(target: JsonFile, settings: Settings, plugin: str | None) -> Iterator[str]:
    """Notes on other settings files of Claude Code that run the hook beside ``target``.

    A command that several files name runs once.
    """
    event = event_name("claude")
    own = {text for _, text in _starting_it(target, event)}
    for shown, document in settings.items():
        items = object_of(document.get("hooks")).get(event)
        other = {text for _, text in _commands(items)} - own
        if shown != target.name and other and (own or plugin):
            beside = f"the plugin enabled in {plugin}" if plugin else target.name
            yield (
                f"{shown} runs the Stop hook, too ({_cut_text(min(other))}), and so does {beside}: "
                "it would run twice; keep one of them"
            )


def add_status_line(target: JsonFile, top: str, environ: Mapping[str, str]) -> str:
    """Enter ``flow statusline`` into Claude Code's settings if no file has a status line."""
    documents = (target.value(()), *_settings_files(top, environ).values())
    if any("statusLine" in document for document in documents):
        return ""
    target.add((), "statusLine", {"type": "command", "command": STATUS_LINE})
    return f"added the status line: {STATUS_LINE}"


def _hook_entry(host: str) -> dict[str, Any]:
    kind = {} if host == "cursor" else {"type": "command"}
    name = {"name": "flow-goal-stop"} if host == "gemini" else {}
    return {**kind, **name, "command": command(host), "timeout": _time_limit(host)}


def _time_limit(host: str) -> int:
    """The time limit in the host's unit."""
    return SECONDS * 1000 if host == "gemini" else SECONDS


def _add_hook(target: JsonFile, host: str, event: str) -> None:
    entry = _hook_entry(host)
    item = entry if host == "cursor" else {"hooks": [entry]}
    if target.new and host == "cursor":
        target.add((), "version", 1)
    if target.part(("hooks",), dict) is None:
        target.add((), "hooks", {event: [item]})
    elif target.part(("hooks", event), list) is None:
        target.add(("hooks",), event, [item])
    else:
        target.append(("hooks", event), [item])


def _starting_it(target: JsonFile, event: str) -> Iterator[tuple[Path, str]]:
    """Place and text of each command that starts the Stop hook."""
    for place, text in _commands(target.part(("hooks", event), list)):
        yield ("hooks", event, *place), text


def _commands(items: object) -> Iterator[tuple[Path, str]]:
    """Place and text of each command that starts the Stop hook, in the list of an event."""
    for place, item in enumerate(items_of(items)):
        group = enumerate(items_of(object_of(item).get("hooks")))
        inner = [((place, "hooks", number), entry) for number, entry in group]
        for where, entry in [((place,), item), *inner]:
            text = text_of(object_of(entry).get("command"))
            if _RUNS_IT.search(text):
                yield where, text


def _renewed(target: JsonFile, host: str, path: Path) -> str:
    """Bring an entry of Flow's own up to date: the host's name, and time enough."""
    entry = target.value(path)
    did = []
    text = entry["command"].strip()
    if text not in (command(host), command(host).replace("--host ", "--host=")) and not (
        host == "claude" and text == "flow hook stop"
    ):
        target.put((*path, "command"), command(host))
        did.append(f"its command is {command(host)} now")
    limit = entry.get("timeout")
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or limit < _time_limit(host):
        if "timeout" in entry:
            target.put((*path, "timeout"), _time_limit(host))
        else:
            target.add(path, "timeout", _time_limit(host))
        did.append(f"its timeout is {_time_limit(host)} now")
    return f"renewed the hook: {', '.join(did)}" if did else ""


def _host_notes(
    target: JsonFile, host: str, settings: Settings, environ: Mapping[str, str], *, written: bool
) -> list[str]:
    notes = []
    switch = object_of(target.value(()).get("hooksConfig"))
    if host == "gemini" and switch.get("enabled") is False:
        notes.append(f"{target.name} has hooksConfig.enabled false: no hook runs")
    if file := _disabling_file(settings):
        notes.append(f"{file} has disableAllHooks true: no hook runs")
    if host == "claude" and written:
        notes.append(
            f"Claude Code reads {target.name} only where it is started at the top of the "
            "repository; the plugin's hook runs everywhere"
        )
    if host == "codex":
        notes.append(
            "Codex runs a hook of a repository only where the folder is trusted and a person has "
            "trusted the hook: see /hooks there, after every change of it again"
        )
    if host == "gemini":
        notes.append(
            "Gemini CLI runs a hook of a repository only where the folder is trusted, and only "
            "when it is started at its top"
        )
    if written and find_program("flow", environ.get("PATH")) is None:
        notes.append(
            f"there is no flow on the PATH, so {host} cannot start the hook: install the package, "
            f"or add the folder of the flow that you called to the PATH"
        )
    return notes


def _disabling_file(settings: Settings) -> str:
    """The settings file of Claude Code that turns all hooks off; empty if none does."""
    for shown, document in settings.items():
        switch = document.get("disableAllHooks")
        if switch is not None:
            return shown if switch is True else ""
    return ""


def plugin_settings(top: str, environ: Mapping[str, str]) -> str | None:
    """The settings file of Claude Code that enables the plugin; None if none does."""
    return _plugin_file(_settings_files(top, environ))


def _plugin_file(settings: Settings) -> str | None:
    by_plugin: dict[str, tuple[str, bool]] = {}
    for shown, document in settings.items():
        for plugin, enabled in object_of(document.get("enabledPlugins")).items():
            if plugin.startswith(f"{PLUGIN}@"):
                by_plugin.setdefault(plugin, (shown, enabled is True or isinstance(enabled, list)))
    return next((shown for shown, enabled in by_plugin.values() if enabled), None)


def _settings_files(top: str, environ: Mapping[str, str]) -> Settings:
    """Read Claude Code's settings files; one that is missing or cannot be read is empty."""
    home = environ.get("HOME", "")
    own = environ.get("CLAUDE_CONFIG_DIR") or (f"{home}/.claude" if home else "")
    places = {layout.CLAUDE_LOCAL: (top, layout.CLAUDE_LOCAL), CLAUDE: (top, CLAUDE)}
    if os.path.isabs(own):
        # Dotfiles are often symlinks into a folder of their own.
        places["your own settings.json"] = os.path.split(os.path.realpath(f"{own}/settings.json"))
    return {shown: _document(*place) for shown, place in places.items()}


def _document(root: str, name: str) -> dict[str, Any]:
    """The JSON object in a file; empty if there is none that can be read."""
    try:
        data = files.read_optional(root, name)
        return object_of(formats.parse_json(data, file=name) if data is not None else None)
    except FlowError:
        return {}


def _cut_text(text: str) -> str:
    return visible(text if len(text) <= 100 else text[:99] + "…")
