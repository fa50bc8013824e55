"""``flow config``: the settings in force, and one key of a settings file read or written."""

from __future__ import annotations

import json
import os
import shlex

from flow.adapters.fs.state_folder import state_dir
from flow.adapters.git.find import find_repo
from flow.adapters.process.speaker import current_speaker
from flow.adapters.setup import settings_edit
from flow.adapters.setup.settings_edit import ABSENT
from flow.adapters.user_state import settings as settings_files
from flow.cli.parsing import CommandSpec, plain, usage_error
from flow.core.setting_keys import KEYS, Key, key_named, near_keys
from flow.core.setting_values import checked_value, loosens, value_from_text
from flow.core.settings import LoadedSettings, config_rows, merge_layers
from flow.core.text.near import meant
from flow.core.tool_calls.speaker import is_agent
from flow.errors import InputError, PersonNeeded, at_key, in_file
from flow.render import text
from flow.startup.typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from typing import Any

    from flow.adapters.setup.settings_edit import Scope, SettingsPlace
    from flow.cli.output import Output

SCOPES: tuple[Scope, ...] = ("user", "project", "local")


class _ConfigContext:
    """The command's checkout, or none."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._repo = find_repo(os.getcwd())
        self.home = environ.get("HOME") or None
        self.top = self._repo.top if self._repo is not None else None

    def state_dir(self) -> str:
        """The user's state folder."""
        common = self._repo.common_dir if self._repo is not None else None
        return state_dir(self._environ, self.home, self.top, common)

    def settings(self) -> LoadedSettings:
        """The settings in force here."""
        return settings_files.load(self.top, self.home)


def _list_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--show-origin", action="store_true", help="say where each value is from")


def _list_settings(args: argparse.Namespace, out: Output) -> int:
    loaded = _ConfigContext(out.environ).settings()
    rows = [
        {
            "key": row.key,
            "value": plain(row.value),
            **({"origin": row.origin} if args.show_origin else {}),
            **({"note": note} if (note := KEYS[row.key].not_a_switch) and not row.value else {}),
        }
        for row in config_rows(loaded)
    ]
    out.result({"settings": rows, "warnings": list(loaded.warnings)}, text.settings(rows))
    out.warn(loaded.warnings)
    return 0


def _key_arguments(
    parser: argparse.ArgumentParser,
    here: str = "with --user: in your own file, for this checkout alone",
) -> None:
    parser.add_argument(
        "KEY", help="a key of the list, whole or its last part: stopHookEnforcement"
    )
    scope = parser.add_mutually_exclusive_group()
    scope.add_argument(
        "--user", action="store_true", help="your own file, ~/.claude/settings.flow.json"
    )
    scope.add_argument(
        "--project",
        action="store_true",
        help="the checkout's file, for everybody: .claude/settings.flow.json",
    )
    scope.add_argument(
        "--local",
        action="store_true",
        help="the checkout's file for you alone: .claude/settings.flow.local.json",
    )
    parser.add_argument("--here", action="store_true", help=here)


def _get_arguments(parser: argparse.ArgumentParser) -> None:
    _key_arguments(parser, "with --user: what your own file says of this checkout alone")


def _set_arguments(parser: argparse.ArgumentParser) -> None:
    _key_arguments(parser)
    parser.add_argument("VALUE", help="as JSON; words need no quotes")


def _key_of(args: argparse.Namespace) -> Key:
    key = key_named(args.KEY)
    if key is not None:
        return key
    raise at_key("KEY", args.KEY).invalid(
        f"{args.KEY[:80]!r} is no setting{meant(*near_keys(args.KEY)[:3])}",
        "flow config list shows every key",
    )


def _scope_of(args: argparse.Namespace) -> Scope | None:
    named = next((scope for scope in SCOPES if getattr(args, scope)), None)
    if args.here and named not in (None, "user"):
        raise usage_error("--here goes with --user", "flow config", key="--here")
    return "user" if args.here else named


