"""``python3 -m wordcount``: counts what comes in on standard input."""

import sys

import wordcount

if __name__ == "__main__":
    text = sys.stdin.read()
    counts = []
    for what in ("lines", "words"):
        count = getattr(wordcount, what, None)
        if count is not None:
            counts.append(f"{count(text)} {what}")
    print(", ".join(counts))
