"""A page in the real browser: what a script beside it finds out, as JSON.

The page stands in a frame of the wanted width, as it is, its own policy included; only the page
around it has a script, which looks at it and writes down what it sees. A browser is started once
for many pages, which stand there one after the other.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LOOK = """
const rgb = text => (text.match(/[\\d.]+/g) || []).map(Number);
const light = parts => {
  const [r, g, b] = parts.map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b;
};
const behind = node => {
  for (; node; node = node.parentElement) {
    const colour = rgb(getComputedStyle(node).backgroundColor);
    if (colour.length === 3 || colour[3] === 1) return colour;
  }
  return [255, 255, 255];
};
const words = node => [...node.childNodes].some(n => n.nodeType === 3 && n.data.trim());
const soon = () => new Promise(done => setTimeout(done, 20));
const look = async (frame, filters) => {
  const doc = frame.contentDocument, out = {faint: [], shown: [], scripts: doc.scripts.length};
  const seen = selector => [...doc.querySelectorAll(selector)].filter(n => n.checkVisibility());
  const wide = () => doc.documentElement.scrollWidth - doc.documentElement.clientWidth;
  out.width = doc.documentElement.clientWidth;
  out.over = wide();
  doc.querySelectorAll("details").forEach(node => node.open = true);
  out.overOpen = wide();
  for (const node of doc.body.querySelectorAll("*")) {
    if (!words(node) || !node.checkVisibility()) continue;
    const style = getComputedStyle(node);
    const ink = rgb(node.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [a, b] = [light(ink.slice(0, 3)), light(behind(node).slice(0, 3))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) out.faint.push([node.className, node.textContent.slice(0, 40), ratio]);
  }
  doc.querySelectorAll("details").forEach(node => node.open = false);
  out.small = seen(".grid td a").filter(n => n.getBoundingClientRect().height < 24).length;
  for (const [link, selector] of filters) {
    doc.querySelector(`a[href="#${link}"]`).click();
    for (let turn = 0; turn < 50 && !doc.querySelector(`#${link}:target`); turn++) await soon();
    out.shown.push(seen(selector).length);
  }
  const unnamed = n => !(n.getAttribute("aria-label") || n.textContent.trim());
  out.unnamed = [...doc.querySelectorAll("a, svg[role=img]")].filter(unnamed).length;
  return out;
};
(async () => {
  const outs = [];
  for (const [page, width, filters] of LOOKS) {
    const frame = document.createElement("iframe");
    frame.style = `width:${width}px;height:1600px;border:0`;
    frame.src = page;
    document.body.append(frame);
    await new Promise(done => frame.onload = done);
    outs.push(await look(frame, filters));
    frame.remove();
  }
  const report = document.createElement("pre");
  report.id = "out";
  report.textContent = JSON.stringify(outs);
  document.body.append(report);
})();
"""


class Look(NamedTuple):
    """A page to look at. ``filters``: a link to follow, and what to count behind it."""

    page: str
    width: int
    filters: Sequence[tuple[str, str]] = ()


def look_at(looks: Sequence[Look], folder: Path, *, dark: bool) -> list[dict[str, Any]]:
    """What each page looks like, in one start of the browser."""
    rows = [(f"page-{number}.html", each.width, each.filters) for number, each in enumerate(looks)]
    for (name, _, _), each in zip(rows, looks, strict=True):
        (folder / name).write_text(each.page, encoding="utf-8")
    script = _LOOK.replace("LOOKS", json.dumps(rows))
    file = folder / "around.html"
    text = f'<!doctype html><meta charset="utf-8"><body><script>{script}</script>'
    file.write_text(text, encoding="utf-8")
    dom = dump(f"file://{file}", folder, dark=dark)
    seen = re.search(r'<pre id="out">(.*?)</pre>', dom, re.S)
    assert seen is not None, dom[-400:]
    reports: list[dict[str, Any]] = json.loads(html.unescape(seen[1]))
    return reports


def dump(url: str, folder: Path, *, dark: bool = False) -> str:
    """The document that the browser makes of an address, once all of it is loaded."""
    argv = [
        "chromium",
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--disable-dev-shm-usage",
        "--allow-file-access-from-files",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        f"--user-data-dir={folder / 'profile'}",
        "--window-size=1600,1700",
        "--virtual-time-budget=20000",
        *(["--blink-settings=preferredColorScheme=0"] if dark else []),
        "--dump-dom",
        url,
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, encoding="utf-8")
    return done.stdout
