"""Locations in IR text: ranges, what is fused for a reason, aliases that the text defines further down.

%0 = arith.addf %x, %y : f32 loc(#loc22)
#loc22 = loc("sum"("f.py":7:11 to :32))
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc, NoneAttr, StringAttr, UnknownLoc
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

MAX_DEPTH = 256
"""Ops nested in ops, and locations in locations."""
LOCATIONS = (UnknownLoc, FileLineColLoc, NameLoc, CallSiteLoc, FusedLoc)


class LocationParser(Parser):
    """xDSL's parser with all of MLIR's locations."""

    _promised: dict[str, tuple[NameLoc, Span]]
    """What stands for an alias until the text has defined it, and where it was used first."""

    def _parse_location(self) -> Any:
        """xDSL's locations, with ranges, what is fused for a reason, and aliases that the text defines further down."""
        token = self._current_token
        if token.kind is MLIRTokenKind.HASH_IDENT:
            name = token.text
            if name in self.attribute_aliases:
                return super()._parse_location()
            self._consume_token(MLIRTokenKind.HASH_IDENT)
            found = self._promised.get(name)
            if found is None:
                found = self._promised[name] = (NameLoc(StringAttr(name), NoneAttr()), token.span)
            return found[0]
        if token.kind is MLIRTokenKind.BARE_IDENT and token.text == "fused":
            return self._parse_fused_location()
        self._location_depth += 1
        if self._location_depth > MAX_DEPTH:
            self.raise_error(f"locations are nested more than {MAX_DEPTH} deep")
        found = super()._parse_location()
        self._location_depth -= 1
        if type(found) is FileLineColLoc and self.parse_optional_keyword("to"):
            # The end of a range, of which the beginning is kept: `"f.py":7:11 to :32` or `to 8:32`.
            self.parse_optional_integer(False, False)
            self.parse_punctuation(":")
            self.parse_integer(False, False)
        return found

    _location_depth = 0

    def _parse_fused_location(self) -> FusedLoc:
        self.parse_keyword("fused")
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<"):
            metadata = self.parse_attribute()
            self.parse_punctuation(">")
        parts = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return FusedLoc(tuple(parts), metadata)

    def _keep_promises(self, ops: list[Operation]) -> None:
        """Put the locations of aliases that were used before they were defined where they were promised."""
        promised = {id(location): (name, span) for name, (location, span) in self._promised.items()}
        known: dict[int, Any] = {}

        def kept(location: Any) -> Any:
            found = known.get(id(location))
            if found is None:
                found = known[id(location)] = resolved(location)
                alive.append(location)
            return found

        alive: list[Any] = []
        asked: set[str] = set()

        def resolved(location: Any) -> Any:
            if id(location) in promised:
                name, span = promised[id(location)]
                meant = self.attribute_aliases.get(name)
                if not isinstance(meant, LOCATIONS):
                    self.raise_error(f"{'undefined alias' if meant is None else 'no location:'} '{name}'", span)
                if name in asked:
                    self.raise_error(f"the location '{name}' contains itself", span)
                asked.add(name)
                found = kept(meant)
                asked.discard(name)
                return found
            if isinstance(location, NameLoc):
                return NameLoc(location.desc, kept(location.location))
            if isinstance(location, CallSiteLoc):
                return CallSiteLoc(kept(location.callee), kept(location.caller))
            if isinstance(location, FusedLoc):
                return FusedLoc(tuple(map(kept, location.locations.data)), location.metadata)  # type: ignore[attr-defined]
            return location

        for root in ops:
            for op in root.walk():
                op.location = kept(op.location)
                for region in op.regions:
                    for block in region.blocks:
                        for argument in block.args:
                            argument.location = kept(argument.location)
