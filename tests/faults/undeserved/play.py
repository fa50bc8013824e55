"""What goes through Flow's doors, and what is looked at after each.

Every act is logged as its name and arguments, so that a sequence can be played again.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from tests.faults.undeserved.acts import Acts
from tests.faults.undeserved.facts import missing
from tests.faults.undeserved.looks import Tree, contract_of, status_of
from tests.faults.undeserved.oracle import REVOKED, Oracle
from tests.faults.undeserved.watch import Listener
from tests.faults.undeserved.world import GOAL, STAMPED, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.faults.undeserved.world import World, Yard


class Undeserved(AssertionError):
    """Flow said "achieved", or nothing, where the oracle says otherwise."""


class Step(NamedTuple):
    """One act and its arguments."""

    act: str
    given: dict[str, Any]


def fresh(yard: Yard, steps: Sequence[Step]) -> Play:
    """A play in a new world, whose files are old where the steps need that; nothing is done yet."""
    aged = any(step.act in ("map", "write_map", "same_stamp") for step in steps)
    return Play(yard.new(STAMPED if aged else 0))


class Play(Acts):
    """One world, its oracle, and the acts so far."""

    def __init__(self, world: World) -> None:
        super().__init__(world, Oracle(world))
        self.listener = Listener(world, self.oracle)
        self.steps: list[Step] = []
        self.proposals: list[tuple[str, str, Tree]] = []
        """Each proposal's goal and id, and the files it was made on."""
        self.confirmed = self.proposed = 0
        self._by_hand = False

    def do(self, act: str, **given: Any) -> None:
        """Do one act, and look at what came of it."""
        self.steps.append(Step(act, given))
        journals = self.oracle.journals()
        getattr(self, f"act_{act}")(**given)
        if f"act_{act}" in vars(Play):
            self.oracle.flow_wrote(journals)
        self._by_hand |= act == "goal_file"
        for goal in self.oracle.begun.keys() - self.oracle.closed:
            if not self._by_hand and status_of(self.world, goal) == "achieved":
                self.fail(f"{goal} is achieved, and no person said so")

    def fail(self, text: str) -> None:
        """Tell what Flow did wrong, and after which acts."""
        lines = "".join(f"  {json.dumps(step)}\n" for step in self.steps)
        raise Undeserved(f"{text}\n{lines}")

    # --- a person ---

    def act_create(self, goal: str = GOAL, **given: Any) -> None:
        """A person begins a goal; the settings of the checkout are there already."""
        setting = Setting(**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})
        if goal == GOAL:
            self.world.user_settings(stopHookEnforcement=setting.mode)
            self.listener.mode = setting.mode
        if setting.local_denied:
            self.act_settings({"denied_paths": list(setting.local_denied)})
        contract = setting.contract(goal, issue=7 if goal == GOAL else 8)
        file = self.world.hand(f"{goal}.yaml", yaml.safe_dump(contract, sort_keys=False))
        done = self.world.run("flow", "goal", "create", "--file", file, agent=False)
        if done.status == 0:
            self.oracle.begin(goal, setting.local_denied)
        elif done.status not in (2, 5):  # refused, or git cannot answer
            raise AssertionError(f"the goal could not be made: {done}")

    def act_confirm(self, index: int = -1) -> None:
        """A person confirms a proposal, the newest or an older one."""
        if not self.proposals:
            return
        goal, proposal, files = self.proposals[index % len(self.proposals)]
        against = self.oracle.against(goal, self._denied_now())
        if self.oracle.subject() != files:
            against.append("the files are not those of the proposal")
        done = self.world.run("flow", "goal", "confirm", goal, "--proposal", proposal, agent=False)
        if done.status == 0:
            self.confirmed += 1
            self.oracle.closed.add(goal)
            if against:
                self.fail(f"confirmed, though {'; '.join(against)}")

    def act_amend(self, old: str, new: str, agent: bool = False) -> None:
        """A person changes the contract on the record, or an agent says that one agreed."""
        text = self.oracle.text(f".flow/goals/{GOAL}.goal.yaml")
        begun = self.oracle.begun.get(GOAL)
        if begun is None or contract_of(self.world, GOAL) != begun.contract or old not in text:
            return
        file = self.world.hand("amended.yaml", text.replace(old, new))
        words = ("goal", "amend", GOAL, "--file", file, "--by", "A Tester", "--yes")
        if self.world.run("flow", *words, agent=agent).status == 0:
            self.oracle.amend(GOAL, old, new)

    def act_revoke(self) -> None:
        """A person takes back the trust in the goal."""
        if self.world.run("flow", "trust", "revoke", GOAL, agent=False).status == 0:
            self.oracle.trusted.discard(GOAL)

    # --- an agent's questions ---

    def act_evaluate(
        self, goal: str = GOAL, words: tuple[str, ...] = (), agent: bool = True
    ) -> None:
        """An agent, or a person, asks for an evaluation."""
        before = self.oracle.working_tree()
        done = self.world.run("flow", "goal", "evaluate", goal, "--json", *words, agent=agent)
        self._left_behind(before)
        if done.status == 70 or "internal error" in done.stderr:
            self.fail(f"an internal error: {done.stderr}")
        try:
            self._judge(goal, done.json, asked=True)
        except ValueError:
            return

    def act_trust_digest(self, agent: bool = True) -> None:
        """Name the contract as it is now, as a pipeline does: a wrong one is told the right."""
        told = self.world.run("flow", "goal", "evaluate", GOAL, "--trust-digest", "0", agent=False)
        found = re.search(r"has the contract ([0-9a-f]{64})", told.stderr)
        if found is not None:
            self.act_evaluate(words=("--trust-digest", found[1]), agent=agent)

    def act_stop(self, session: str = "s1", prompt: str = "p1") -> None:
        """The agent stops."""
        before = self.oracle.working_tree()
        continued = self.listener.continued(session)
        answer = self.world.stop(session, prompt, continued=continued)
        self._left_behind(before)
        wrong = self.listener.judge(answer, session, self._denied_now())
        if wrong:
            self.fail(wrong)
        for goal in self.oracle.begun:
            if goal in str(answer) and "is proved" in str(answer):
                self._judge(goal, self._last_verdict(goal), asked=False)

    def _last_verdict(self, goal: str) -> Any:
        try:
            return json.loads(self.oracle.text(f".flow/runs/r-{goal}/last-verdict.json"))
        except ValueError:
            return {}

    def _judge(self, goal: str, verdict: Any, *, asked: bool) -> None:
        """``asked``: it is what a person is shown before they confirm."""
        proposal = verdict.get("proposed_transition") or {}
        if proposal.get("to") != "achieved":  # what a named contract comes to is not proposed
            return
        self.proposed += 1
        against = self.oracle.against(goal, self._denied_now())
        if verdict.get("do") == "ask_trust":  # it was only named: trusted before it is confirmed
            against = [why for why in against if why != REVOKED]
        if against:
            self.fail(f"achieved, though {'; '.join(against)}")
        if proposal:
            untold = missing(proposal.get("confirm"), self.oracle, goal)
            if asked and untold:
                self.fail(f"the question does not tell {'; '.join(untold)}")
            self.proposals.append((goal, proposal["proposal_id"], self.oracle.subject()))

    def _left_behind(self, before: Tree) -> None:
        """What appeared while Flow ran was made by its commands; journals by Flow."""
        now = self.oracle.working_tree()
        self.oracle.flow_wrote(before)
        self.oracle.made |= {path: entry for path, entry in now.items() if path not in before}

    def _denied_now(self) -> tuple[str, ...]:
        try:
            document = json.loads(self.oracle.local_settings())
            return tuple(document["flow"]["goals"].get("denied_paths", ()))
        except (ValueError, KeyError, TypeError):
            return ()

    # --- Flow's own files and doors ---

    def act_claim(self, session: str, goal: str = GOAL) -> None:
        """Say that another session works on a goal."""
        if self.world.run("flow", "goal", "claim", goal, "--session", session).status == 0:
            self.listener.owner[goal] = session
            self.listener.handed_over.add(goal)

    def act_second(self, goal: str = "easy", agent: bool = True) -> None:
        """An agent, or a person, begins a second goal, which nothing can fail."""
        contract = Setting(commands=("test -e README.md",)).contract(goal, issue=8)
        file = self.world.hand(f"{goal}.yaml", yaml.safe_dump(contract, sort_keys=False))
        if self.world.run("flow", "goal", "create", "--file", file, agent=agent).status == 0:
            self.oracle.begin(goal, ())

    def act_record(self, status: str = "achieved") -> None:
        """Write a status through the helper, as a caller does that has asked a person."""
        file = self.world.hand("lifecycle.yaml", f"status: {status}\n")
        words = ("--goal-id", GOAL, "--lifecycle-file", file, "--merge")
        against = self.oracle.against(GOAL, self._denied_now())
        done = self.world.run("flow-goal-record", "--update-lifecycle", *words)
        if done.status == 0 and status == "achieved":
            self.oracle.closed.add(GOAL)
            if against:
                self.fail(f"recorded as achieved, though {'; '.join(against)}")

    def act_verdict(self) -> None:
        """Hand in a verdict of one's own."""
        said = {
            "verdict": "achieved",
            "confidence": 1.0,
            "delta": "made_progress",
            "reason": "done",
        }
        file = self.world.hand("verdict.json", json.dumps(said))
        self.world.run("flow-record-verdict", "--run-id", f"r-{GOAL}", "--verdict-file", file)

    def act_kill(self, after: float, confirm: bool = False) -> None:
        """Kill Flow while it evaluates, or while a person confirms."""
        if confirm and self.proposals:
            goal, proposal, _ = self.proposals[-1]
            against = self.oracle.against(goal, self._denied_now())
            words = ("goal", "confirm", goal, "--proposal", proposal)
            self.world.run("flow", *words, agent=False, kill_after=after)
            self.world.run("flow", "goal", "pause", goal, "--reason", "after a crash")
            if status_of(self.world, goal) == "achieved":
                self.oracle.closed.add(goal)
                if against:
                    self.fail(f"confirmed in a crash, though {'; '.join(against)}")
            return
        before = self.oracle.working_tree()
        self.world.run("flow", "goal", "evaluate", GOAL, kill_after=after)
        self._left_behind(before)
