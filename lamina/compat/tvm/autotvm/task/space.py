"""`autotvm.task.space`: the knobs of a template, their choices, and a configuration of them.

A configuration's number has a digit for each knob, the first knob's is the lowest.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import prod
from typing import Any, TypeAlias, cast

from lamina.dialects.schedule.primitives.sample_perfect_tile import divisors
from lamina.errors import InputError, UnsupportedError, UsageError, did_you_mean
from lamina.te.tensor import IterVar


class InstantiationError(InputError):
    """A configuration that a template refuses."""


@dataclass(frozen=True)
class SplitEntity:
    """A split: sizes from the outside in, the first one -1 for what is needed."""

    size: tuple[int, ...]

    def apply(self, sch: Any, op: Any, axis: IterVar) -> list[IterVar]:
        """Split an axis; returns the parts."""
        parts: list[IterVar] = []
        for n in range(1, len(self.size)):
            outer, axis = sch[op].split(axis, prod(self.size[n:]))
            parts.append(outer)
        return [*parts, axis]

    @property
    def numbers(self) -> list[int]:
        return list(self.size)

    def json(self) -> list[Any]:
        return ["sp", list(self.size)]


@dataclass(frozen=True)
class ReorderEntity:
    """An order of axes by their positions."""

    perm: tuple[int, ...]

    def apply(self, sch: Any, op: Any, axes: Sequence[IterVar]) -> list[IterVar]:
        """Reorder axes; returns them in their order."""
        if len(axes) != len(self.perm):
            raise UsageError(f"an order of {len(self.perm)} axes for {len(axes)}")
        found = [axes[n] for n in self.perm]
        sch[op].reorder(*found)
        return found

    @property
    def numbers(self) -> list[int]:
        return list(self.perm)

    def json(self) -> list[Any]:
        return ["re", list(self.perm)]


ANNOTATIONS = ("none", "unroll", "vec")


@dataclass(frozen=True)
class AnnotateEntity:
    """A way to run each of some axes: `none`, `unroll` or `vec`."""

    anns: tuple[str, ...]

    def apply(
        self,
        sch: Any,
        op: Any,
        axes: Sequence[IterVar],
        axis_lens: Sequence[int] | None = None,
        max_unroll: int | None = None,
        vec_size: Sequence[int] | None = None,
        cfg: Any = None,
        source: Any = None,
    ) -> list[IterVar]:
        """Annotate axes; returns them. Raises InstantiationError where a length is none that may be annotated so."""
        if source is not None:
            raise UnsupportedError("AnnotateEntity.apply: source")
        for n, (axis, way) in enumerate(zip(axes, self.anns, strict=True)):
            length = axis_lens[n] if axis_lens is not None else None
            if way == "unroll":
                if max_unroll is not None and length is not None and length > max_unroll:
                    raise InstantiationError(f"unrolls {length} iterations, more than {max_unroll}")
                sch[op].unroll(axis)
            elif way == "vec":
                if vec_size is not None and length is not None and length not in vec_size:
                    raise InstantiationError(f"vectorizes {length} iterations, which is none of {list(vec_size)}")
                sch[op].vectorize(axis)
        return list(axes)

    @property
    def numbers(self) -> list[int]:
        return [ANNOTATIONS.index(a) for a in self.anns]

    def json(self) -> list[Any]:
        return ["an", list(self.anns)]


@dataclass(frozen=True)
class OtherOptionEntity:
    """A value."""

    val: Any
    place: int = 0
    """Its position among the candidates."""

    @property
    def numbers(self) -> list[int]:
        return [self.val] if type(self.val) is int else [self.place]

    def json(self) -> list[Any]:
        return ["ot", self.val]


Entity: TypeAlias = "SplitEntity | ReorderEntity | AnnotateEntity | OtherOptionEntity"


def entity_of(kind: str, value: Any) -> Entity:
    """An entity as a log has it. Raises InputError for a kind that is none."""
    if kind == "sp":
        return SplitEntity(tuple(value))
    if kind == "re":
        return ReorderEntity(tuple(value))
    if kind == "an":
        return AnnotateEntity(tuple(value))
    if kind == "ot":
        return OtherOptionEntity(value)
    raise InputError(f"no kind of knob is called {kind!r}")


@dataclass(frozen=True)
class ConfigEntity:
    """A configuration: a choice for each knob."""

    index: int
    entity_map: Mapping[str, Entity]
    is_fallback: bool = False
    """Whether nothing was found for the workload: the choices are the first of each knob."""

    def __getitem__(self, name: str) -> Any:
        """The choice of a knob, of the class that the knob's kind has."""
        if name not in self.entity_map:
            raise UsageError(f"the configuration has no knob {name!r}", hint=did_you_mean(name, list(self.entity_map)))
        return self.entity_map[name]

    @property
    def decided(self) -> dict[str, list[int]]:
        """The numbers of each choice, by the knobs' names."""
        return {name: entity.numbers for name, entity in self.entity_map.items()}

    def define_split(self, name: str, axis: Any, **_: Any) -> None:
        """Nothing: it is decided."""

    def define_reorder(self, name: str, axes: Any, policy: str, **_: Any) -> None:
        """Nothing: it is decided."""

    def define_annotate(self, name: str, axes: Any, policy: str, **_: Any) -> None:
        """Nothing: it is decided."""

    def define_knob(self, name: str, candidate: Any) -> None:
        """Nothing: it is decided."""

    def add_flop(self, flop: float) -> None:
        """Nothing: operations are counted."""

    def raise_error(self, msg: str) -> None:
        """Raise InstantiationError: the template refuses the configuration."""
        raise InstantiationError(msg)

    def to_json_dict(self) -> dict[str, Any]:
        """As logs have it."""
        entity = [[name, *e.json()] for name, e in self.entity_map.items()]
        return {"index": self.index, "code_hash": None, "entity": entity}

    @staticmethod
    def from_json_dict(data: Mapping[str, Any]) -> ConfigEntity:
        """A configuration of a log. Raises InputError where it is none."""
        try:
            found = {str(name): entity_of(kind, value) for name, kind, value in data["entity"]}
            return ConfigEntity(int(data["index"]), found)
        except (KeyError, TypeError, ValueError) as e:
            raise InputError(f"no configuration: {e}") from None

    def __str__(self) -> str:
        return f"{[(name, *e.json()) for name, e in self.entity_map.items()]},None,{self.index}"


