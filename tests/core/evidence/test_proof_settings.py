"""Which files the settings of a runner name."""

from __future__ import annotations

import time

import pytest

from flow.core.evidence.proof_settings import named_in_settings
from tests.support.pace import exceeds


@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        ("tox.ini", "commands = bash scripts/c.sh {posargs}\n", "scripts/c.sh"),
        ("justfile", "test:\n  @./scripts/c.sh --all\n", "scripts/c.sh"),
        ("noxfile.py", "session.run('bash', 'scripts/c.sh')\n", "scripts/c.sh"),
        ("web/jest.config.js", "setupFiles: ['<rootDir>/test/setup.js'],\n", "web/test/setup.js"),
        ("web/jest.config.js", "preset: '../common/preset.js'\n", "common/preset.js"),
        ("package.json", '{"jest": {"setupFilesAfterEnv": ["./tools/a.js"]}}', "tools/a.js"),
        ("vite.config.ts", "test: { globalSetup: './tools/a.ts' }", "tools/a.ts"),
        ("eslint.config.mjs", 'import rules from "./rules/own.mjs";', "rules/own.mjs"),
        ("tsconfig.json", '{"extends": "./config/base.json"}', "config/base.json"),
        ("pkg/ruff.toml", "extend = '../config/ruff.toml'\n", "config/ruff.toml"),
        ("mypy.ini", "[mypy]\nplugins = tools/plugin.py\n", "tools/plugin.py"),
        ("Cargo.toml", '[[test]]\nname = "it"\npath = "it/main.rs"\n', "it/main.rs"),
        ("pyproject.toml", "addopts = '-q -p tools.plug'\n", "tools/plug.py"),
        ("pytest.ini", "addopts = -pplug\n", "plug.py"),
        ("pytest.ini", "addopts = @args.txt -q\n", "args.txt"),
        ("web/setup.cfg", "[tool:pytest]\naddopts = -q @../ci/args.txt\n", "ci/args.txt"),
        ("pyproject.toml", "addopts = ['@ci/args.txt']\n", "ci/args.txt"),
        ("tox.ini", "commands = python runtests.py {posargs}\n", "runtests.py"),
        ("justfile", "test:\n  @python3 check.py\n", "check.py"),
        ("noxfile.py", "session.run('python', 'x-check.py')\n", "x-check.py"),
        ("Makefile", "-include build/rules other\ntest:\n\tpytest\n", "build/rules"),
        ("ci/all.mk", "include rules\n", "ci/rules"),
        (
            "compose.yaml",
            "    build: {context: .}\n    dockerfile: a/x.Dockerfile\n",
            "a/x.Dockerfile",
        ),
        ("docker-compose.ci.yml", '    command: ["bash", "ci/run.sh"]\n', "ci/run.sh"),
        ("Dockerfile", 'FROM x\nCMD ["./run-tests"]\n', "run-tests"),
        ("manage.py", "setdefault('DJANGO_SETTINGS_MODULE', 'site.settings')", "site/settings.py"),
        ("pytest.ini", "DJANGO_SETTINGS_MODULE = site.test\n", "site/test.py"),
        ("conftest.py", "pytest_plugins = [\n    'tools.plug',\n]\n", "tools/plug.py"),
        ("tests/conftest.py", "pytest_plugins: str = 'plug'\n", "src/plug/__init__.py"),
        ("tests/conftest.py", "pytest_plugins = ('plug',)\n", "tests/plug.py"),
    ],
)
def test_a_file_that_settings_name(path: str, text: str, named: str) -> None:
    assert named in set(named_in_settings(path, {path: text}.get))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"main": "./src/a.js", "exports": {"require": "./src/a.js"}}'),
        ("pyproject.toml", 'version_file = "src/a.py"\n'),
        ("vite.config.ts", "build: { rollupOptions: { input: './src/a.ts' } }"),
        ("jest.config.js", "collectCoverageFrom: ['src/**/*.js', '!src/a.js'],"),
        ("tsconfig.json", '{"files": ["./src/a.ts"]}'),
        ("README.md", "run scripts/c.sh"),
        ("pyproject.toml", "dependencies = ['a.py @ git+https://x']\nemail = 'b@a.py'\n"),
        ("tox.ini", "python_files = *_a.py a.pyc\n"),
        ("jest.config.js", "modulePathIgnorePatterns: ['a.js'],"),
        ("Makefile", "SOURCES = src/a.c a.c\n"),
        ("compose.yaml", "    image: a.example/x\n    volumes: [./src/a.py:/a.py]\n"),
        ("Dockerfile", "FROM x\nCOPY src/a.py /a.py\n"),
        ("tox.ini", "commands = ../c.sh /.git/config ./.flow/runs/x.sh https://a.example/*/x"),
    ],
)
def test_what_is_the_work_or_lies_elsewhere_is_not_named(path: str, text: str) -> None:
    named = set(named_in_settings(path, {path: text}.get))
    assert not {name for name in named if "a." in name.rpartition("/")[2] or "/c." in name}
    assert not any(name.startswith((".", "/")) for name in named)


def test_only_settings_are_read() -> None:
    def read(path: str) -> str:
        raise AssertionError(path)

    assert list(named_in_settings("src/app.py", read)) == []


def test_no_settings_are_slow_to_read() -> None:
    began = time.process_time()
    assert list(named_in_settings("tox.ini", lambda _: "./" * 8000)) == []
    assert not exceeds(time.process_time() - began, 0.5)
