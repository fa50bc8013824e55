"""No file holds a secret that a command prints, at no time (SPEC 10, HAZARD E64)."""

from __future__ import annotations

import base64
import hashlib
import os
import random
import shlex
import stat
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from flow.adapters.fs.files import copy_new
from flow.adapters.process import output as output_module
from flow.adapters.process import tree as process_tree
from flow.adapters.process.output import END_KEPT, LOOK_BACK, OutputFile, StoredOutput, gap
from flow.adapters.process.redaction import redactor
from flow.adapters.verification.runner import CommandRunner
from flow.app.checks import Check, CheckEvents, CheckResult
from flow.core.secrets.redact import BLOCK, Redactor, placeholder
from flow.errors import ContractError
from tests.support import secret_samples as samples
from tests.support.patience import LONG

if TYPE_CHECKING:
    from collections.abc import Iterator

MAKE = samples.Maker(31)
SECRET = MAKE.of(samples.ALNUM, 24)
TOKENS = samples.tokens()
GITHUB = TOKENS["github-classic"][1]
WORK = ".flow/runs/r1/evidence"
KNOWN = placeholder("known_value").decode()
PYTHON = shlex.quote(sys.executable)

TRACES = [
    text[at : at + 10].encode() for text in (SECRET, GITHUB) for at in range(0, len(text) - 9, 4)
] + [base64.b64encode(SECRET.encode())[:20]]
"""Any part of a secret of which a whole one could not do without several."""


def python(code: str) -> str:
    return f"{PYTHON} -c {shlex.quote(code)}"


def open_files() -> Iterator[str]:
    """What every process below this one has open: also files that have no name any more."""
    for row in process_tree.descendants(os.getpid(), process_tree.table()):
        folder = f"/proc/{row.pid}/fd"
        with suppress(OSError):
            for name in os.listdir(folder):
                with suppress(OSError):
                    if stat.S_ISREG(os.stat(f"{folder}/{name}").st_mode):
                        yield f"{folder}/{name}"


def leaks(*folders: Path) -> list[str]:
    """Files, named or not, that hold a part of a secret."""
    paths = [*open_files()]
    for folder in folders:
        paths += [str(path) for path in folder.rglob("*") if path.is_file()]
    found = []
    for path in paths:
        with suppress(OSError):
            data = Path(path).read_bytes()
            found += [path] * any(trace in data for trace in TRACES)
    return found


class Scene:
    """A checkout whose commands find secrets in their environment."""

    def __init__(self, top: Path, temporary: Path) -> None:
        self.top, self.temporary = top, temporary
        for folder in (top, temporary):
            folder.mkdir()
        self.environ = {**os.environ, "TMPDIR": str(temporary), "DEPLOY_TOKEN": SECRET}
        self.looks = 0

    def run(self, command: str, limit: int = 1 << 20) -> tuple[CheckResult, bytes]:
        """Run one command; look for its secrets while it runs and waits for the file ``go``."""
        found: list[tuple[CheckResult, bytes]] = []

        def tick() -> None:
            self.look()
            if (self.top / "printed").exists():
                self.look()
                (self.top / "go").touch()

        def take(_: Check, result: CheckResult) -> None:
            self.look()
            assert result.output is not None
            found.append((result, Path(result.output.path).read_bytes()))

        runner = CommandRunner(
            str(self.top), WORK, environ=self.environ, output_limit=limit, tick_seconds=0.02
        )
        check = Check("AC1", command, "", LONG)
        runner([check], jobs=1, events=CheckEvents(lambda _: None, take, tick))
        return found[0]

    def look(self) -> None:
        assert leaks(self.top, self.temporary) == []
        self.looks += 1


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "top", tmp_path / "temporary")


WAIT = "touch printed; while [ ! -e go ]; do sleep 0.01; done"


