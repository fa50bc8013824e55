"""The pages in the real browser: readable in light and dark, no wider than a phone, inert."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from flow.render.page.goal import goal_page
from flow.render.page.index import index_page
from tests.render.page import browser
from tests.render.page.scenes import report
from tests.render.page.test_index import rows
from tests.render.page.test_judged_pages import judged_pages

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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "criteria", "turns"), [(1280, 10, 12), (400, 6, 20)])
def test_it_can_be_read(tmp_path: Path, dark: bool, width: int, criteria: int, turns: int) -> None:
    given = report(criteria, turns, "Dates are read strictly")
    seen = browser.look(goal_page(given), tmp_path, width=width, dark=dark, filters=[*FILTERS])
    assert seen["width"] == width
    assert (seen["over"], seen["overOpen"]) == (0, 0)
    assert seen["faint"] == []
    assert (seen["unnamed"], seen["small"], seen["scripts"]) == (0, 0, 0)
    assert [count > 0 for count in seen["shown"]] == [*FILTERS.values()]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_over_all_goals_can_be_read_and_filtered(
    tmp_path: Path, dark: bool, width: int
) -> None:
    text = index_page(rows("plain"), "0.1.0")
    filters = [("r-1", ".row.of-r-1"), ("r-1", ".row:not(.of-r-1)"), ("all", ".row")]
    seen = browser.look(text, tmp_path, width=width, dark=dark, filters=filters)
    assert (seen["over"], seen["faint"], seen["unnamed"]) == (0, [], 0)
    assert seen["shown"] == [1, 0, 6]
    long = browser.look(index_page(rows("x" * 300), "0.1.0"), tmp_path, width=width, dark=dark)
    assert long["over"] == 0


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("text", ["Dates are read strictly", "a/very/long/" * 30])
def test_the_pages_of_judges_can_be_read(tmp_path: Path, dark: bool, width: int, text: str) -> None:
    for page in judged_pages(text):
        seen = browser.look(page, tmp_path, width=width, dark=dark)
        assert (seen["over"], seen["overOpen"], seen["faint"]) == (0, 0, [])
        assert (seen["unnamed"], seen["scripts"]) == (0, 0)


@pytest.mark.parametrize(("criteria", "turns"), [(1, 0), (1, 200), (100, 1)])
def test_no_size_of_record_is_wider_than_a_phone(tmp_path: Path, criteria: int, turns: int) -> None:
    given = report(criteria, turns, "a/very/long/" * 30)
    seen = browser.look(goal_page(given), tmp_path, width=400, dark=False)
    assert (seen["over"], seen["overOpen"]) == (0, 0)


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
