"""Any byte of any file of a run flipped, cut, moved or restored from an older copy is named."""

from __future__ import annotations

import os
import random
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pytest

from flow.adapters.chain import check as chain_check
from flow.adapters.chain import witnesses
from flow.adapters.ledger import evidence_store
from flow.core import layout
from flow.wiring.context import Context
from tests.support import GitRepo, ledger_scene, scene
from tests.support.effort import sizes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

THEIRS = """\
apiVersion: flow.synapti.ai/v1
kind: FlowEvidence
metadata:
  {id: theirs-1, goal: greet, run_id: RUN, activity_id: v, created_at: "2026-03-01T10:15:00Z"}
evidence: {type: command_result, command: make, exit_code: 0, proves: [AC1], limitations: [once]}
"""


class Run(NamedTuple):
    """A run as it was left, and as it was earlier."""

    repo: GitRepo
    folder: Path
    files: Mapping[str, bytes]
    earlier: tuple[Mapping[str, bytes], ...]
    environ: Mapping[str, str]

    def findings(self) -> list[str]:
        found = Context(str(self.repo.path), self.environ).verification.verify(
            self.folder.name, None
        )
        (row,) = found["runs"]
        assert found["broken"] == bool(row["findings"])
        return [f"{each['kind']}: {each['file']}: {each['message']}" for each in row["findings"]]

    def checking(self) -> Callable[[], list[str]]:
        """What :meth:`findings` says, with what lies outside the run read once."""
        top, run_id = str(self.repo.path), self.folder.name
        context = Context(top, self.environ)
        folders = [context.settings.settings.journal_dir, layout.JOURNAL_DIR]
        heads = list(witnesses.heads_in_working_tree(top, folders).runs[run_id])
        kept = context.heads.read(run_id)
        assert kept is not None

        def found() -> list[str]:
            row = chain_check.check(top, run_id, kept, heads, frozenset())
            return [f"{each.kind}: {each.file}: {each.message}" for each in row.findings]

        return found

    def put(self, name: str, data: bytes | None) -> None:
        path = self.folder / name
        if data is None:
            path.unlink()
            return
        file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:  # emptied first, it would be on the disk before the next, some thousand times
            os.pwrite(file, data, 0)
            os.ftruncate(file, len(data))
        finally:
            os.close(file)

    def names(
        self, name: str, data: bytes | None, look: Callable[[], list[str]] | None = None
    ) -> bool:
        """Whether the file is named once it holds something else; it is put back."""
        self.put(name, data)
        found = (look or self.findings)()
        assert look is None or data or found == self.findings()
        self.put(name, self.files[name])
        return any(f"/{name}: " in each for each in found)


@contextmanager
def unseen() -> Iterator[None]:
    """Coverage looks away: it would see the same lines some thousand times."""
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(trace)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """One of everything: two commands, a stop, a file of somebody else's, an approval."""
    folder = tmp_path_factory.mktemp("small")
    home = folder / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\nname = A Tester\nemail = tester@example.org\n[init]\ndefaultBranch = main\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("FLOW_STATE_DIR", str(home / "state"))
        repo = scene.start(GitRepo.init(folder / "repo"))
        scene.create(repo, "greet", "--fuzzy", scene.FUZZY)
        run = scene.run_dir(repo)
        earlier = [tree(run)]
        scene.meet(repo)
        assert scene.step(repo, "goal", "evaluate", "greet").status == 4
        earlier.append(tree(run))
        theirs = repo.write("theirs.yaml", THEIRS.replace("RUN", run.name))
        words = ("--run-id", run.name, "--evidence-file", theirs, "--raw-output", theirs)
        assert scene.step(repo, "evidence", "record", *words).status == 0
        os.unlink(theirs)
        approve = ("--by", "A Tester", "--note", "read it", "--yes")
        assert scene.step(repo, "goal", "approve", "greet", "AC2", *approve).status == 0
        assert scene.step(repo, "goal", "evaluate", "greet").status == 0
        earlier.append(tree(run))
        stop = f'{{"session_id":"s","cwd":"{repo.path}","hook_event_name":"Stop"}}'
        assert scene.step(repo, "hook", "stop", input=stop).status == 0
        made = Run(repo, run, tree(run), tuple(earlier), dict(os.environ))
        assert made.findings() == []
        yield made


