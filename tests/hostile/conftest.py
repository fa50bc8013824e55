"""One scene for a whole module: building it takes a second, putting it back a millisecond."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hostile.scene import Scene
from tests.support import GitRepo

if TYPE_CHECKING:
    from collections.abc import Iterator


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
