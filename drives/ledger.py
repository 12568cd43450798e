"""What a client knows of a session: the fold of the `session/update` frames it was sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Update = dict[str, Any]


@dataclass
class Message:
    """One message or thought, its chunks put together."""

    role: str
    id: str | None
    text: str = ""


@dataclass
class ToolCall:
    """One tool call with the fields that were sent last."""

    id: str
    fields: Update = field(default_factory=dict)

    @property
    def status(self) -> str:
        return self.fields.get("status", "pending")

    @property
    def output(self) -> str:
        """The text among its content."""
        blocks = [c.get("content", {}) for c in self.fields.get("content") or []]
        return "".join(block.get("text", "") for block in blocks)


@dataclass
class Ledger:
    """Messages in order and tool calls by id."""

    messages: list[Message] = field(default_factory=list)
    tools: dict[str, ToolCall] = field(default_factory=dict)

    def add(self, update: Update) -> None:
        """Takes in one update, in the order of the wire."""
        kind = update["sessionUpdate"]
        if kind.endswith("_chunk"):
            self._chunk(kind.removesuffix("_chunk"), update)
        elif kind in ("tool_call", "tool_call_update"):
            tool = self.tools.setdefault(update["toolCallId"], ToolCall(update["toolCallId"]))
            tool.fields.update({k: v for k, v in update.items() if v is not None})

    def _chunk(self, role: str, update: Update) -> None:
        identity, text = update.get("messageId"), update["content"].get("text", "")
        known = (m for m in self.messages if m.role == role and m.id == identity and m.id)
        message = next(known, None)
        if message is None:
            message = Message(role, identity)
            self.messages.append(message)
        message.text += text

    def of(self, role: str) -> list[Message]:
        """The messages of one role, in order."""
        return [message for message in self.messages if message.role == role]

    def text(self, role: str = "agent_message") -> str:
        """Everything one role said."""
        return "".join(message.text for message in self.of(role))


def fold(updates: list[Update]) -> Ledger:
    """The ledger of a list of updates."""
    ledger = Ledger()
    for update in updates:
        ledger.add(update)
    return ledger