WANTED = {"ledger.jsonl", "events.jsonl", "baseline.json", "proposal.json", "last-verdict.json",
          "loop.json", "evidence/theirs-1.txt", "evidence/theirs-1.evidence.yaml"}  # fmt: skip


def test_the_run_has_one_of_everything(small: Run) -> None:
    assert set(small.files) >= WANTED


def places(count: int, start: int) -> list[int]:
    """Of so many, all; in the short form the first and last ones, and some between."""
    step, border = sizes(short=(32, 6), long=(1, 0))
    return [
        at
        for at in range(count)
        if at % step == start % step or at < border or at >= count - border
    ]


@pytest.mark.slow
def test_every_byte_flipped_is_named(small: Run) -> None:
    chance = random.Random(7)
    missed = []
    look = small.checking()
    with unseen():
        for start, (name, data) in enumerate(small.files.items()):
            for at in places(len(data), start):
                changed = bytearray(data)
                changed[at] ^= chance.randrange(1, 256)
                if not small.names(name, bytes(changed), look):
                    missed.append((name, at))
    assert not missed


@pytest.mark.slow
def test_every_length_is_named(small: Run) -> None:
    look = small.checking()
    with unseen():
        missed = [
            (name, length)
            for start, (name, data) in enumerate(small.files.items())
            for length in places(len(data), start)
            if not small.names(name, data[:length], look)
        ]
    assert not missed


def test_every_file_missing_is_named(small: Run) -> None:
    assert [name for name in small.files if not small.names(name, None)] == []


def test_every_file_with_more_is_named(small: Run) -> None:
    for more in (b"x", b"\n", b"x\n", b"{}\n"):
        for name, data in small.files.items():
            assert small.names(name, data + more), (name, more)


def test_every_pair_swapped_is_named(small: Run) -> None:
    names = list(small.files)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            if small.files[one] == small.files[other]:
                continue
            small.put(one, small.files[other])
            small.put(other, small.files[one])
            found = "\n".join(small.findings())
            small.put(one, small.files[one])
            small.put(other, small.files[other])
            assert f"/{one}: " in found, (one, other)
            assert f"/{other}: " in found, (one, other)


def test_every_file_moved_is_named(small: Run) -> None:
    for name in small.files:
        target = small.folder / f"{name}.moved"
        (small.folder / name).rename(target)
        found = "\n".join(small.findings())
        target.rename(small.folder / name)
        assert f"/{name}: " in found
        assert f"/{name}.moved: " in found


def test_every_older_copy_is_named(small: Run) -> None:
    tried = 0
    for earlier in small.earlier:
        for name, data in earlier.items():
            if data != small.files.get(name):
                if name in small.files:
                    assert small.names(name, data), name
                tried += 1
    assert tried > 5


def test_a_whole_older_run_is_named(small: Run) -> None:
    for earlier in small.earlier:
        shutil.rmtree(small.folder)
        for files_of, expected in ((earlier, True), (small.files, False)):
            for name, data in files_of.items():
                (small.folder / name).parent.mkdir(parents=True, exist_ok=True)
                small.put(name, data)
            assert bool(small.findings()) == expected
            assert not expected or "events.jsonl: was cut" in "\n".join(small.findings())


def test_every_pair_of_lines_swapped_is_named(small: Run) -> None:
    for name in ("ledger.jsonl", "events.jsonl"):
        lines = small.files[name].splitlines(keepends=True)
        for i in range(len(lines)):
            assert small.names(name, b"".join(lines[:i] + lines[i + 1 :])), (name, i)
            assert small.names(name, b"".join([*lines[: i + 1], *lines[i:]])), (name, i)
            for j in range(i + 1, len(lines)):
                swapped = [*lines]
                swapped[i], swapped[j] = lines[j], lines[i]
                assert small.names(name, b"".join(swapped)), (name, i, j)