class ConfigSpace:
    """The knobs of a template with their choices, as its first run declares them."""

    is_fallback = False

    def __init__(self) -> None:
        self.space_map: dict[str, list[Any]] = {}
        """The choices of each knob, entities of one kind."""

    def _add(self, name: str, choices: Sequence[Entity]) -> None:
        if name not in self.space_map:
            if not choices:
                raise UsageError(f"the knob {name!r} has no choice")
            self.space_map[name] = list(choices)

    def __getitem__(self, name: str) -> Any:
        """The first choice of a knob."""
        if name not in self.space_map:
            raise UsageError(f"no knob {name!r} was defined", hint=did_you_mean(name, list(self.space_map)))
        return self.space_map[name][0]

    @staticmethod
    def axis(var: Any) -> Any:
        """An axis of a program, or an extent, as `define_split` takes it."""
        return var

    reduce_axis = axis

    def define_split(self, name: str, axis: Any, policy: str = "factors", num_outputs: int = 2, **options: Any) -> None:
        """A split of an axis into so many parts, the first of which is what is needed.

        The policy says which inner sizes there are: `factors` divide the extent, `power2` are powers of two, `verbose`
        both, of which those that do not divide it leave a tail; `candidate` are lists given as `candidate`.
        `max_factor` bounds them, `filter` is a function of a SplitEntity.
        """
        extent = _extent(axis)
        if policy == "candidate":
            choices = [SplitEntity(tuple(int(n) for n in sizes)) for sizes in options["candidate"]]
        elif policy in ("factors", "power2", "verbose"):
            choices = list(_splits(extent, policy, num_outputs, int(options.get("max_factor", extent))))
        else:
            raise UsageError(f"define_split: policy {policy!r}", hint="factors, power2, verbose, candidate")
        keep: Callable[[SplitEntity], bool] | None = options.get("filter")
        self._add(name, [c for c in choices if keep is None or keep(c)])

    def define_reorder(self, name: str, axes: Sequence[Any], policy: str, **options: Any) -> None:
        """An order of axes: `identity`, `all` of them, those in which a part moves (`interval_all`), or a list.

        `candidate` lists orders as lists of axes; `interleave` mixes groups of axes (`spatial`, `reduce`).
        """
        count = len(axes)
        plain = tuple(range(count))
        if policy == "identity":
            orders = [plain]
        elif policy == "all":
            orders = list(permutations(plain))
        elif policy in ("interval_all", "interval"):
            first, end = options.get("interval", (0, count)) if policy == "interval" else (0, count)
            orders = [(*plain[:first], *p, *plain[end:]) for p in permutations(plain[first:end])]
        elif policy == "candidate":
            orders = [tuple(list(axes).index(a) for a in order) for order in options["candidate"]]
        elif policy == "interleave":
            groups = [[list(axes).index(a) for a in g] for key in ("spatial", "reduce") for g in options.get(key, ())]
            orders = [tuple(order) for order in _interleaved(groups)]
        else:
            raise UsageError(
                f"define_reorder: policy {policy!r}", hint="identity, all, interval, candidate, interleave"
            )
        self._add(name, [ReorderEntity(order) for order in dict.fromkeys(orders)])

    def define_annotate(self, name: str, axes: Sequence[Any], policy: str, **options: Any) -> None:
        """A way to run each of some axes: a policy `unroll`, `vec`, or `try_unroll`, `try_vec`, `try_unroll_vec`."""
        count = len(axes)
        ways = {
            "unroll": ("unroll",),
            "vec": ("vec",),
            "try_unroll": ("none", "unroll"),
            "try_vec": ("none", "vec"),
            "try_unroll_vec": ("none", "unroll", "vec"),
        }.get(policy)
        if policy == "candidate":
            found = [tuple(str(a) for a in anns) for anns in options["candidate"]]
        elif ways is None:
            raise UsageError(
                f"define_annotate: policy {policy!r}", hint="try_unroll, try_vec, try_unroll_vec, candidate"
            )
        elif policy in ("unroll", "try_unroll"):
            found = list(product(ways, repeat=count))
        else:  # one vector, and it is the innermost
            found = [
                (*outer, inner)
                for outer in product([w for w in ways if w != "vec"] or ["none"], repeat=count - 1)
                for inner in ways
            ]
        for anns in found:
            unknown = next((a for a in anns if a not in ANNOTATIONS), None)
            if unknown is not None or len(anns) != count:
                raise UsageError(f"define_annotate: {list(anns)} for {count} axes", hint=", ".join(ANNOTATIONS))
        self._add(name, [AnnotateEntity(anns) for anns in found])

    def define_knob(self, name: str, candidate: Any) -> None:
        """A value of a list."""
        values = list(cast("Sequence[Any]", candidate)) if isinstance(candidate, (list, tuple, range)) else [candidate]
        self._add(name, [OtherOptionEntity(value, n) for n, value in enumerate(values)])

    def add_flop(self, flop: float) -> None:
        """Nothing: operations are counted."""

    def raise_error(self, msg: str) -> None:
        """Nothing: the first run tells the knobs, not whether their choices are good."""

    def __len__(self) -> int:
        """The number of configurations."""
        return prod(len(choices) for choices in self.space_map.values())

    def get(self, index: int) -> ConfigEntity:
        """The configuration of a number. Raises UsageError where there is none."""
        if not 0 <= index < len(self):
            raise UsageError(f"there are {len(self)} configurations, and none of the number {index}")
        left, found = index, dict[str, Entity]()
        for name, choices in self.space_map.items():
            left, digit = divmod(left, len(choices))
            found[name] = choices[digit]
        return ConfigEntity(index, found)

    def index_of(self, digits: Sequence[int]) -> int:
        """The number of a configuration whose choices are given by their positions."""
        found = 0
        for digit, choices in reversed(list(zip(digits, self.space_map.values(), strict=True))):
            found = found * len(choices) + digit
        return found

    def digits(self, index: int) -> list[int]:
        """The positions of the choices of a number."""
        found: list[int] = []
        for choices in self.space_map.values():
            index, digit = divmod(index, len(choices))
            found.append(digit)
        return found

    def redrawn(self, digits: Sequence[int], knobs: float, r: random.Random) -> list[int]:
        """Choices of which so many are drawn anew on average, at least one."""
        sizes = [len(choices) for choices in self.space_map.values()]
        share = min(knobs / max(len(sizes), 1), 1.0)
        chosen = [n for n in range(len(sizes)) if r.random() < share] or [r.randrange(len(sizes))]
        return [r.randrange(sizes[n]) if n in chosen else digit for n, digit in enumerate(digits)]

    def __str__(self) -> str:
        lines = [f"ConfigSpace (len={len(self)}, space_map="]
        for n, (name, choices) in enumerate(self.space_map.items()):
            kind = type(choices[0]).__name__.removesuffix("Entity").removesuffix("Option")
            lines.append(f"  {n:2d} {name}: {kind} (len={len(choices)})")
        return "\n".join(lines) + "\n)"