def test_a_command_that_prints_its_environment(scene: Scene) -> None:
    result, output = scene.run("echo begin; printenv DEPLOY_TOKEN; echo end")
    assert output.decode() == f"begin\n{KNOWN}\nend\n"
    assert result.redacted == (("known_value", 1),)
    assert result.output is not None
    assert result.output.sha256 == hashlib.sha256(output).hexdigest()
    assert result.output.size == len(output)
    assert result.output_bytes == len(f"begin\n{SECRET}\nend\n")
    assert result.truncated_bytes == 0


@pytest.mark.parametrize("limit", [1 << 20, 40_000])
def test_no_file_holds_it_while_the_command_runs(scene: Scene, limit: int) -> None:
    """Enough is printed for the masker to let go of, in the head as in the ring."""
    lines = f"for i in $(seq 400); do echo $DEPLOY_TOKEN line $i {'.' * 200}; done"
    result, output = scene.run(f"{lines}; {WAIT}; {lines}; echo $DEPLOY_TOKEN", limit)
    assert scene.looks >= 3
    assert result.redacted == (("known_value", 801),)
    assert (result.truncated_bytes > 0) is (limit == 40_000)
    assert output.endswith(f"{KNOWN}\n".encode())
    printed = 2 * sum(len(f"{SECRET} line {i} {'.' * 200}\n") for i in range(1, 401))
    assert result.output_bytes == printed + len(SECRET) + 1
    if result.truncated_bytes:
        line = gap(result.truncated_bytes)
        assert line in output
        assert len(output) == limit + len(line)


@pytest.mark.parametrize("kind", ["plain", "base64", "hex", "shape"])
def test_byte_for_byte(scene: Scene, kind: str) -> None:
    """However it reaches the pipe."""
    text = {
        "plain": SECRET,
        "base64": "$(printf %s $DEPLOY_TOKEN | base64)",
        "hex": "$(printf %s $DEPLOY_TOKEN | od -An -tx1 | tr -d ' \\n')",
        "shape": GITHUB,
    }[kind]
    if kind in ("plain", "shape"):
        code = (
            f"import os, sys, time\nfor c in {text!r}: os.write(1, c.encode()); time.sleep(0.001)\n"
        )
        command = python(code)
    else:
        command = f"echo {text}"
    result, output = scene.run(f"{command}; {WAIT}")
    expected = "github" if kind == "shape" else "known_value"
    assert result.redacted == ((expected, 1),)
    assert placeholder(expected) in output


def test_where_head_and_tail_meet_a_secret(scene: Scene) -> None:
    """The border between both, wherever it cuts the mark."""
    for before in range(980, 1001, 4):
        code = f"import os; print('x' * {before} + os.environ['DEPLOY_TOKEN'] + 'y' * 3000)"
        result, output = scene.run(python(code), limit=2000)
        assert result.redacted == (("known_value", 1),)
        assert b"x" * before in output
        for name in ("go", "printed"):
            (scene.top / name).unlink(missing_ok=True)


