"""The te dialect: index equations (`ops.py`), schedules (`schedule.py`) and their Python spelling (`lib.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xdsl.ir import Dialect

    TE: Dialect


def __getattr__(name: str) -> Any:
    if name != "TE":
        raise AttributeError(name)
    from xdsl.ir import Dialect

    from lamina.dialects.index.index_map import IndexMapAttr, IndexSetAttr
    from lamina.dialects.schedule import ops as schedule
    from lamina.dialects.te import extern, ops, scan

    def classes(module: Any) -> list[Any]:
        return [getattr(module, n) for n in module.__all__]

    stages = classes(ops) + classes(scan) + classes(extern)
    globals()["TE"] = te = Dialect("te", stages + schedule.operations(), [IndexMapAttr, IndexSetAttr, *schedule.ATTRS])
    return te
