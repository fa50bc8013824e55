"""Somebody who can write in the checkout, and knows how Flow writes: the chain has no secret."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from flow.adapters.contracts.formats import dump_yaml, parse_yaml
from flow.core.chain.entries import Head, events_genesis, following
from flow.core.goal.model import canonical_digest
from flow.startup.json import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Lines = list[dict[str, Any]]


class Forger:
    """Writes into one run as Flow would, with no access to the user's state folder."""

    def __init__(self, run: Path) -> None:
        self.run, self.run_id = run, run.name

    def lines(self, name: str) -> Lines:
        """The objects in ``ledger.jsonl`` or ``events.jsonl``."""
        return [json.loads(line) for line in (self.run / name).read_bytes().splitlines()]

    def sidecar(self, evidence_id: str) -> dict[str, Any]:
        """A sidecar that is there."""
        path = self.run / "evidence" / f"{evidence_id}.evidence.yaml"
        return dict(parse_yaml(path.read_bytes(), file="a sidecar"))

    def put(self, document: Mapping[str, Any], output: bytes | None, by: str) -> str:
        """Write output, sidecar, entry and event; returns the sidecar's path below the top."""
        fields = self.write(document, output, by)
        ledger = self.lines("ledger.jsonl") if (self.run / "ledger.jsonl").exists() else []
        last = Head(ledger[-1]["seq"], ledger[-1]["hash"]) if ledger else None
        self.append("ledger.jsonl", following(last, self.run_id, fields)._asdict())
        self.event(
            "evidence", evidence_id=fields["evidence_id"], by=by,
            evidence_type=document["evidence"]["type"], proves=document["evidence"]["proves"],
            sidecar_sha256=fields["sidecar_sha256"], output_sha256=fields["output_sha256"],
        )  # fmt: skip
        return f".flow/runs/{self.run_id}/evidence/{fields['evidence_id']}.evidence.yaml"

    def write(self, document: Mapping[str, Any], output: bytes | None, by: str) -> dict[str, Any]:
        """Write output and sidecar; returns what their entry says."""
        document = json.loads(json.dumps(document))
        metadata, body = document["metadata"], document["evidence"]
        for key in ("output_ref", "output_sha256", "output_bytes"):
            body.pop(key, None)
        folder = self.run / "evidence"
        if output is not None:
            (folder / f"{metadata['id']}.txt").write_bytes(output)
            body["output_ref"] = f"{metadata['id']}.txt"
            body["output_sha256"] = sha256(output).hexdigest()
            body["output_bytes"] = len(output)
        data = dump_yaml(document).encode()
        (folder / f"{metadata['id']}.evidence.yaml").write_bytes(data)
        return {
            "at": metadata["created_at"],
            "kind": "evidence",
            "evidence_id": metadata["id"],
            "goal_id": metadata["goal"],
            "by": by,
            "sidecar_sha256": sha256(data).hexdigest(),
            "output_sha256": body.get("output_sha256"),
        }

    def append(self, name: str, document: Mapping[str, Any]) -> None:
        """One more line."""
        with open(self.run / name, "ab") as file:
            file.write(canonical(document) + b"\n")

    def event(self, type: str, **fields: Any) -> None:
        """One more line of ``events.jsonl``."""
        last = self.lines("events.jsonl")[-1]
        event = {"at": last["at"], "seq": last["seq"] + 1, "type": type, **fields}
        event |= {"goal_id": last["goal_id"], "prev": last["hash"]}
        event["hash"] = canonical_digest(event)
        with open(self.run / "events.jsonl", "a", encoding="ascii") as file:
            file.write(json.dumps(event, separators=(",", ":")) + "\n")

    def rewrite(self, change: Callable[[Lines], Lines]) -> None:
        """Change the entries, and hash all of them anew."""
        last, text = None, b""
        for document in change(self.lines("ledger.jsonl")):
            rest = {k: v for k, v in document.items() if k not in ("seq", "prev", "hash")}
            entry = following(last, self.run_id, rest)
            text += canonical(entry._asdict()) + b"\n"
            last = entry.head
        (self.run / "ledger.jsonl").write_bytes(text)

    def rewrite_events(self, change: Callable[[Lines], Lines]) -> None:
        """The same for ``events.jsonl``."""
        last, text = events_genesis(self.run_id), ""
        for number, event in enumerate(change(self.lines("events.jsonl")), 1):
            rest = {k: v for k, v in event.items() if k not in ("prev", "hash")}
            made = {**rest, "seq": number, "prev": last}
            last = made["hash"] = canonical_digest(made)
            text += json.dumps(made, separators=(",", ":")) + "\n"
        (self.run / "events.jsonl").write_text(text)
