"""The random search: a state machine whose runs are an honest agent's, with some mischief.

Which kinds is drawn once for a run, so that most runs still can end as achieved; how many did is
counted, since a search that never gets there proves nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.faults.undeserved.play import Play, Undeserved
from tests.faults.undeserved.world import GREP, JOURNAL, MAKE, SCRIPT, SCRIPTS, SHIMMED, TESTS

if TYPE_CHECKING:
    from tests.faults.undeserved.play import Step
    from tests.faults.undeserved.world import Yard

SOURCES = ("src/app.py", "src/lib/util.py", "src/new.py", "src/lib/a/b.py", "src/notes.txt")
ELSEWHERE = ("docs/guide.md", "docs/local.md", "README.md", "new.txt", "Makefile", "src /x.py")
GUARDED = ("secrets/key.txt", "secrets/new.txt", "tests/test_app.py", "tests/new.py")
STEERING = (
    *("conftest.py", "tests/conftest.py", "sitecustomize.py", "tool.pth", "tox.ini", "setup.cfg"),
    *(".gitignore", ".gitattributes", ".claude/settings.flow.json", ".flow/rubrics/own.yaml"),
)
POSING = (JOURNAL, ".decisions/issue-9.md", ".decisions/session-2026-01-01.md")
POSING += (JOURNAL, ".specs/reports/x-2026-01-01.1.md", ".flow/scores/x-20260101-000000.json")
IGNORED = ("x.log", "build/out", "src/x.log", ".venv/bin/check")
PLACES = (SOURCES, ELSEWHERE, GUARDED, STEERING, POSING, IGNORED)
MAPPED = ("docs/guide.md", "src/app.py", "tests/test_app.py", "secrets/key.txt")
TEXTS = ("changed\n", "state = 'good'\n", "# all pass\n")
CASES = ("pass", "fail", "skip", "xfail", "needs good src/app.py")

place, text = st.one_of(*map(st.sampled_from, PLACES)), st.sampled_from(TEXTS)
means = st.sampled_from(sorted(SCRIPTS))
CALLS: tuple[tuple[str, ...], ...] = (
    ("add", "--all"),
    ("config", "core.fileMode", "false"),
    ("config", "core.trustctime", "false"),
    ("config", "core.hooksPath", "docs"),
    ("config", "core.worktree", "../files"),
    ("config", "core.excludesFile", "docs/guide.md"),
    ("config", "status.showUntrackedFiles", "no"),
    ("config", "filter.x.clean", "true"),
    ("tag", "main"),
    ("tag", "-f", "main", "HEAD~1"),
    ("branch", "-f", "main", "HEAD"),
    ("switch", "-q", "-c", "other"),
    ("switch", "-q", "work"),
    ("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/work"),
    ("update-ref", "refs/remotes/origin/main", "HEAD"),
    ("worktree", "add", "-q", "-f", "../beside"),
    ("worktree", "add", "-q", "-f", "src/beside"),
    ("commit", "-q", "--no-verify", "--allow-empty", "-m", "more"),
    ("reset", "-q", "--soft", "HEAD~1"),
)


def _given(**strategies: Any) -> Any:
    return st.fixed_dictionaries(strategies)


MISCHIEF: dict[str, Any] = {
    "edit": _given(path=place, text=text),
    "delete": _given(path=place),
    "rename": _given(path=place, to=place),
    "link": _given(path=place, to=st.sampled_from(("../docs/guide.md", "guide.md", "/dev/null"))),
    "chmod": _given(path=place),
    "map": _given(path=st.sampled_from(MAPPED)),
    "write_map": _given(path=st.sampled_from(MAPPED)),
    "same_stamp": _given(path=place),
    "script": _given(
        means=means,
        spill=st.sampled_from(("", *STEERING, *GUARDED, ".coverage", "coverage.xml", "docs/x.py")),
        guard=st.sampled_from(("", "", "pre-commit")),
    ),
    "shim": _given(honest=st.booleans()),
    "tests": _given(kinds=st.lists(st.sampled_from(CASES), max_size=3)),
    "git": _given(argv=st.sampled_from(CALLS)),
    "hide": _given(path=place, flag=st.sampled_from(("--assume-unchanged", "--skip-worktree"))),
    "replace": _given(),
    "guard": _given(
        name=st.sampled_from(
            ("hooks/pre-push", "info/exclude", "info/attributes", "info/sparse-checkout")
        ),
        text=st.sampled_from(("docs/\nnew.txt\n", "* -text\n")),
    ),
    "settings": _given(
        goals=st.sampled_from(
            (
                {},
                {"outputLimitBytes": 1},
                {"enabled": False},
                {"stopHookEnforcement": "off"},
                {"denied_paths": []},
                {"denied_paths": ["docs/**"]},
                {"commandTimeoutSeconds": 60},
            )
        )
    ),
    "goal_file": _given(
        change=st.sampled_from(
            ("delete", "garbage", "weaken", "widen", "achieved", "cancelled", "draft", "branch")
        )
    ),
    "claim": _given(session=st.sampled_from(("s1", "s2", "nobody"))),
    "second": _given(agent=st.booleans()),
    "record": _given(status=st.sampled_from(("achieved", "active", "blocked"))),
    "verdict": _given(),
    "trust_digest": _given(agent=st.booleans()),
    "revoke": _given(),
    "amend": st.sampled_from(
        (
            {"old": GREP, "new": "test -e README.md"},
            {"old": "- src/**", "new": "- docs/**"},
            {"old": "It holds (1)", "new": "It holds less"},
        )
    ),
    "kill": _given(after=st.floats(0.0, 0.12), confirm=st.booleans()),
}
"""Act to what it is given. Each of them may be done in a run whose kinds of mischief it is of."""
THEMES: dict[str, tuple[str, ...]] = {
    "none": (),
    "files": ("edit", "delete", "rename", "link", "chmod", "write_map", "same_stamp"),
    "stamps": ("map", "write_map", "write_map", "same_stamp"),
    "git": ("git", "git", "edit", "hide", "replace", "guard", "write_map"),
    "proofs": ("script", "script", "amend", "shim", "tests", "settings", "edit"),
    "steering": ("settings", "settings", "edit", "script", "tests", "chmod"),
    "contract": ("goal_file", "trust_digest", "record", "verdict", "revoke", "amend"),
    "hook": ("goal_file", "claim", "second", "settings", "git", "tests"),
    "crashes": ("kill", "kill", "edit", "script", "guard"),
    "all": tuple(MISCHIEF),
}
"""What is tried together in one run."""
REFERENCES = (
    ("tag", "main"),
    ("branch", "-f", "main", "HEAD"),
    ("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/work"),
    ("update-ref", "refs/remotes/origin/main", "HEAD"),
)
BEFORE = st.one_of(
    st.tuples(st.just("commit"), _given(path=place)),
    st.tuples(st.just("git"), _given(argv=st.sampled_from(REFERENCES))),
    st.tuples(st.just("edit"), MISCHIEF["edit"]),
)
"""What may have been done before the goal begins."""

SETTINGS = _given(
    commands=st.sampled_from(
        (
            [GREP],
            [TESTS],
            [SCRIPT],
            [GREP, TESTS],
            [SHIMMED],
            [MAKE, GREP],
            [SCRIPT, TESTS],
            [f"{TESTS}; rc=$?; [ $rc -le 1 ]", GREP],
        )
    ),
    allowed=st.sampled_from(
        (["src/**"], ["src/**"], [], [], ["src/**/"], ["src/*"], ["src/**", "tests/**"], ["src/"])
    ),
    denied=st.sampled_from(([], [], ["secrets/**"], ["secrets/** "], ["docs/ "], ["guide.md"])),
    protected=st.sampled_from(([], [], ["tests/**"])),
    base=st.sampled_from((None, None, "main")),
    mode=st.sampled_from(("warn", "block", "evaluator-loop", "off")),
    local_denied=st.sampled_from(([], [], ["secrets/**"])),
)


class Search(RuleBasedStateMachine):
    """One run: a goal is begun, worked on, evaluated, confirmed, and interfered with."""

    yard: ClassVar[Yard]
    runs: ClassVar[int] = 0
    proposed: ClassVar[int] = 0
    confirmed: ClassVar[int] = 0
    only: ClassVar[str] = ""
    """The theme of all runs; empty: any."""
    last: ClassVar[list[Step]] = []
    """The acts of the newest run."""

    def __init__(self) -> None:
        super().__init__()
        self.play = Play(self.yard.new())
        self.kinds: tuple[str, ...] = ()
        Search.runs += 1
        Search.last = self.play.steps

    @initialize(
        theme=st.sampled_from(sorted(THEMES)),
        before=st.lists(BEFORE, max_size=3),
        setting=SETTINGS,
    )
    def begin(self, theme: str, before: list[Any], setting: dict[str, Any]) -> None:
        """A person begins a goal; with mischief in the run, something was done before."""
        theme = Search.only or theme
        self.kinds = THEMES[theme]
        for act, given in before if theme in ("git", "all") else ():
            self.play.do(act, **given)
        self.play.do("create", **setting)

    @rule()
    def work(self) -> None:
        """What the goal asks for."""
        self.play.do("edit", path="src/app.py", text="state = 'good'\n")

    @rule()
    def evaluate(self) -> None:
        """Twice as likely as one act of mischief."""
        self.play.do("evaluate")

    @rule(session=st.sampled_from(("s1", "s1", "s2")), prompt=st.sampled_from(("p1", "p1", "p2")))
    def stop(self, session: str, prompt: str) -> None:
        """The agent stops."""
        self.play.do("stop", session=session, prompt=prompt)

    @precondition(lambda self: self.play.proposals)
    @rule(index=st.sampled_from((-1, -1, 0)))
    def confirm(self, index: int) -> None:
        """A person says yes."""
        self.play.do("confirm", index=index)

    @precondition(lambda self: self.kinds)
    @rule(data=st.data())
    def mischief(self, data: Any) -> None:
        """One act of the kinds of this run."""
        act = data.draw(st.sampled_from(self.kinds))
        self.play.do(act, **data.draw(MISCHIEF[act]))

    @precondition(lambda self: self.kinds)
    @rule()
    def put_back(self) -> None:
        """All files but the work are as they were."""
        self.play.do("put_back")

    def teardown(self) -> None:
        """Count what this run came to."""
        Search.proposed += self.play.proposed > 0
        Search.confirmed += self.play.confirmed > 0


def limits(examples: int, **more: Any) -> settings:
    """How both random searches run: so many runs, nothing kept, nothing shrunk."""
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        **more,
    )


def search(yard: Yard, *, examples: int, number: int, steps: int = 12) -> Undeserved | None:
    """Look for an undeserved answer in so many runs; the first one found."""
    Search.yard = yard
    machine = seed(number)(type("Seeded", (Search,), {}))
    chosen = limits(examples, stateful_step_count=steps)
    try:
        run_state_machine_as_test(machine, settings=chosen)  # type: ignore[no-untyped-call]
    except Undeserved as problem:
        return problem
    return None
