"""The errors Flow raises, and the exit status of each.

::

    FlowError
    ├── InputError        wrong call or malformed value          exit 2, helpers 1
    │   └── ContractError a file that breaks its format; one Fault for each place
    ├── StateError        the goal's state does not allow it      exit 2, helpers 1
    │   └── StaleProposal the proposal is used, replaced or moved
    ├── RefusedError      unsafe path, id taken, broken journal   exit 2, helpers 2
    ├── OutsideError      disk, git, lock                         exit 5, helpers 2
    │   ├── StorageError
    │   ├── GitError
    │   └── LockTimeout
    ├── PersonNeeded      only a person can go on from here       exit 4, helpers 1
    │   └── NoUsableAnswer a judge was asked, and nothing follows
    ├── NotPassed         a judgement that had to pass did not     exit 1, helpers 1
    └── Interrupted       the user or a signal ended it           exit 130, helpers 130

An error has ``file``, ``key``, ``value``, ``message`` and ``remedy``. ``code`` is a stable word for
programs; ``exit_code`` is what ``flow`` exits with, ``helper_code`` what the helpers in ``bin/``
exit with.

It is built from its place: ``raise in_file(rel, "run_id", value).corrupt(message, remedy)``,
``raise at_key("--commit", commit).invalid(message, remedy)``.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeVar

    _Error = TypeVar("_Error", bound="FlowError")


FEW_ROWS = 10
"""Most rows of a list for people; documents and stored files hold all of them."""

MANY_ROWS = 40
"""Most rows of a longer list, as of paths."""


ALL_IN_JSON = "the same command with --json names all"
"""End of a shortened list if no other command shows the rest."""


def cut_list(rows: Sequence[str], rest: str, most: int = FEW_ROWS) -> list[str]:
    """The first rows, and the number of the others; ``rest`` is a command for them, or empty."""
    return [*rows[:most], *more_than(len(rows), rest, most)]


def more_than(count: int, rest: str, most: int = MANY_ROWS) -> list[str]:
    """The line that ends a list of ``count`` rows of which ``most`` are shown, or nothing."""
    end = f": {rest}" if rest else ""
    return [f"and {count - most:,} more{end}"] if count > most else []


def _as_written(value: object) -> str:
    """A value as a YAML or JSON file has it, on one line."""
    if isinstance(value, bool | list | dict):
        import json

        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


class Fault:
    """One place where a value breaks its format."""

    __slots__ = ("file", "key", "message", "remedy", "value")

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        key: str | None = None,
        value: object = None,
        remedy: str | None = None,
    ) -> None:
        self.message = message
        self.file = file
        self.key = key
        self.value = value
        self.remedy = remedy

    def __str__(self) -> str:
        key = self.key if self.key and not self.message.startswith(self.key) else None
        place = ": ".join(part for part in (self.file, key) if part)
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} ({self.remedy})" if self.remedy else text

    def to_dict(self) -> dict[str, object]:
        """The fault as the JSON error object holds it."""
        return {
            "message": self.message,
            "file": self.file,
            "key": self.key,
            "value": None if self.value is None else _as_written(self.value)[:200],
            "remedy": self.remedy,
        }


class FlowError(Exception):
    """Base of everything Flow raises on purpose."""

    code = "error"
    exit_code = 2
    helper_code = 1

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        file: str | None = None,
        key: str | None = None,
        value: object = None,
        remedy: str | None = None,
    ) -> None:
        self.fault = Fault(message, file=file, key=key, value=value, remedy=remedy)
        if code is not None:
            self.code = code
        super().__init__(message)

    @property
    def message(self) -> str:
        """The fault alone, without its place and the remedy."""
        return self.fault.message

    @property
    def file(self) -> str | None:
        """The file it is about."""
        return self.fault.file

    @property
    def key(self) -> str | None:
        """The key in the file, or the option or argument."""
        return self.fault.key

    @property
    def value(self) -> object:
        """The value that cannot be used, as it was given."""
        return self.fault.value

    @property
    def remedy(self) -> str | None:
        """The action that mends the fault; None if none is known."""
        return self.fault.remedy

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Every fault behind this error, the first one first."""
        return (self.fault,)

    def __str__(self) -> str:
        return "\n".join(cut_list([str(fault) for fault in self.faults], ALL_IN_JSON))

    def to_dict(self) -> dict[str, object]:
        """The ``error`` object of ``--json``."""
        error: dict[str, object] = {"code": self.code, **self.fault.to_dict()}
        if len(self.faults) > 1:
            error["faults"] = [fault.to_dict() for fault in self.faults]
        return error


