"""Damaged models: bytes changed at random, and tables that lie about what there is."""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
from tflite_build import Graph, Op, T, build, one


def small() -> bytes:
    """A model of several operators, weights, a variable and two subgraphs."""
    x, w, c, p, r, y = (
        T((1, 6, 6, 2)),
        T.of(np.ones((4, 3, 3, 2))),
        T((1, 6, 6, 4)),
        T((1, 3, 3, 4)),
        T((1, 36)),
        T((1, 36)),
    )
    flag, a, b = T.of(np.array([True])), T((1, 36)), T((1, 36))
    window = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
    ops = [
        Op("CONV_2D", [x, w, T.of(np.zeros(4))], [c], window),
        Op("MAX_POOL_2D", [c], [p], {**window, "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2}),
        Op("RESHAPE", [p, T.of(np.array([1, 36]))], [r], {"new_shape": [1, 36]}),
        Op("IF", [flag, r], [y], {"then_subgraph_index": 1, "else_subgraph_index": 1}),
    ]
    return build(Graph([x], [y], ops), Graph([a], [b], [Op("RELU", [a], [b])]))


def mutations(data: bytes, count: int, seed: int = 0) -> Iterator[bytes]:
    """Copies with a few bytes, or a number of 32 bits, changed, or cut off."""
    rng = random.Random(seed)
    extreme = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0, 1 << 30, len(data), 1 << 20)
    for _ in range(count):
        changed = bytearray(data)
        kind = rng.randrange(4)
        if kind == 0:
            for _ in range(rng.randrange(1, 6)):
                changed[rng.randrange(8, len(data))] = rng.randrange(256)
        elif kind == 1:
            struct.pack_into("<I", changed, rng.randrange(2, len(data) // 4) * 4, rng.choice(extreme))
        elif kind == 2:
            place = rng.randrange(2, len(data) // 4) * 4
            (old,) = struct.unpack_from("<I", changed, place)
            struct.pack_into("<I", changed, place, (old + rng.choice((-8, -4, -1, 1, 4, 8, 256))) & 0xFFFFFFFF)
        else:
            del changed[rng.randrange(8, len(data)) :]
        yield bytes(changed)


def hand_made() -> dict[str, bytes]:
    """Models that lie, each in its own way."""
    x, y = T((1, 4)), T((1, 4))
    made: dict[str, bytes] = {}
    huge = 2**31 - 1

    def put(name: str, *graphs: Graph) -> None:
        made[name] = build(*graphs)

    made["empty"] = b""
    made["only an identifier"] = b"\x08\0\0\0TFL3"
    made["root beyond the end"] = b"\xff\xff\xff\x7fTFL3" + bytes(64)
    made["root at the end"] = struct.pack("<I", 71) + b"TFL3" + bytes(64)
    made["zeros"] = struct.pack("<I", 8) + b"TFL3" + bytes(256)
    made["ones"] = struct.pack("<I", 8) + b"TFL3" + b"\xff" * 256
    whole = small()
    made["half"] = whole[: len(whole) // 2]
    made["without its last byte"] = whole[:-1]
    made["twice"] = whole + whole
    put("no subgraph")
    put("no operator", Graph([x], [x], []))
    put("an output that nobody makes", Graph([x], [T((3,))], []))
    put("an input that is an output twice", Graph([x], [x, x], []))
    put("a result before it is made", Graph([x], [y], [Op("ADD", [x, y], [y])]))
    for name, shape in (("huge", (huge, huge, huge)), ("large", (1 << 20, 1 << 12)), ("negative", (-5, 3))):
        made[f"an input of {name} extents"] = one("RELU", [T(shape)], [T(shape)])
    made["a constant of huge extents"] = one("ADD", [x, T((huge, huge), data=np.ones(4, np.float32))], [y])
    made["a constant of few bytes"] = one("ADD", [x, T((1, 400), data=np.ones(4, np.float32))], [y])
    for op in ("FILL", "TILE", "BROADCAST_TO", "RESHAPE"):
        sizes = T.of(np.array([huge, huge], np.int32))
        made[f"{op} of huge extents"] = one(op, [sizes, T.of(np.float32(1))] if op == "FILL" else [x, sizes], [y])
    made["a huge range"] = one("RANGE", [T.of(np.float32(v)) for v in (0, 3e38, 1e-38)], [y])
    made["a huge padding"] = one("PAD", [x, T.of(np.array([[0, huge], [huge, 0]], np.int32))], [y])
    window: dict[str, Any] = {
        "padding": "SAME",
        "stride_h": 0,
        "stride_w": huge,
        "filter_width": huge,
        "filter_height": 0,
    }
    made["windows of no extent"] = one("MAX_POOL_2D", [T((1, 4, 4, 1))], [T((1, 4, 4, 1))], **window)
    made["a split into none"] = one("SPLIT", [T.of(np.int32(1)), x], [y], num_splits=0)
    made["an unpack of many"] = one("UNPACK", [x], [y], axis=1, num=huge)
    made["a resize to none"] = one("RESIZE_BILINEAR", [T((1, 4, 4, 1)), T.of(np.array([0, 9], np.int32))], [y])
    made["axes out of range"] = one("SUM", [x, T.of(np.array([7], np.int32))], [y])
    made["a stride of zero"] = one("STRIDED_SLICE", [x, *(T.of(np.array(v, np.int32)) for v in ([0], [3], [0]))], [y])
    made["an operator without operands"] = one("CONV_2D", [], [y])
    made["an operator without results"] = one("RELU", [x], [])
    made["an operator of many operands"] = one("RELU", [x] * 900, [y])
    put("a subgraph that calls itself", Graph([x], [y], [Op("CALL", [x], [y], {"subgraph": 0})]))
    put("a subgraph that is not there", Graph([x], [y], [Op("CALL", [x], [y], {"subgraph": 77})]))
    tower = [Graph([x], [y], [Op("CALL", [x], [y], {"subgraph": 1})])]
    for k in range(1, 40):  # each calls the next one twice
        a, b, c = T((1, 4)), T((1, 4)), T((1, 4))
        into = {"subgraph": min(k + 1, 40)}
        tower.append(Graph([a], [c], [Op("CALL", [a], [b], into), Op("CALL", [b], [c], into)]))
    a, b = T((1, 4)), T((1, 4))
    put("subgraphs that double", *tower, Graph([a], [b], [Op("RELU", [a], [b])]))
    put("one table for all operators", Graph([x], [y], [Op("ADD_N", [x] * 2000, [y])], repeat=2000))
    return made
