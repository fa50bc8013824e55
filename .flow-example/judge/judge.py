"""A stand-in for a model: gives the first of its kept replies that fits the question.

Flow's backend ``command`` starts it: the question comes in on standard input, the schema of the
reply is in the file that FLOW_JUDGE_SCHEMA names.
"""

import json
import os
import sys

prompt = sys.stdin.read()
KINDS = {"criterion_results": "goal", "dimensions": "scorecard", "accepts_consensus": "debate"}
with open(os.environ["FLOW_JUDGE_SCHEMA"], encoding="utf-8") as file:
    keys = json.load(file)["properties"]
asked = next((kind for key, kind in KINDS.items() if key in keys), "rubric")
with open(os.path.join(os.path.dirname(__file__), "replies.json"), encoding="utf-8") as file:
    replies = json.load(file)
for kept in replies:
    if kept["asked"] == asked and all(text in prompt for text in kept["about"]):
        print(json.dumps(kept["reply"]))
        sys.exit(0)
sys.exit("no reply is kept for this question")
