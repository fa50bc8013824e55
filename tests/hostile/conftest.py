"""One scene for a whole module: building it takes a second, putting it back a millisecond."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.hostile.scene import Scene
from tests.support import GitRepo

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALL = {
    "deadline": None,  # CPU time is watched, not the clock
    "suppress_health_check": list(HealthCheck),
    "database": None,
}
LONG = 5000
settings.register_profile("hostile", max_examples=50, derandomize=True, **_ALL)
settings.register_profile("long", max_examples=LONG, derandomize=False, **_ALL)


def examples(factor: float = 1) -> settings:
    """The profile of ``--hypothesis-profile=long``, else the bounded one, times ``factor``."""
    long = settings.default.max_examples == LONG  # type: ignore[attr-defined]
    base = settings.get_profile("long" if long else "hostile")
    return settings(base, max_examples=max(int(base.max_examples * factor), 1))


@pytest.fixture(scope="module")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    parent = tmp_path_factory.mktemp("scene")
    (parent / "home").mkdir()
    (parent / "home/.gitconfig").write_text(
        "[user]\n\tname = T\n\temail = t@example.org\n[init]\n\tdefaultBranch = main\n"
        "\tdefaultObjectFormat = sha1\n\tdefaultRefFormat = files\n"
    )
    with pytest.MonkeyPatch.context() as patch:  # there may be no home but this
        patch.setenv("HOME", str(parent / "home"))
        return Scene(parent, GitRepo.init(parent / "repo"))


@pytest.fixture
def scene(_built: Scene) -> Iterator[Scene]:
    """The scene as it was built."""
    _built.restore()
    yield _built
    _built.restore()
