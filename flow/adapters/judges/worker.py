"""A program of its own: one request through the ``anthropic`` or the ``openai`` SDK.

Started as a script with ``-I``, it imports no other part of Flow. On standard input it gets one
JSON object (``sdk``, ``path``: folders of modules, ``base_url``, ``seconds``, ``body``), in its
environment the credentials, and it prints one JSON object:

``kind``       the outcome
``body``       a response; ``text`` is its document
``refused``    HTTP status 400 or more: ``status``, ``headers``, ``text``
``timeout``, ``connection``, ``missing`` (the SDK), ``too_long``, ``failed``: with a ``message``
"""

from __future__ import annotations

import json
import resource
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

BODY = 1 << 20
_MEMORY = 1 << 30
"""Bytes of address space: ten times the need of a call."""
_HEADERS = ("retry-after", "date")


def main() -> None:
    """Read the request, carry it out, print the outcome."""
    request = json.loads(sys.stdin.buffer.read())
    sys.path[:] = request["path"]
    _limit_memory()
    print(json.dumps(carry_out(request)))


def _limit_memory() -> None:
    """Limit the memory, since a response without end must not use up the machine's."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    except (ValueError, OSError):  # not on this system, or it is lower already
        return


def carry_out(request: Mapping[str, Any]) -> dict[str, Any]:
    """Send one request. Retries are Flow's own, so the SDK's are off."""
    try:
        sdk: Any = __import__(request["sdk"])
    except ModuleNotFoundError as error:
        if error.name == request["sdk"]:
            return {"kind": "missing"}
        return {"kind": "failed", "message": f"the package {request['sdk']}: {error}"}
    options = {"max_retries": 0, "timeout": request["seconds"], "base_url": request["base_url"]}
    try:
        if request["sdk"] == "anthropic":
            create = sdk.Anthropic(**options).messages.with_raw_response.create
        else:
            create = sdk.OpenAI(**options).chat.completions.with_raw_response.create
        response = create(**request["body"]).http_response
        if len(response.content) > BODY:
            return {"kind": "too_long"}
        return {"kind": "body", "text": response.content.decode("utf-8", "backslashreplace")}
    except sdk.APIStatusError as error:
        headers = {name: error.response.headers.get(name, "") for name in _HEADERS}
        text = error.response.content[:4096].decode("utf-8", "backslashreplace")
        return {
            "kind": "refused",
            "status": error.status_code,
            "headers": headers,
            "text": text,
        }
    except sdk.APITimeoutError:
        return {"kind": "timeout"}
    except sdk.APIConnectionError as error:
        return {"kind": "connection", "message": str(error.__cause__ or error)}
    except MemoryError:
        return {"kind": "too_long"}
    except Exception as error:  # noqa: BLE001  # an SDK may raise anything; a broken stream is httpx's own error
        kind = (
            "connection" if type(error).__module__.startswith(("httpx", "httpcore")) else "failed"
        )
        return {"kind": kind, "message": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