def _get_setting(args: argparse.Namespace, out: Output) -> int:
    key, scope = _key_of(args), _scope_of(args)
    context = _ConfigContext(out.environ)
    if scope is None:
        loaded = context.settings()
        row = next(row for row in config_rows(loaded) if row.key == key.name)
        value, origin = plain(row.value), row.origin
        out.warn(loaded.warnings)
    else:
        file = settings_edit.settings_place(scope, context.home, context.top, here=args.here)
        value, origin = settings_edit.read_setting(file, key), file.shown
        if value is ABSENT:
            raise in_file(file.shown, key.name).not_found(
                "is not set in this file", f"flow config get {key.name} tells what is in force"
            )
    shown = value if isinstance(value, str) else json.dumps(value)
    out.result({"key": key.name, "value": value, "origin": origin}, [text.show(shown)])
    if not value and key.not_a_switch:
        out.say(f"flow: note: {key.name}: {key.not_a_switch}")
    return 0


def _set_setting(args: argparse.Namespace, out: Output) -> int:
    key, scope = _key_of(args), _scope_of(args) or "user"
    context = _ConfigContext(out.environ)
    if key.own_only and scope != "user":
        raise at_key(key.name).invalid(
            f"only your own file may set it: --{scope} would be ignored",
            f"flow config set {key.name} {_typed(args.VALUE[:80])} --user",
        )
    file = settings_edit.settings_place(scope, context.home, context.top, here=args.here)
    value = checked_value(key, value_from_text(key, args.VALUE), file.shown)
    return _write(out, context, file, key, value)


def _unset_setting(args: argparse.Namespace, out: Output) -> int:
    key, scope = _key_of(args), _scope_of(args) or "user"
    context = _ConfigContext(out.environ)
    file = settings_edit.settings_place(scope, context.home, context.top, here=args.here)
    return _write(out, context, file, key, ABSENT)


def _write(out: Output, context: _ConfigContext, file: SettingsPlace, key: Key, value: Any) -> int:
    _refuse_agent(out, context, file, key, value)
    before = settings_edit.write_setting(file, key, value, context.state_dir())
    try:
        loaded = context.settings()
        now = next(row for row in config_rows(loaded) if row.key == key.name)
    except InputError as error:  # another key or file is at fault, and this one is written
        out.warn([str(fault) for fault in error.faults])
        now = None
    document = {
        "key": key.name,
        "file": file.shown,
        "before": None if before is ABSENT else before,
        "value": None if value is ABSENT else value,
        "set": value is not ABSENT,
        **({"in_force": plain(now.value), "origin": now.origin} if now is not None else {}),
    }
    out.result(document, text.setting_written(document, was_set=before is not ABSENT))
    if value is not ABSENT and not value and key.not_a_switch:
        out.say(f"flow: note: {key.name}: {key.not_a_switch}")
    if before != value and key.rule == "pinned" and file.root == context.top:
        out.say("flow: note: goals that have begun go on with the value they began with")
    return 0


def _refuse_agent(
    out: Output, context: _ConfigContext, file: SettingsPlace, key: Key, value: Any
) -> None:
    """Raise :class:`PersonNeeded` if an agent's shell would loosen what is the user's word."""
    if file.root == context.top or not is_agent(current_speaker(out.environ)):
        return
    before, default = (
        next(row.value for row in config_rows(loaded) if row.key == key.name)
        for loaded in (context.settings(), merge_layers(()))
    )
    if not loosens(key, before, default if value is ABSENT else value):
        return
    typed = "unset" if value is ABSENT else "set"
    words = [typed, key.name] if value is ABSENT else [typed, key.name, _typed(value)]
    option = " --here" if file.here else ""
    raise PersonNeeded(
        f"{key.name} in your own settings is a person's word, and this is an agent's shell",
        code="agent_sets_own",
        key=key.name,
        remedy=f"a person, at a terminal: flow config {' '.join(words)} --user{option}",
    )


def _typed(value: Any) -> str:
    """``value`` as it is typed in a shell."""
    return shlex.quote(value if isinstance(value, str) else json.dumps(value))


COMMANDS = {
    "list": CommandSpec("every setting with its value", _list_arguments, _list_settings),
    "get": CommandSpec(
        "the value of one setting: in force, or in one file",
        _get_arguments,
        _get_setting,
        "exit status: 0 printed; 2 no such key, or the named file does not set it",
    ),
    "set": CommandSpec(
        "write one setting to a settings file (default: your own)",
        _set_arguments,
        _set_setting,
        "Everything else in the file stays as it is.",
    ),
    "unset": CommandSpec(
        "take one setting out of a settings file (default: your own)",
        _key_arguments,
        _unset_setting,
    ),
}
