"""Helpers that the tests share: repositories, and Flow started as a user starts it."""

from __future__ import annotations

from tests.support.gitrepo import GitRepo
from tests.support.here import run_flow, run_helper
from tests.support.start import ROOT, Ran, run, start_flow, start_helper

__all__ = ["ROOT", "GitRepo", "Ran", "run", "run_flow", "run_helper", "start_flow", "start_helper"]
