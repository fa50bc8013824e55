"""Elements: what is text stays text, and nothing can run or fetch."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from flow.render.page.html import Markup, anchor, block, join, tag
from tests.support import ROOT

EVIL = '<script>alert("1")</script>&\x1b[31m\u202e'
SHOWN = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;"


def test_a_text_is_escaped_wherever_it_stands() -> None:
    for made in (
        tag("p", EVIL),
        tag("p", [EVIL]),
        tag("p", title=EVIL),
        join(EVIL),
        block([EVIL]),
        tag("p", tag("b", EVIL)),
    ):
        assert SHOWN in made.text
        assert "\x1b" not in made.text
        assert "\u202e" not in made.text
        assert "<script" not in made.text


def test_none_false_and_empty_are_left_out() -> None:
    assert tag("p", None, False, "", join(), class_=None, hidden=False).text == "<p></p>"
    assert tag("td", 1204, colspan=0).text == '<td colspan="0">1,204</td>'
    assert tag("details", open=True).text == "<details open></details>"


@pytest.mark.parametrize("name", ["script", "iframe", "img", "style", "form", "link", "x y"])
def test_an_element_that_could_run_or_fetch_is_none(name: str) -> None:
    with pytest.raises(ValueError, match="no element"):
        tag(name)


@pytest.mark.parametrize("name", ["onclick", "style", "src", "srcset", "action", 'x"y', "onload"])
def test_nor_is_such_an_attribute(name: str) -> None:
    with pytest.raises(ValueError, match="no attribute"):
        tag("p", **{name: "x"})


@pytest.mark.parametrize(
    "target", ["https://x.example", "//x", "javascript:x", "data:x", "../x.html", "a/b.html", "x"]
)
def test_a_link_leads_to_this_page_or_one_beside_it(target: str) -> None:
    with pytest.raises(ValueError, match="leads away"):
        tag("a", "x", href=target)
    assert 'href="strict-dates.html#files"' in tag("a", "x", href="strict-dates.html#files").text


def test_a_place_has_a_plain_name() -> None:
    assert anchor("c", "AC1", 12) == "c-ac1-12"
    assert re.fullmatch(r"[a-z0-9-]+", anchor("c", EVIL, ""))


def test_only_one_module_makes_markup() -> None:
    own = Path(ROOT, "flow/render/page/html.py")
    for path in Path(ROOT, "flow").rglob("*.py"):
        if path != own:
            assert not re.search(r"\bMarkup\(", path.read_text("utf-8")), path
    assert Markup("x")
    assert not Markup("")
