"""Which programs a command's warning calls missing."""

from __future__ import annotations

import subprocess

from flow.adapters.attribution.programs import missing


def test_no_word_of_the_shell_itself_is_called_missing() -> None:
    asked = subprocess.run(
        ["bash", "--norc", "-c", "compgen -b; compgen -k"],
        capture_output=True,
        text=True,
        check=True,
    )
    words = set(asked.stdout.split()) - {"]]", "}"}  # these begin no command
    assert {"coproc", "mapfile", "cd"} <= words
    assert [word for word in sorted(words) if missing([word], "/", "/nonexistent")] == []


def test_a_program_of_no_folder_of_the_path_is_missing() -> None:
    assert missing(["cd", "ls"], "/", "/nonexistent") == "ls"
    assert missing(["cd", "./ls"], "/", "/bin:/usr/bin") == "./ls"
