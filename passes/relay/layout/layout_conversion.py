"""Layout inference over orders of whole axes: what relay-convert-layout does for NHWC, NCHW and the like.

One walk in program order. A value may be at home in another order of its axes: the one in which an op was asked to
work. Ops that follow take it over where they can say what they do in any order of the axes (`_FOLLOWS` and below);
at any other op the value comes back by a layout_transform, made at first use and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects import edit
from lamina.dialects.infos import TensorInfo, TypeMismatch, has_unknown_extents, tensor_info
from lamina.dialects.relay.base import OpPattern, RelayOp, attrs_of, normalize_axis
from lamina.dialects.relay.families import Reduction, reduced_axes
from lamina.dialects.relay.layout import axis_of
from lamina.dialects.relay.shape.layouts import LayoutTransformOp
from lamina.dialects.relay.shape.views import ReshapeOp
from lamina.passes.base import inherit_location, inherit_name


class Desired(NamedTuple):
    """Layouts asked of an op: "default" is the layout it has, for kernels the one that goes with the data."""

    data: str
    kernel: str


class Home(NamedTuple):
    """A value in another order: `source` is the order of the plain value, `layout` that of this one."""

    value: SSAValue
    source: str
    layout: str

    def place(self, axis: int, rank: int) -> int:
        """The position here of an axis of the plain value."""
        return self.layout.index(self.source[normalize_axis(axis, rank)])

    def permuted(self, items: Sequence[Any]) -> tuple[Any, ...]:
        """Permute items, one for each axis of the plain value, to this value's axes."""
        return tuple(items[self.source.index(letter)] for letter in self.layout)


