"""Commands offered by the files of a project."""

from __future__ import annotations

import pytest

from flow.core.drafting.offers import offers

NPM = '{"scripts": {"test": "vitest", "lint": "eslint .", "typecheck": "tsc"}}'
EMPTY_NPM = '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'

CASES = {
    "pytest configured": (
        {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-ra'\n"},
        ["pytest -q"],
    ),
    "tools required": (
        {
            "pyproject.toml": "[project]\ndependencies = ['mypyc-like']\n"
            "[project.optional-dependencies]\ntest = ['pytest>=8', 'ruff', 'pytest-cov']\n"
            "[dependency-groups]\ntypes = ['mypy ; python_version > \"3\"']\n"
        },
        ["pytest -q", "mypy .", "ruff check ."],
    ),
    "a plugin is not the tool": (
        {"pyproject.toml": "[project]\ndependencies = ['pytest-cov', 'ruff-lsp']\n"},
        [],
    ),
    "npm": ({"package.json": NPM}, ["npm test", "npm run lint", "npm run typecheck"]),
    "pnpm": (
        {"package.json": NPM, "pnpm-lock.yaml": ""},
        ["pnpm test", "pnpm run lint", "pnpm run typecheck"],
    ),
    "yarn": (
        {"package.json": NPM, "yarn.lock": ""},
        ["yarn test", "yarn run lint", "yarn run typecheck"],
    ),
    "bun": (
        {"package.json": NPM, "bun.lock": ""},
        ["bun run test", "bun run lint", "bun run typecheck"],
    ),
    "npm init's own script tests nothing": ({"package.json": EMPTY_NPM}, []),
    "cargo": (
        {"Cargo.toml": "[package]\n"},
        ["cargo test", "cargo clippy -- -D warnings"],
    ),
    "go": ({"go.mod": "module x\n"}, ["go test ./...", "go vet ./..."]),
    "make": (
        {"Makefile": "CHECK := x\ntest: build\n\tpytest\nlint:\n\truff\n.PHONY: test\n"},
        ["make test", "make lint"],
    ),
    "a variable is no target": ({"Makefile": "test := 1\ncheck ::= 2\n"}, []),
    "broken files": ({"pyproject.toml": "[", "package.json": "{", "Makefile": "\0"}, []),
    "files of another shape": (
        {"pyproject.toml": "tool = 1\nproject = 2\n", "package.json": "[]"},
        [],
    ),
    "requirements of another shape": (
        {
            "pyproject.toml": "[project]\ndependencies = 5\n[project.optional-dependencies]\n"
            "test = true\n[dependency-groups]\ndev = 'x'\ntypes = ['mypy']\n"
        },
        ["mypy ."],
    ),
    "scripts of another shape": ({"package.json": '{"scripts": {"test": ["x"], "lint": ""}}'}, []),
    "hostile files": (
        {
            "pyproject.toml": "x = " + "[" * 5000,
            "package.json": "[" * 100_000,
            "Makefile": "test" * 100_000 + "\n" + "\t" * 100_000,
        },
        [],
    ),
    "a script that says a command in its name": (
        {"package.json": '{"scripts": {"test; rm -rf x": "y", "lint": "rm -rf x"}}'},
        ["npm run lint"],
    ),
    "nothing": ({}, []),
}


@pytest.mark.parametrize(("files", "commands"), CASES.values(), ids=CASES)
def test_each_kind_of_project_offers_its_own_commands(
    files: dict[str, str], commands: list[str]
) -> None:
    assert [offer.command for offer in offers(files)] == commands


def test_an_offer_names_what_it_shows_and_where_it_was_read() -> None:
    (offer,) = offers({"pyproject.toml": "[tool.mypy]\nfiles = ['src']\n"})

    assert offer == ("The types hold", "mypy", "pyproject.toml")
