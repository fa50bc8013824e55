"""The goal file that ``flow init`` leaves in a repository without goals."""

from __future__ import annotations

import json

EXAMPLE = "example"


def example(repo: str, branch: str, now: str) -> str:
    """A goal file that explains itself; every value is valid, and its status is ``draft``."""
    quoted = {"REPO": repo, "BRANCH": branch, "NOW": now}
    text = _EXAMPLE
    for name, value in quoted.items():
        text = text.replace(f"@{name}@", json.dumps(value, ensure_ascii=True))
    return text


_EXAMPLE = """\
# yaml-language-server: $schema=../goal.schema.json
#
# A goal: what is to be true, the commands that prove it, and the paths that may be touched.
# This one is a draft. Change it, then start it:   flow goal activate example
# Look at where it stands:                         flow goal status example
# Run its commands:                                flow goal evaluate example
# Throw it away:                                   flow goal clear example
apiVersion: flow.synapti.ai/v1
kind: FlowGoal
metadata:
  id: example              # the file is named after it
  created_at: @NOW@
scope:
  repo: @REPO@
  branch: @BRANCH@  # it is evaluated on this branch only
objective:
  outcome: "The README says how to start"
  acceptance_criteria:
    - id: AC1
      text: "There is a README with something in it"
      verification_command: "test -s README.md"    # exit 0 proves it, nothing else does
      must_pass: true
      status: pending      # Flow writes this, with evidence_ref and last_result
      limitations:
        - "Says nothing about what the README says"
    - id: AC2              # without a command it is fuzzy: a person approves it
      text: "A newcomer finds the first step without asking"
      must_pass: true
      status: pending
constraints:
  allowed_paths:           # gitignore patterns from the top level; empty: every path
    - "README.md"
    - "docs/**"
  denied_paths:            # these win over allowed_paths
    - "**/.env"
evaluator:
  type: hybrid             # commands first; what they cannot prove needs a judge or a person
lifecycle:
  status: draft            # active once it is started; only a person closes it
  turns_evaluated: 0
"""
