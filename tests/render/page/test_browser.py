"""The pages in the real browser: readable in light and dark, no wider than a phone, inert."""

from __future__ import annotations

from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from flow.render.page.goal import goal_page
from flow.render.page.index import index_page
from tests.render.page import browser
from tests.render.page.scenes import report
from tests.render.page.test_index import rows
from tests.render.page.test_judged_pages import judged_pages

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.slow, pytest.mark.needs_tool("chromium")]
FILTERS = {
    ("tl-turns", ".ev.ve"): True,
    ("tl-turns", ".ev:not(.ve)"): False,
    ("tl-people", ".ev.pe"): True,
    ("tl-people", ".ev:not(.pe)"): False,
    ("tl-agents", ".ev:not(.ag)"): False,
    ("tl-contract", ".ev:not(.co)"): False,
    ("only-open", ".res tr[id]:not(.fine)"): True,
    ("only-open", ".res .fine"): False,
    ("only-all", ".res tr"): False,
    ("tl-all", ".ev:not(.ve)"): True,
}
"""A filter's link and what it shows, or does not."""


LONG = "a/very/long/" * 30
READ = [(1280, 10, 12), (400, 6, 20)]
"""Width, criteria, turns."""
SIZES = [(1, 0), (1, 200), (100, 1)]
WIDTHS = [1280, 400]
LIGHTS = [(1280, False), (400, False), (1280, True)]
lights = pytest.mark.parametrize(("width", "dark"), LIGHTS, ids=["light", "narrow", "dark"])
TEXTS = ["Dates are read strictly", LONG]
GOALS_LINKS = (("r-1", ".row.of-r-1"), ("r-1", ".row:not(.of-r-1)"), ("all", ".row"))
Seen = list[dict[str, Any]]


def looks(dark: bool) -> dict[tuple[object, ...], list[browser.Look]]:
    """What each test looks at, by what it asks for; in the dark only colours differ."""
    made: dict[tuple[object, ...], list[browser.Look]] = {}
    for width, criteria, turns in READ[:1] if dark else READ:
        page = goal_page(report(criteria, turns, TEXTS[0]))
        made["goal", width] = [browser.Look(page, width, [*FILTERS])]
    for width in WIDTHS[:1] if dark else WIDTHS:
        plain, long = (index_page(rows(text), "0.1.0") for text in ("plain", "x" * 300))
        made["index", width] = [browser.Look(plain, width, GOALS_LINKS), browser.Look(long, width)]
        for text in TEXTS:
            made["judges", width, text] = [browser.Look(p, width) for p in judged_pages(text)]
    for criteria, turns in () if dark else SIZES:
        page = goal_page(report(criteria, turns, LONG))
        made["size", criteria, turns] = [browser.Look(page, 400)]
    return made


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Seen]:
    """What the browser shows, in light or dark: all of it is looked at in one start."""

    @cache
    def all_seen(dark: bool) -> dict[tuple[object, ...], Seen]:
        asked = looks(dark)
        given = [look for each in asked.values() for look in each]
        found = iter(browser.look_at(given, tmp_path_factory.mktemp("pages"), dark=dark))
        return {key: [next(found) for _ in each] for key, each in asked.items()}

    return lambda *key, dark=False: all_seen(dark)[key]


@lights
def test_it_can_be_read(seen: Callable[..., Seen], dark: bool, width: int) -> None:
    (page,) = seen("goal", width, dark=dark)
    assert page["width"] == width
    assert (page["over"], page["overOpen"]) == (0, 0)
    assert page["faint"] == []
    assert (page["unnamed"], page["small"], page["scripts"]) == (0, 0, 0)
    assert [count > 0 for count in page["shown"]] == [*FILTERS.values()]


@lights
def test_the_page_over_all_goals_can_be_read_and_filtered(
    seen: Callable[..., Seen], dark: bool, width: int
) -> None:
    page, long = seen("index", width, dark=dark)
    assert page["width"] == long["width"] == width
    assert (page["over"], page["faint"], page["unnamed"]) == (0, [], 0)
    assert page["shown"] == [1, 0, 6]
    assert long["over"] == 0


@lights
@pytest.mark.parametrize("text", TEXTS)
def test_the_pages_of_judges_can_be_read(
    seen: Callable[..., Seen], dark: bool, width: int, text: str
) -> None:
    pages = seen("judges", width, text, dark=dark)
    assert len(pages) > 1
    for page in pages:
        assert page["width"] == width
        assert (page["over"], page["overOpen"], page["faint"]) == (0, 0, [])
        assert (page["unnamed"], page["scripts"]) == (0, 0)


@pytest.mark.parametrize(("criteria", "turns"), SIZES)
def test_no_size_of_record_is_wider_than_a_phone(
    seen: Callable[..., Seen], criteria: int, turns: int
) -> None:
    (page,) = seen("size", criteria, turns)
    assert (page["width"], page["over"], page["overOpen"]) == (400, 0, 0)


def test_its_policy_lets_nothing_run_and_nothing_be_fetched(tmp_path: Path) -> None:
    """What a hole in the escaping would let in: the browser itself refuses it."""
    asked: list[str] = []
    evil = (
        '<script>document.title="ran"</script><img src="/img.png"><p style="color:red">x</p>'
        '<link rel="stylesheet" href="/a.css"><iframe src="/frame"></iframe>'
        "<svg onload=\"document.title='ran'\"></svg>"
    )
    text = goal_page(report(2, 2)).replace("</main>", f"{evil}</main>")

    class Serve(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200 if self.path == "/page" else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            if self.path == "/page":
                self.wfile.write(text.encode())

        def log_message(self, *_words: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Serve)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        dom = browser.dump(f"http://127.0.0.1:{server.server_port}/page", tmp_path)
    finally:
        server.shutdown()
        server.server_close()
    assert "<title>strict-dates: not achieved</title>" in dom
    assert set(asked) <= {"/page", "/favicon.ico"}
