"""Criteria read from spec-kit, Kiro and OpenSpec folders."""

from __future__ import annotations

import time

import pytest

from flow.core.drafting.specifications import (
    CRITERION_LIMIT,
    SpecificationDraft,
    read_specification,
)
from tests.support.pace import exceeds

SPEC_KIT = """\
# Feature Specification: Strict dates

**Feature Branch**: `003-strict-dates`
**Status**: Draft

## User Scenarios & Testing *(mandatory)*

### User Story 1 - Refuse what cannot be (Priority: P1)

A caller wants a refusal.

**Why this priority**: everything rests on it

**Acceptance Scenarios**:

1. **Given** a text, **When** it is 1900-02-29,
   **Then** it is refused
2. **Given** an empty text, **When** it is read, **Then** it is refused

### Edge Cases

- What happens at midnight?

## Requirements *(mandatory)*

### Functional Requirements

- **FR-001**: The parser MUST refuse impossible dates
- **FR-002**: The parser MUST name the fault [NEEDS CLARIFICATION: in which language?]

```markdown
- **FR-009**: an example in a fence
```
<!--
- **FR-010**: a comment
-->

### Key Entities

- **Date**: year, month, day

## Success Criteria *(mandatory)*

### Measurable Outcomes

- **SC-001**: 1,000 dates are read in a second
"""

KIRO = """\
# Requirements Document

## Introduction

Dates are read strictly.

## Requirements

### Requirement 1: Refusal

**User Story:** As a caller, I want a refusal, so that I can trust a date.

#### Acceptance Criteria

1. WHEN a date is impossible THEN the parser SHALL refuse it
2. IF the text is empty
   THEN the parser SHALL refuse it

### Requirement 2

- WHILE strict is off THE parser SHALL accept both
- a note
"""

OPEN_SPEC = """\
## ADDED Requirements

### Requirement: Strict mode

The parser SHALL offer a strict mode.

#### Scenario: Impossible date
- **WHEN** 1900-02-29 is read
- **THEN** it is refused

#### Scenario: Empty text
- **WHEN** nothing is read
- **THEN** it is refused

### Requirement: Names
The fault SHALL name the text.

## REMOVED Requirements

### Requirement: Guessing
**Reason**: nobody asked for it

#### Scenario: Guess
- **THEN** it guesses
"""


def read(**files: str) -> SpecificationDraft:
    draft = read_specification({name.replace("__", "."): text for name, text in files.items()})
    assert draft is not None
    return draft


def test_spec_kit_scenarios_requirements_and_outcomes_become_criteria() -> None:
    draft = read(spec__md=SPEC_KIT)

    assert draft.tool == "spec-kit"
    assert draft.outcome == "Strict dates"
    assert draft.criteria == (
        "Given a text, When it is 1900-02-29, Then it is refused",
        "Given an empty text, When it is read, Then it is refused",
        "FR-001: The parser MUST refuse impossible dates",
        "FR-002: The parser MUST name the fault [NEEDS CLARIFICATION: in which language?]",
        "SC-001: 1,000 dates are read in a second",
    )
    assert draft.unclear == (draft.criteria[3],)


def test_kiro_acceptance_criteria_become_criteria() -> None:
    draft = read(requirements__md=KIRO)

    assert draft.tool == "Kiro"
    assert draft.outcome == "Dates are read strictly."
    named = read(requirements__md=KIRO.replace("Document", "Document: Strict dates", 1))
    assert named.outcome == "Strict dates"
    assert draft.criteria == (
        "WHEN a date is impossible THEN the parser SHALL refuse it",
        "IF the text is empty THEN the parser SHALL refuse it",
        "WHILE strict is off THE parser SHALL accept both",
    )


def test_open_spec_scenarios_become_criteria_and_what_is_removed_says_so() -> None:
    proposal = (
        "# Change: strict\n\n## Why\nwhat changes\n\n## What Changes\n- A strict mode is added\n"
    )
    draft = read_specification({"proposal.md": proposal, "specs/dates/spec.md": OPEN_SPEC})

    assert draft is not None
    assert draft.tool == "OpenSpec"
    assert draft.outcome == "A strict mode is added"
    assert draft.criteria == (
        "Strict mode, Impossible date: WHEN 1900-02-29 is read THEN it is refused",
        "Strict mode, Empty text: WHEN nothing is read THEN it is refused",
        "Names: The fault SHALL name the text.",
        "Guessing: is removed",
    )


def test_a_folder_of_open_spec_s_current_specifications_is_read_too() -> None:
    assert read(spec__md=OPEN_SPEC).tool == "OpenSpec"


def test_several_open_spec_capabilities_are_read_in_the_order_of_their_names() -> None:
    one = "### Requirement: {}\nText.\n"
    draft = read_specification(
        {"specs/b/spec.md": one.format("Second"), "specs/a/spec.md": one.format("First")}
    )

    assert draft is not None
    assert draft.criteria == ("First: Text.", "Second: Text.")


@pytest.mark.parametrize("files", [{}, {"README.md": "# x"}, {"plan.md": SPEC_KIT}])
def test_another_layout_is_no_specification(files: dict[str, str]) -> None:
    assert read_specification(files) is None


def test_a_criterion_that_stands_twice_is_taken_once() -> None:
    again = SPEC_KIT.replace("FR-002", "FR-001").replace(
        "MUST name the fault [NEEDS CLARIFICATION: in which language?]",
        "MUST refuse impossible dates",
    )

    assert len(read(spec__md=again).criteria) == 4


def test_a_long_criterion_is_cut_at_a_word() -> None:
    text = "## Functional Requirements\n- " + "word " * 1000
    (criterion,) = read(spec__md=text).criteria

    assert len(criterion) <= CRITERION_LIMIT
    assert criterion.endswith("word…")


def test_a_long_criterion_stays_marked_as_not_decided() -> None:
    text = f"{'word ' * 200}[NEEDS CLARIFICATION: when?]"
    draft = read(spec__md=f"### Measurable Outcomes\n\n- {text}\n")
    assert draft.unclear == draft.criteria != ()


def test_numbered_requirements_are_taken_whatever_their_section_is_called() -> None:
    draft = read(spec__md="## Requirements\n\n- **FR-001**: MUST log in\n- Background\n")
    assert draft.criteria == ("FR-001: MUST log in",)


def test_an_unclosed_fence_or_comment_hides_the_rest_and_raises_nothing() -> None:
    head = "## Functional Requirements\n- first\n"

    assert read(spec__md=head + "```\n- second").criteria == ("first",)
    assert read(spec__md=head + "<!-- \n- second").criteria == ("first",)


def test_no_line_is_slow_to_read() -> None:
    began = time.process_time()
    read_specification({"spec.md": f"# a{' ' * 3000}b\n"})
    assert not exceeds(time.process_time() - began, 1)