def test_a_key_that_is_longer_than_all_that_is_kept(scene: Scene) -> None:
    begin, end = (f"-----{word} RSA PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
    code = (
        f"import base64, random\nprint('before')\nprint({begin!r})\n"
        "print(base64.encodebytes(random.Random(1).randbytes(300000)).decode(), end='')\n"
        f"print({end!r})\nprint('after')"
    )
    (scene.top / "key.py").write_text(code)
    result, output = scene.run(f"{PYTHON} key.py", limit=2000)
    assert output == b"before\n" + placeholder("private_key") + b"\nafter\n"
    assert result.redacted == (("private_key", 1),)
    assert result.truncated_bytes == 0
    assert result.output_bytes > 300_000


class Stored(NamedTuple):
    """An output that was stored, and what its redactors were given."""

    head: bytes
    tail: bytes
    stored: StoredOutput
    searched: int


PIPE = 1 << 16


def store(top: Path, data: bytes, limit: int) -> Stored:
    """Hand ``data`` to an output of at most ``limit`` bytes, as a supervisor does."""
    made: list[Redactor] = []

    def make() -> Redactor:
        made.append(redactor({"DEPLOY_TOKEN": SECRET}))
        return made[-1]

    output = OutputFile(str(top), "out", limit, make)
    for at in range(0, len(data), PIPE):
        output.write(data[at : at + PIPE])
    stored = output.finish()
    output.close()
    kept = (top / "out").read_bytes()
    for path in top.iterdir():
        path.unlink()
    assert (stored.printed, stored.size) == (len(data), len(kept))
    assert stored.sha256 == hashlib.sha256(kept).hexdigest()
    head, _, tail = kept.partition(gap(stored.left_out))
    return Stored(head, tail, stored, sum(each.bytes_fed for each in made))


@cache
def numbered(count: int) -> bytes:
    return b"".join(b"line %09d\n" % number for number in range(count))


LIMIT = 80_000
TAIL = LIMIT // 2
WAITING = LOOK_BACK + max(TAIL, END_KEPT)


@pytest.mark.parametrize("more", [-1, 0, 1, 70_000, 3_000_000])
def test_what_is_left_out_is_not_searched(tmp_path: Path, more: int) -> None:
    """One byte less, as much, and more than what waits in memory once the head is full."""
    data = numbered(400_000)[: PIPE + WAITING + more]
    head, tail, stored, searched = store(tmp_path, data, LIMIT)
    assert (head, tail) == (data[:TAIL], data[-TAIL:])
    assert stored.left_out == len(data) - LIMIT
    assert searched == min(len(data), PIPE + WAITING)


@pytest.mark.slow
@pytest.mark.parametrize("at", range(-40, 41, 8))
@pytest.mark.parametrize("before_end", [TAIL, END_KEPT, WAITING])
def test_a_secret_where_what_is_kept_begins(tmp_path: Path, before_end: int, at: int) -> None:
    """Also where the search for it begins: no part of it is stored."""
    end = numbered(100_000)[: before_end + at]
    data = numbered(120_000) + f"{SECRET}-{GITHUB}\n".encode() * 3 + end
    head, tail, stored, _ = store(tmp_path, data, LIMIT)
    assert not any(trace in head + tail for trace in TRACES)
    assert head == data[:TAIL]
    assert tail.endswith(end[-TAIL + 200 :])
    assert len(tail) == TAIL
    assert stored.left_out > len(data) - LIMIT - 200


@pytest.mark.parametrize("before", [0, 100_000])
def test_a_secret_that_fills_the_end(tmp_path: Path, before: int) -> None:
    """Then less than a tail is left, and nothing from before it takes that place."""
    begin, end = (f"-----{word} RSA PRIVATE" + " KEY-----\n" for word in ("BEGIN", "END"))
    body = base64.encodebytes(random.Random(3).randbytes(800_000))
    key = begin.encode() + body + end.encode()
    data = numbered(200_000) + key + numbered(before)[:1000]
    head, tail, stored, _ = store(tmp_path, data, LIMIT)
    assert head == data[:TAIL]
    assert tail == b"\n" + numbered(before)[:1000]
    assert dict(stored.redacted) == {"private_key": 1}
    assert stored.left_out > 0


def test_a_longer_tail_than_may_wait_is_searched_as_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_module, "_IN_MEMORY", TAIL - 1)
    data = numbered(200_000)
    head, tail, stored, searched = store(tmp_path, data, LIMIT)
    assert (head, tail) == (data[:TAIL], data[-TAIL:])
    assert searched == len(data) == stored.left_out + LIMIT


def test_more_kinds_than_one_report_has_room_for(scene: Scene) -> None:
    (scene.top / "all.txt").write_text("\n----\n".join(text for _, text in TOKENS.values()))
    scene.look = lambda: None  # type: ignore[method-assign]  # the file itself has them
    result, output = scene.run("cat all.txt")
    kinds = {kind for kind, _ in TOKENS.values()}
    assert {kind for kind, _ in result.redacted} == kinds
    assert sum(number for _, number in result.redacted) == len(TOKENS)
    assert not any(text.encode() in output for _, text in TOKENS.values())