class LayoutConverter:
    """One block: the forms that each value has by now."""

    def __init__(self, block: Block, wanted: dict[str, Desired], skipped: Collection[Operation] = ()) -> None:
        self.block = block
        self.wanted = wanted
        self.skipped = skipped
        """Ops that nothing is asked of, whatever they are."""
        self._home: dict[SSAValue, Home] = {}
        """Old value -> the new one, for values at home in another order."""
        self._forms: dict[tuple[SSAValue, str, str], SSAValue] = {}
        """Old value (source, layout) -> that form of it."""

    def run(self) -> None:
        """Convert the block."""
        for op in list(self.block.ops):
            types = [*op.operand_types, *op.result_types]
            if not isinstance(op, RelayOp) or len(op.results) != 1 or op.regions or has_unknown_extents(types):
                self._stay(op)
            elif not self._asked(op) and not self._follow(op):
                self._stay(op)
        for old in reversed(list(self._home)):
            owner = old.owner
            assert isinstance(owner, Operation)
            edit.erase(owner)

    # -- ops that are asked --------------------------------------------------------------------------------------

    def _asked(self, op: RelayOp) -> bool:
        """Put an op that layouts are asked of into them; False where it has them or cannot."""
        wanted = self.wanted.get(op.name)
        if wanted is None or op in self.skipped or not op.LAYOUTS:
            return False
        attrs = attrs_of(op)
        field = op.LAYOUTS[0]
        source = attrs[field]
        if (attrs.get("out_layout") or source) != source:
            return False
        given: dict[str, Any] = {field: source if wanted.data == "default" else wanted.data}
        if sorted(given[field]) != sorted(source):
            return False
        if "kernel_layout" in op.LAYOUTS:
            given["kernel_layout"] = wanted.kernel if wanted.kernel != "default" else _kernel_for(op, given[field])
            if sorted(given["kernel_layout"]) != sorted(attrs["kernel_layout"]):
                return False
        if all(attrs[name] == layout for name, layout in given.items()) or not _fits(op, attrs, given):
            return False
        operands = [
            self._form(value, attrs[name], given[name], op) if name else self._plain_at(op)(value)
            for value, name in zip(op.operands, op.LAYOUTS, strict=True)
        ]
        if "out_layout" in attrs:
            given["out_layout"] = ""
        self._become(op, operands, given, source, given[field])
        return True

    # -- ops that follow -----------------------------------------------------------------------------------------

    def _follow(self, op: RelayOp) -> bool:
        """Put an op whose operands are in another order into it, if its meaning is known there."""
        home = next((h for v in op.operands if (h := self._home.get(v)) is not None and h.source != h.layout), None)
        if home is None:
            return False
        rank = len(home.source)
        attrs = attrs_of(op)
        first = self._home.get(op.operands[0])
        if op.ALONG_AXIS and first is home:
            given = {"axis": home.place(attrs["axis"], rank)}
            others = list(map(self._plain_at(op), op.operands[1:]))
            self._become(op, [home.value, *others], given, home.source, home.layout)
        elif op.name == "relay.concatenate":
            operands = [self._form(v, home.source, home.layout, op) for v in op.operands]
            self._become(op, operands, {"axis": home.place(attrs["axis"], rank)}, home.source, home.layout)
        elif op.name == "relay.nn.pad":
            width = attrs["pad_width"]
            pairs = home.permuted([width[2 * i : 2 * i + 2] for i in range(rank)])
            given = {"pad_width": tuple(w for pair in pairs for w in pair)}
            self._become(op, [home.value], given, home.source, home.layout)
        elif (
            op.LAYOUTS == ("layout",)
            and (attrs["layout"], attrs.get("out_layout", "")) == (home.source, "")
            and _fits(op, attrs, {"layout": home.layout})
        ):
            self._become(op, [home.value], {"layout": home.layout}, home.source, home.layout)
        elif isinstance(op, Reduction) and len(op.operands) == 1:
            return self._reduce(op, home)
        elif op.FUSION_KIND in (OpPattern.ELEMWISE, OpPattern.BROADCAST):
            return self._elementwise(op, home)
        else:
            return False
        return True

    def _reduce(self, op: RelayOp, home: Home) -> bool:
        attrs = attrs_of(op)
        rank = len(home.source)
        axes = reduced_axes(attrs["axis"], attrs["exclude"], rank)
        # The place of an extremum among several axes counts them in their order.
        if not axes or (len(axes) > 1 and op.name in ("relay.argmax", "relay.argmin")):
            return False
        given = {"axis": tuple(sorted(home.place(a, rank) for a in axes)), "exclude": False}
        gone = "" if attrs["keepdims"] else [home.source[a] for a in axes]
        left, kept = ("".join(a for a in order if a not in gone) for order in (home.source, home.layout))
        self._become(op, [home.value], given, left, kept)
        return True

    def _elementwise(self, op: RelayOp, home: Home) -> bool:
        result = tensor_info(op.results[0].type).shape
        rank = len(home.source)
        if len(result) != rank:
            return False
        if op.FUSION_KIND == OpPattern.ELEMWISE:
            if len(op.operands) != 1:
                return False
            self._become(op, [home.value], {}, home.source, home.layout)
            return True
        # An op of that kind with attributes names axes by them (expand_dims, tile).
        shapes = [tensor_info(v.type).shape for v in op.operands]
        if op.properties or any(
            e not in (1, w) for s in shapes for e, w in zip(reversed(s), reversed(result), strict=False)
        ):
            return False
        operands = [self._broadcast(v, home, op) for v in op.operands]
        self._become(op, operands, {}, home.source, home.layout)
        return True

    def _broadcast(self, value: SSAValue, home: Home, op: Operation) -> SSAValue:
        """An operand in the order of another; one that broadcasts gets the axes that it lacks."""
        shape = tensor_info(value.type).shape
        if not shape:
            return value
        rank = len(home.source)
        if len(shape) == rank:
            return self._form(value, home.source, home.layout, op)
        value = self._plain_at(op)(value)
        whole = (1,) * (rank - len(shape)) + shape
        if sum(e > 1 for e in shape) <= 1:
            return self._insert(ReshapeOp.make(value, newshape=home.permuted(whole)), op)
        return self._transform(self._insert(ReshapeOp.make(value, newshape=whole), op), home.source, home.layout, op)

    # -- forms of values -----------------------------------------------------------------------------------------

    def _become(
        self, op: RelayOp, operands: Sequence[SSAValue], given: dict[str, Any], source: str, layout: str
    ) -> None:
        """The op on other operands, with other attributes; its result in another order."""
        made = type(op).make(*operands, **attrs_of(op) | given)
        made.attributes = dict(op.attributes)
        self._insert(made, op)
        inherit_name(made.results[0], op.results[0])
        self._home[op.results[0]] = Home(made.results[0], source, layout)

    def _plain_at(self, op: Operation) -> Callable[[SSAValue], SSAValue]:
        """Values as they were, before an op."""

        def plain(value: SSAValue) -> SSAValue:
            home = self._home.get(value)
            return value if home is None else self._form(value, home.source, home.source, op)

        return plain

    def _form(self, value: SSAValue, source: str, layout: str, before: Operation) -> SSAValue:
        """A value whose plain order of axes is `source`, in another."""
        home = self._home.get(value)
        if home is not None and home.source != source:
            value, home = self._form(value, home.source, home.source, before), None
        have = home.layout if home is not None else source
        if have == layout:
            return home.value if home is not None else value
        key = value, source, layout
        found = self._forms.get(key)
        if found is None:
            start = home.value if home is not None else value
            found = self._forms[key] = self._transform(start, have, layout, before)
        return found

    def _transform(self, value: SSAValue, source: str, layout: str, before: Operation) -> SSAValue:
        return self._insert(LayoutTransformOp.make(value, src_layout=source, dst_layout=layout), before)

    def _stay(self, op: Operation) -> None:
        for inner in op.walk() if op.regions else (op,):
            for i, value in enumerate(inner.operands):
                if value in self._home:
                    inner.operands[i] = self._plain_at(op)(value)

    def _insert(self, made: Operation, before: Operation) -> SSAValue:
        inherit_location(made, before)
        edit.insert_before(before, made)
        return made.results[0]


def _fits(op: RelayOp, attrs: Mapping[str, Any], given: Mapping[str, str]) -> bool:
    """Whether an op works in other layouts of its operands: some know a few alone."""
    infos: list[TensorInfo] = [tensor_info(t) for t in op.operand_types]
    for n, name in enumerate(op.LAYOUTS):
        if name:
            have: str = attrs[name]
            shape = tuple(infos[n].shape[have.index(letter)] for letter in given[name])
            infos[n] = TensorInfo(shape, infos[n].dtype)
    try:
        type(op).infer_type(*infos, **{**attrs, **given})
    except TypeMismatch:
        return False
    return True


def _kernel_for(op: RelayOp, layout: str) -> str:
    """The kernel layout that goes with a data layout, TVM's choice."""
    spatial = "".join(a for a in layout if a not in "NC")
    if layout.index("C") == 1:
        first = str(op.defaults()["kernel_layout"]).strip('"')[:2]
        return first + spatial
    attrs = attrs_of(op)
    channels = tensor_info(op.operands[0].type).shape[axis_of(attrs["data_layout"], "C")]
    return spatial + ("OI" if attrs["groups"] == channels > 1 else "IO")
