"""The judges' clients are started as for the adapters: their SDK is loaded once for all tests."""

from tests.adapters.judges.conftest import _warm, warm

__all__ = ["_warm", "warm"]