def _extent(axis: Any) -> int:
    """The extent of an axis of a program; a number is one."""
    if isinstance(axis, int):
        return axis
    extent = getattr(getattr(axis, "dom", None), "extent", None)
    value = getattr(extent, "value", extent)
    if not isinstance(value, int):
        raise UsageError(f"define_split: {axis!r} is no axis of a known extent")
    return value


def _splits(extent: int, policy: str, parts: int, most: int) -> Iterator[SplitEntity]:
    """The splits of a policy. The product of the inner sizes is at most the extent, and divides it for `factors`."""
    sizes = set(divisors(extent)) if policy != "power2" else set[int]()
    if policy != "factors":
        sizes |= {2**n for n in range(extent.bit_length())}
    allowed = sorted(s for s in sizes if s <= min(most, extent))
    for inner in product(allowed, repeat=parts - 1):
        size = prod(inner)
        if extent % size == 0 or (policy != "factors" and size < extent):
            yield SplitEntity((-1, *reversed(inner)))


def _interleaved(groups: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """The ways to mix groups without changing the order within one."""
    left = [g for g in groups if g]
    if not left:
        yield []
    for n, group in enumerate(left):
        rest = [g[1:] if m == n else g for m, g in enumerate(left)]
        for order in _interleaved(rest):
            yield [group[0], *order]
