"""The attributes of a node, which are texts: `(1, 1)`, `True`, `None`, `0.5`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lamina.frontends.network import NetworkNode

_NUMBER = r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|inf|nan)L?"


class TextAttributes:
    """The attributes of a node by kinds. Raises ValueError for a text of another kind."""

    def __init__(self, node: NetworkNode) -> None:
        self._texts: Mapping[str, str] = node.attributes

    def word(self, name: str, default: str = "") -> str:
        """The text itself."""
        return self._texts.get(name, default)

    def has(self, name: str) -> bool:
        """Whether an attribute is there, and not `None`."""
        return self._texts.get(name, "None") != "None"

    def bool(self, name: str, default: bool = False) -> bool:
        """A truth value."""
        text = self._texts.get(name, str(default))
        if text not in ("True", "true", "1", "False", "false", "0", "None"):
            raise ValueError(f"{name} = {text[:40]} is no truth value")
        return text in ("True", "true", "1")

    def int(self, name: str, default: int = 0) -> int:
        """A whole number."""
        return int(self.float(name, default))

    def float(self, name: str, default: float = 0.0) -> float:
        """A number."""
        if not self.has(name):
            return default
        text = self._texts[name].strip()
        if text in ("True", "False"):
            return float(text == "True")
        number = float(text.rstrip("L"))
        if abs(number) >= 1e18 and abs(number) != float("inf") and "e" not in text:
            raise ValueError(f"{name} = {text[:40]} is too large")
        return number

    def floats(self, name: str, default: tuple[float, ...] = ()) -> tuple[float, ...]:
        """A tuple of numbers, in any brackets; one number is a tuple of one."""
        if not self.has(name):
            return default
        text = self._texts[name].strip()
        inner = text.strip("()[] ")
        parts = [p.strip() for p in inner.split(",") if p.strip()]
        if any(not re.fullmatch(_NUMBER, p) for p in parts) or len(parts) > 1 << 16:
            raise ValueError(f"{name} = {text[:40]} is no tuple of numbers")
        return tuple(float(p.rstrip("L")) for p in parts)

    def ints(self, name: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """A tuple of whole numbers."""
        return tuple(int(n) for n in self.floats(name)) if self.has(name) else default

    def optional_ints(self, name: str) -> list[int | None]:
        """A tuple of whole numbers or `None`."""
        inner = self._texts.get(name, "").strip().strip("()[] ")
        return [None if p.strip() == "None" else int(float(p.rstrip("L"))) for p in inner.split(",") if p.strip()]
