"""Which shell texts and paths of an agent a person is asked about: a line for every rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flow.core.tool_calls.questions import QUESTIONS, question
from flow.core.tool_calls.rules import Act, acts_in_folder, acts_in_shell, acts_on_path

ASKED = {
    "flow goal confirm g --proposal abcdef12": "confirm",
    "flow goal confirm": "confirm",
    "bin/flow goal confirm g": "confirm",
    "/opt/flow/bin/flow goal approve g AC1 --by me --yes": "approve",
    "flow goal amend g --allow 'docs/**'": "amend",
    "flow goal rebase g": "rebase",
    "flow trust record g --yes": "trust",
    "flow trust revoke g": "trust",
    "flow trust sign g --key ssh:k": "trust",
    "flow goal clear g --yes": "clear",
    "flow goal activate g": "activate",
    "flow goal create g --outcome x": "create",
    "flow goal claim g": "claim",
    "flow goal forget g": "forget",
    "flow config set flow.goals.enabled false": "config",
    "flow config unset flow.goals.enabled --user": "config",
    "flow init": "init",
    "flow inbox --evaluate": "inbox",
    "flow inbox forget /x": "inbox",
    "flow gc --older-than 0 --yes": "yes",
    "flow evidence verify r1 --forget --yes": "yes",
    "flow doctor --fix": "fix",
    "flow goal evaluate g --trust-digest abc": "trust-digest",
    "flow goal evaluate g --trust-digest=abc": "trust-digest",
    "flow goal evaluate g --allowed-signers f": "trust-digest",
    "flow goal evaluate g --engine dask://h:1": "engine",
    "flow goal evaluate g --confirm": "confirm",
    "flow goal wait g --until 'flow goal clear g'": "clear",
    "flow goal wait g --until='sleep 9; flow goal clear g' --follow": "clear",
    "flow evidence export g --output ~/.claude/settings.flow.json": "settings",
    "flow report g --output=.claude/settings.json": "settings",
    "flow evidence export g --output .flow/goals/g.goal.yaml": "files",
    "bin/flow-goal-record.sh --update-lifecycle --goal-id g": "lifecycle",
    "bash bin/flow-record-verdict.sh --run-id r": "unclear",
    "bin/flow-g''oal-record.sh --goal-id g": "lifecycle",
    "bin/flow-g?al-record.sh --goal-id g": "unclear",
    "rm -r ~/.claude/flow-st?te": "unclear",
    "flow-record-verdict.sh --run-id r --verdict-file v": "verdict",
    "flow verdict record --run-id r": "verdict",
    "flow-goal-trust.sh record --goal-file f": "trust",
    # The same in other clothes.
    "cd x && flow goal clear g": "clear",
    "cd x\nflow goal clear g": "clear",
    "true; flow goal clear g & wait": "clear",
    "(flow goal clear g)": "clear",
    "if true; then flow goal clear g; fi": "clear",
    "X=1 flow goal clear g": "clear",
    "env X=1 flow goal clear g": "clear",
    "timeout 60 flow goal clear g": "clear",
    "nohup flow goal clear g > /tmp/log 2>&1": "clear",
    "python3 -m flow goal clear g": "clear",
    "uvx --from flow-goal flow goal clear g": "clear",
    "flow goal 'clear' g": "clear",
    '"flow" goal clear g': "clear",
    "fl''ow goal clear g": "clear",
    'f"l"ow goal clear g': "clear",
    "f\\low goal clear g": "clear",
    "flow goal status g; fl''ow goal clear g": "clear",
    "echo x > .fl''ow/goals/g.goal.yaml": "unclear",
    "flow goal evaluate g | tail -1; flow goal clear g": "clear",
    "flow goal status g || flow goal clear g": "clear",
    "echo $(flow goal clear g)": "clear",
    "echo `flow goal clear g`": "unclear",
    "echo \"it's\" `flow goal clear g` 'y'": "unclear",
    "cat <(flow goal clear g)": "clear",
    "fl\\\now goal clear g": "clear",
    "flow goal \\\n clear g": "clear",
    "flow trust record -- --help": "trust",
    # A "#" inside of a word begins no comment; in a comment or a here-document nothing is quoted.
    "X=a#b flow goal clear g": "clear",
    "X=a2>&1echo flow goal clear g": "unclear",
    "env X=a#b flow goal clear g": "clear",
    "flow goal evaluate g --run-id a#b --confirm": "confirm",
    "ls # it's\nflow goal clear g": "clear",
    "ls # a#b '\nflow goal clear g # it's": "clear",
    "echo \\# it's ' ; flow goal clear g; echo 'x'": "clear",
    "cat <<EOF\necho it's\nEOF\nflow goal clear g #'": "clear",
    "cat <<-\\EOF\n\techo it's\n\tEOF\nflow goal clear g #'": "clear",
    "cat <<A <<\"B\"\necho it's\nA\necho '\nB\nflow goal clear g #'": "clear",
    "cat <<EOF # it's\necho 'x\nEOF\nflow goal clear g #'": "clear",
    "cat <<EOF\n# $(flow goal clear g)\nEOF": "clear",
    "cat <<EOF\ncat 'x $(flow goal clear g)'\nEOF": "clear",
    # What is not plain.
    "bash -c 'flow goal confirm g'": "unclear",
    "eval flow goal confirm": "unclear",
    "F=flow; $F goal confirm g": "unclear",
    "F=xflow; ${F#x} goal confirm g": "unclear",
    "alias f=flow; f goal confirm g": "unclear",
    "xargs flow goal confirm": "unclear",
    "echo flow goal confirm | bash": "unclear",
    "echo flow goal confirm | tail -1 | sh": "unclear",
    "echo 'flow goal confirm' > x.sh": "unclear",
    "(echo flow goal confirm) | bash": "unclear",
    "{ echo flow goal confirm; } | bash": "unclear",
    "for x in 1; do echo flow goal confirm; done | sh": "unclear",
    "echo flow goal confirm | { bash; }": "unclear",
    "echo flow goal confirm |& (bash)": "unclear",
    "echo '* * * * * flow goal clear g' | crontab -": "unclear",
    "ls .flow/goals/* | while read f; do rm $f; done": "unclear",
    "python3 -mflow goal confirm g": "unclear",
    "python3 -Imflow init": "unclear",
    "python3 -c 'import flow.cli.main as m; m.main()'": "unclear",
    "python3 <<X\nfrom flow.cli import main\nX": "unclear",
    "python3 -c \"__import__('flow.cli.main')\"": "unclear",
    "python3 -c 'importlib.import_module(\"flow.cli\").main()'": "unclear",
    "python3 /opt/flow/__main__.py goal confirm g": "unclear",
    "python3 -m pytest 'x; flow goal confirm'": "unclear",
    "f$'l'ow goal confirm g": "unclear",
    "gh alias set x '!flow goal confirm'": "unclear",
    "printf 'flow goal confirm' | xargs -I{} sh -c {}": "unclear",
    "flow goal $VERB g": "unclear",
    "flow goal annihilate g": "unclear",
    "flow annihilate": "unclear",
    "cp bin/flow f": "unclear",
    "ln -s $(which flow) f": "unclear",
    "watch flow goal confirm": "unclear",
    "git -c alias.x='!flow goal confirm' x": "unclear",
    "git checkout .flow/goals/g.goal.yaml": "unclear",
    "rm -rf .flow": "unclear",
    "git -C .flow checkout x": "unclear",
    "git diff --output=.flow/goals/g.goal.yaml": "unclear",
    "git fetch --upload-pack='flow goal confirm' .": "unclear",
    "git grep -O'flow goal confirm' x": "unclear",
    "uniq x .flow/goals/g.goal.yaml": "unclear",
    "tree -ao .flow/goals/g.goal.yaml": "unclear",
    "rg --pre ./flow x": "unclear",
    "file -C -m .flow/x": "unclear",
    "find .flow -name x -delete": "unclear",
    "find . -name flow -exec {} goal confirm \\;": "unclear",
    "sed -n 'w .flow/x' y": "unclear",
    "sed -n 1p -i .flow/x": "unclear",
    "less '+!flow goal confirm' x": "unclear",
    "printf -v x flow; $x goal confirm": "unclear",
    "pytest --junitxml=.flow/goals/g.goal.yaml": "unclear",
    "pytest --basetemp .flow": "unclear",
    "cp settings.json .claude/": "unclear",
    "rm -r ~/.claude": "unclear",
    "rm .claude/*": "unclear",
    "echo x > .flow/goals/g.goal.yaml": "unclear",
    "sed -i s/a/b/ .flow/runs/r/proposal.json": "unclear",
    "sed -i s/ask/allow/ .claude/settings.json": "unclear",
    "pytest -q 'x; flow goal confirm'": "unclear",
    "flow goal confirm 'g": "unclear",
}

NOT_ASKED = [
    "test -d .flow && [ -d .flow ] && stat .flow && du .flow && file .flow/x",
    "diff .flow/x .flow/y; head .flow/x; tail .flow/x; wc .flow/x; less .flow/x; readlink .flow/x",
    "ls -la",
    "pytest -q && git commit -am 'x'",
    "npm test",
    "cat .github/workflows/ci.yml",
    "pip install tensorflow",
    "airflow tasks clear dag",
    "python src/flow.py",
    "cd src/flow/core && ls",
    "flow",
    "flow --version",
    "flow goal",
    "flow goal --help",
    "flow goal confirm --help",
    "flow goal status",
    "flow goal status --json | jq .goal_id",
    "flow goal list",
    "flow goal history g",
    "flow goal inspect g --json",
    "flow goal evaluate --no-input --json g",
    "flow goal evaluate g 2>&1 | tail -40",
    "flow goal evaluate g --json > /tmp/verdict.json",
    "if ! flow goal evaluate g; then echo no; fi",
    "timeout 600 flow goal evaluate g",
    "uv run flow goal evaluate g",
    "flow goal pause g --reason 'I cannot: the flow is wrong'",
    "flow goal wait g --until 'gh run watch'",
    "flow goal baseline g",
    "flow evidence list",
    "flow evidence show AC1",
    "flow evidence verify",
    "flow verdict show",
    "flow trust check",
    "flow trust list",
    "flow config list --show-origin",
    "flow schema goal",
    "flow doctor",
    "flow gc --dry-run",
    "flow journal record --issue 7 --type note",
    "bin/flow-active-goal.sh --id",
    "bin/flow-goal-trust.sh check",
    "bin/flow-goal-record.sh --help",
    "cat .flow/goals/g.goal.yaml | head -40",
    "grep -rn 'flow goal confirm' docs | wc -l",
    "cat .claude/settings.json",
    "git status && git add .flow .decisions && git commit -m 'Goal g'",
    "git commit -m 'Mend the control flow of x'",
    "git commit -m \"$(cat <<'EOF'\nMend the flow\n\nflow goal confirm is for people\nEOF\n)\"",
    "git checkout -b fix-flow-of-x",
    "git diff -- .flow",
    "cd /srv/me/flow && pytest -q",
    "pytest -q tests/flow",
    "ruff check flow && mypy flow",
    "which flow",
    "flow goal evaluate g |\n tail -5",
    "flow goal status |& tail",
    "(flow goal status g) | tail -1",
    "flow goal \\\n status g",
    "find . -not -path './.flow/*' -name '*.py' | wc -l",
    "sed -n '5,$p' .flow/goals/g.goal.yaml",
    "tree .flow -L 2 --noreport",
    "python -m pytest -q tests/flow -k flow",
    "python3 -m mlflow ui",
    "grep -rn 'import flow.cli' src",
    "node /srv/me/flow-app/x.js && rm flow-notes.txt",
    "pytest --ignore=.flow && ruff check --exclude .flow .",
    "git -C /srv/me/flow status",
    "gh pr create --title 'Mend the login flow'",
    "gh pr create --title x --body \"$(cat <<'EOF'\nMend the flow; it's\nEOF\n)\"",
    "mkdir -p .claude && ls .claude && git add .claude",
    "cp x.md .claude/commands/",
    "cat <<'EOF' > a.md\nit's fine\nEOF\nls .flow",
]


def test_what_a_person_is_asked_about() -> None:
    assert [
        text for text in ASKED if [act.kind for act in acts_in_shell(text)][:1] != [ASKED[text]]
    ] == []


@pytest.mark.parametrize(
    "program",
    (
        ". ash at bash batch bun busybox chroot crontab csh dash deno doas docker emacs eval "
        "expect fish gdb gmake kubectl ksh lua5.4 make mksh node nsenter nvim parallel perl php "
        "pkexec podman pwsh python3 read ruby runuser screen script sh source ssh su tclsh "
        "tcsh tmux unshare vim xargs zsh"
    ).split(),
)
def test_what_may_run_its_input_is_asked_about(program: str) -> None:
    acts = acts_in_shell(f"echo 'flow goal confirm g' | {program} x")
    assert [act.kind for act in acts] == ["unclear"]


def test_every_kind_has_its_question() -> None:
    asked = {act.kind for text in ASKED for act in acts_in_shell(text)} | {"files", "settings"}
    assert asked == {*QUESTIONS}


def test_what_nobody_is_asked_about() -> None:
    assert [text for text in NOT_ASKED if acts_in_shell(text) != ()] == []


@pytest.mark.parametrize("harmless", ["ls -la", "flow goal status", "git commit -m 'a flow'"])
@pytest.mark.parametrize("sign", [";", "&&", "||", "|", "\n", "&"])
def test_nothing_harmless_hides_it(harmless: str, sign: str) -> None:
    doors = [text for text in ASKED if "\n" not in text and "'g" not in text]
    assert len(doors) > 100
    assert [door for door in doors if not acts_in_shell(f"{harmless} {sign} {door}")] == []
    assert [door for door in doors if not acts_in_shell(f"{door} {sign} {harmless}")] == []


@given(st.text(alphabet="flow goalcnirm;|&$`'\"\\\n()<>{}-=x", max_size=60))
def test_any_text_has_an_answer(text: str) -> None:
    for act in acts_in_shell(text):
        assert act.kind in QUESTIONS


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/r/.flow/goals/g.goal.yaml", "files"),
        ("/r/.flow/x", "files"),
        ("/srv/u/.claude/flow-state/goal-trust.jsonl", "files"),
        ("/srv/u/flow-state/x", None),
        ("/r/.claude/settings.json", "settings"),
        ("/r/.claude/settings.flow.local.json", "settings"),
        ("/srv/u/.claude/settings.local.json", "settings"),
        ("/r/.Claude/Settings.json", "settings"),
        ("/r/.FLOW/x", "files"),
        ("/r/.claude/commands/x.md", None),
        ("/r/src/flow/x.py", None),
        ("/r/.flowers/x", None),
        ("/r/settings.json", None),
        ("settings.json", None),
    ],
)
def test_paths(path: str, kind: str | None) -> None:
    assert [act.kind for act in acts_on_path(path)] == ([kind] if kind else [])


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("echo x > goals/g.goal.yaml", True),
        ("rm -r runs", True),
        ("cat goals/g.goal.yaml; ls", False),
        ("flow goal status", False),
    ],
)
def test_in_a_folder_of_flows_own_only_reading_is_free(text: str, asked: bool) -> None:
    assert bool(acts_in_folder("/r/.flow", text)) is asked
    assert not acts_in_folder("/r/src", text)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("cd .flow/goals && sed -i s/a/b/ g.goal.yaml", ["files"]),
        ("cd .flow/goals; echo > g.goal.yaml", ["files"]),
        ("pushd .flow >/dev/null\nrm -r runs", ["files"]),
        ("cd src && cd ../.flow && touch x", ["files"]),
        ('cd "$(git rev-parse --show-toplevel)/.flow" && rm x', ["files"]),
        ("if cd -P -- './.flow'; then rm x; fi", ["files"]),
        ("(cd .flow; rm x)", ["files"]),
        ("(cd /tmp; ls); cd .flow; cd /tmp; cd -; rm x", ["files"]),
        ("cd .claude && rm settings.json", ["settings"]),
        ("cd ~/.claude; rm *.json", ["settings"]),
        ("cd .claude && touch commands/x.md", []),
        ("cd .flow/goals && cat g.goal.yaml | head; ls", []),
        ("cd .flow && flow goal status", []),
        ("cd .flow/.. && make", []),
        ("cd .flow; ls; cd ..; make", []),
        ("pushd .flow; ls; popd; make", []),
        ("(cd .flow && ls); make", []),
        ("cd; rm x", []),
        ("cd .flow; popd; rm x", ["files"]),
        ("X=1 time cd .flow; rm x", ["files"]),
        ("pushd /tmp; cd /r/.flow; popd +1; rm x", ["files"]),
        ("pushd .flow; pushd; make; pushd; rm x", ["files"]),
        ("pushd .flow; pushd; make", []),
        ("cd .flow; cd .. > goals/g", ["files"]),
        ("cdx .flow; rm x", []),
        ("cd .flow && find . -type f", []),
        ("cd .flow && find . -delete", ["files"]),
        ("cd .flow && tree -o x", ["files"]),
        ("cd .flow && git checkout x", ["files"]),
        ("cd /tmp # it's\ncd /r/.flow\nrm x", ["files"]),
    ],
)
def test_a_change_of_folder_counts_for_what_follows(text: str, kinds: list[str]) -> None:
    assert [act.kind for act in acts_in_folder("/r", text)] == kinds


@pytest.mark.parametrize(("text", "asked"), [("rm settings.json", True), ("rm x", False)])
def test_the_settings_in_the_folder_of_the_call(text: str, asked: bool) -> None:
    assert bool(acts_in_folder("/r/.claude", text)) is asked


def test_the_question_names_a_helper_as_it_was_called() -> None:
    text = question(acts_in_shell("bin/flow-goal-trust.sh record --goal-file f"))
    assert text.split("\n")[:2] == [
        QUESTIONS["trust"],
        "  flow-goal-trust.sh record --goal-file f",
    ]


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ("AC1 --note guarded", ["Prove"]),
        ("greet guards", ["Accept git's hooks"]),
        ("protected --note x", ["Accept the protected files"]),
        ("guards --note AC1", ["Accept git's hooks", "Prove"]),
    ],
)
def test_the_question_says_what_is_approved(words: str, asked: list[str]) -> None:
    lines = question(acts_in_shell(f"flow goal approve {words}")).split("\n")
    assert [line for line in asked if not lines.pop(0).startswith(line)] == []
    assert lines[0].startswith("  flow goal approve")


def test_the_question_names_each_kind_and_the_words() -> None:
    text = question(
        (Act("clear", ("goal", "clear", "g\x1b[2J")), Act("confirm", ("goal", "confirm")))
    )
    assert text.split("\n") == [
        QUESTIONS["confirm"],
        QUESTIONS["clear"],
        "  flow goal clear g\\x1b[2J",
        "  flow goal confirm",
        "",
        "This is an agent asking. Yes runs it as shown; no leaves everything as it is.",
    ]