class InputError(FlowError):
    """A wrong call or a malformed value."""

    code = "invalid_input"


class ContractError(InputError):
    """A file that breaks its format; ``faults`` names every place at once."""

    code = "invalid_file"

    def __init__(self, faults: Sequence[Fault]) -> None:
        if not faults:
            raise ValueError("a ContractError needs at least one fault")
        super().__init__(faults[0].message)
        self._faults = tuple(faults)
        self.fault = faults[0]

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Every fault of the file, in the order of the text."""
        return self._faults


class StateError(FlowError):
    """The goal's state does not allow what was asked."""

    code = "wrong_state"


class StaleProposal(StateError):
    """The proposal is unknown, used or replaced, or the files and evidence behind it have moved."""

    code = "stale_proposal"


class RefusedError(FlowError):
    """Flow will not touch this: an unsafe path, an id that is taken, a broken journal."""

    code = "refused"
    helper_code = 2


class OutsideError(FlowError):
    """Something outside Flow failed."""

    code = "outside"
    exit_code = 5
    helper_code = 2


class StorageError(OutsideError):
    """Reading or writing a file failed."""

    code = "storage"


class GitError(OutsideError):
    """git could not answer."""

    code = "git"


class LockTimeout(OutsideError):
    """Another process holds the lock for longer than Flow waits."""

    code = "locked"


class PersonNeeded(FlowError):
    """Only a person can go on from here, and none can be asked."""

    code = "person_needed"
    exit_code = 4


class NoUsableAnswer(PersonNeeded):
    """A judge gave no usable answer, or none is configured: neither a pass nor a fail.

    ``code`` says why: ``not_configured``, ``timeout``, ``wrong_shape``, ...
    """

    code = "no_answer"


class NotPassed(FlowError):
    """A judgement that was asked to raise did not pass; ``result`` is the judgement."""

    code = "not_passed"
    exit_code = 1

    def __init__(self, message: str, result: object) -> None:
        super().__init__(message)
        self.result = result


class Interrupted(FlowError):
    """The user or a signal ended it."""

    code = "interrupted"
    exit_code = 130
    helper_code = 130


class FaultPlace:
    """A file, a key and its value; each method builds one kind of error about this place."""

    __slots__ = ("file", "key", "value")

    def __init__(self, file: str | None, key: str | None, value: object) -> None:
        self.file = file
        self.key = key
        self.value = value

    def fault(self, message: str, remedy: str | None = None) -> Fault:
        """One of several faults that a ``ContractError`` will name."""
        return Fault(message, file=self.file, key=self.key, value=self.value, remedy=remedy)

    def corrupt(self, message: str, remedy: str | None = None) -> ContractError:
        """The file breaks its format at this place alone."""
        return ContractError([self.fault(message, remedy)])

    def invalid(
        self, message: str, remedy: str | None = None, *, code: str | None = None
    ) -> InputError:
        """The value cannot be used."""
        return self._error(InputError, message, remedy, code)

    def not_found(self, message: str, remedy: str | None = None) -> InputError:
        """The value names nothing that is there."""
        return self._error(InputError, message, remedy, "not_found")

    def wrong_state(
        self, message: str, remedy: str | None = None, *, code: str | None = None
    ) -> StateError:
        """The goal's state does not allow what was asked."""
        return self._error(StateError, message, remedy, code)

    def stale(self, message: str, remedy: str | None = None) -> StaleProposal:
        """The proposal rests on files or evidence that have changed since."""
        return self._error(StaleProposal, message, remedy)

    def refused(
        self, message: str, remedy: str | None = None, *, code: str | None = None
    ) -> RefusedError:
        """Flow will not touch the file."""
        return self._error(RefusedError, message, remedy, code)

    def storage(
        self, message: str, remedy: str | None = None, *, code: str | None = None
    ) -> StorageError:
        """The file could not be read or written."""
        return self._error(StorageError, message, remedy, code)

    def git(self, message: str, remedy: str | None = None, *, code: str | None = None) -> GitError:
        """git could not answer about this place."""
        return self._error(GitError, message, remedy, code)

    def _error(
        self, kind: type[_Error], message: str, remedy: str | None, code: str | None = None
    ) -> _Error:
        return kind(
            message, code=code, file=self.file, key=self.key, value=self.value, remedy=remedy
        )


def in_file(file: str | None, key: str | None = None, value: object = None) -> FaultPlace:
    """The place of a fault in a file."""
    return FaultPlace(file, key, value)


def at_key(key: str | None, value: object = None) -> FaultPlace:
    """The place of a fault in the call: an option, an argument or a field."""
    return FaultPlace(None, key, value)