def test_a_sidecar_and_its_output_deleted_together_are_a_gap(small: Run) -> None:
    for name in ("evidence/theirs-1.txt", "evidence/theirs-1.evidence.yaml"):
        small.put(name, None)
    found = small.findings()
    for name in ("evidence/theirs-1.txt", "evidence/theirs-1.evidence.yaml"):
        small.put(name, small.files[name])
    assert [each.split(": ")[0] for each in found] == ["missing", "missing"]
    assert "entry 2" in found[0]


def test_what_came_later_is_covered_as_well(repo: GitRepo, tmp_path: Path) -> None:
    """Runs on the base, imported reports, amendments: each file sampled, missing, and as it was."""
    scene.create(scene.start(repo))
    folder = scene.run_dir(repo)
    earlier = [tree(folder)]
    scene.meet(repo)
    repo.commit("work")
    report, amended = tmp_path / "report.xml", tmp_path / "amended.yaml"
    report.write_text('<testsuite tests="1"><testcase name="a"/></testsuite>')
    amended.write_text(scene.goal_file(repo).replace("says please", "says please, once"))
    assert amended.read_text() != scene.goal_file(repo)
    take = ("evidence", "import", "--goal", "greet", "--commit", "HEAD", str(report))
    for words in (
        ("goal", "baseline", "greet"),
        take,
        ("goal", "evaluate", "greet"),
        ("goal", "amend", "greet", "--file", str(amended), "--yes"),
        ("goal", "evaluate", "greet"),
    ):
        assert scene.flow(repo, *words).status == 0, words
        earlier.append(tree(folder))
    made = Run(repo, folder, tree(folder), tuple(earlier), dict(os.environ))
    assert made.findings() == []
    kinds = {name.partition("/")[2].split("-")[0] for name in made.files}
    assert kinds >= {"evidence", "import"}
    assert any("-base." in name for name in made.files)
    look, chance = made.checking(), random.Random(3)
    for name, data in made.files.items():
        assert made.names(name, data + b"x", look), name
        for at in {0, len(data) - 1, *chance.sample(range(len(data)), 4)} if data else ():
            changed = bytearray(data)
            changed[at] ^= chance.randrange(1, 256)
            assert made.names(name, bytes(changed), look), (name, at)
        assert not data or made.names(name, data[:-1], look), name
        assert made.names(name, None), name
        for older in made.earlier:
            if older.get(name, data) != data:
                assert made.names(name, older[name], look), name


def test_a_large_run_sampled(tmp_path: Path, home: Path) -> None:
    """500 sidecars, in short 150: any of some changes, wherever it is, is named alone."""
    count, tries = sizes(short=(150, 25), long=(500, 100))
    root = str(GitRepo.init(tmp_path / "repo").path)
    ledger_scene.start(root)
    context = Context(root)
    for number in range(count):
        raw = ledger_scene.raw(root, f"output {number}\n".encode())
        document = ledger_scene.document(f"evidence-{number}")
        evidence_store.record(context.run_record, document, raw, suffix=False, now=ledger_scene.NOW)
    context.run_record.commit(ledger_scene.RUN)

    def findings() -> list[str]:
        (row,) = context.verification.verify(ledger_scene.RUN, None)["runs"]
        return [str(each["file"]) for each in row["findings"]]

    assert findings() == []
    folder = tmp_path / "repo" / ".flow/runs" / ledger_scene.RUN
    files = tree(folder)
    chance = random.Random(20261121)
    for _ in range(tries):
        name = chance.choice(list(files))
        changed = bytearray(files[name])
        changed[chance.randrange(len(changed))] ^= chance.randrange(1, 256)
        (folder / name).write_bytes(bytes(changed))
        found = findings()
        (folder / name).write_bytes(files[name])
        assert any(each.endswith(f"/{name}") for each in found), name
        assert len(found) <= 4, "one byte, and everything is wrong"