def test_what_bash_says_of_a_malformed_command_is_masked(scene: Scene) -> None:
    result, output = scene.run(f"(true) {SECRET}")
    assert result.result == "could not run"
    assert SECRET not in result.reason
    assert KNOWN in result.reason
    assert KNOWN.encode() in output
    assert dict(result.redacted)["known_value"] >= 1


def test_ordinary_output_is_kept_byte_for_byte(scene: Scene) -> None:
    text = "\n".join(samples.ORDINARY.values())
    (scene.top / "text").write_text(text)
    result, output = scene.run("cat text")
    assert output.decode() == text
    assert result.redacted == ()


def test_no_output_needs_no_redactor(tmp_path: Path) -> None:
    def refuse() -> Redactor:
        raise AssertionError("nothing is there to mask")

    made = OutputFile(str(tmp_path), "out", 100, refuse)
    assert made.finish()._replace(sha256="") == ("", 0, 0, 0, {}, False)


def test_a_copy_is_masked_on_its_way(tmp_path: Path) -> None:
    secret, size = TOKENS["pem-rsa"][1], 3 * BLOCK
    (tmp_path / "source").write_text("x" * size + "\n" + secret + "\n" + GITHUB + "\ny")
    masking = redactor({"PATH": "/bin"})
    digest, stored = copy_new(str(tmp_path), "copy", str(tmp_path / "source"), through=masking)
    data = (tmp_path / "copy").read_bytes()
    assert (
        data[size:] == b"\n" + placeholder("private_key") + b"\n" + placeholder("github") + b"\ny"
    )
    assert (digest, stored) == (hashlib.sha256(data).hexdigest(), len(data))
    assert masking.bytes_fed == (tmp_path / "source").stat().st_size


def test_the_limit_of_a_copy_is_that_of_its_source(tmp_path: Path) -> None:
    (tmp_path / "source").write_text(TOKENS["pem-rsa"][1])
    with pytest.raises(ContractError):
        copy_new(str(tmp_path), "copy", str(tmp_path / "source"), limit=500, through=redactor({}))
    assert not (tmp_path / "copy").exists()


def test_patterns_are_not_loaded_by_who_starts_a_command(tmp_path: Path) -> None:
    """They belong to the process that looks after the command, once it prints something."""
    code = (
        "import os, sys\nfrom flow.adapters.verification.runner import CommandRunner\n"
        "from flow.app.checks import Check, CheckEvents\n"
        "CommandRunner(sys.argv[1], 'work', environ=os.environ)(\n"
        "    [Check('AC1', 'echo one', '', 120.0)], jobs=1,\n"
        "    events=CheckEvents(lambda c: None, lambda c, r: print(r.outcome)))\n"
        "print([name for name in sys.modules if name.startswith('flow.core.secret')])\n"
    )
    from tests.support import ROOT, run

    done = run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT)
    assert done.stdout == "passed\n[]\n", done


def test_the_temporary_folder_is_looked_into(tmp_path: Path) -> None:
    """The search itself: it finds what is there, also without a name."""
    (tmp_path / "a").write_text(f"x{SECRET}x")
    assert leaks(tmp_path) == [str(tmp_path / "a")]
    (tmp_path / "a").unlink()
    with tempfile.TemporaryFile(dir=tmp_path) as file:
        file.write(SECRET.encode())
        file.flush()
        child = os.posix_spawn(
            "/bin/sleep",
            ["sleep", "60"],
            {},
            file_actions=[(os.POSIX_SPAWN_DUP2, file.fileno(), 9)],
        )
        try:
            assert len(leaks()) == 1
        finally:
            os.kill(child, 9)
            os.waitpid(child, 0)
