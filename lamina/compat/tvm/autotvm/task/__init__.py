"""`autotvm.task`: kernels of programs, and templates with arguments, whose schedules are searched for."""

from __future__ import annotations

from typing import Any

from lamina.compat.tvm.autotvm.task import space
from lamina.compat.tvm.autotvm.task.kernels import (
    LoggedTask,
    Task,
    extract_from_multiple_program,
    extract_from_program,
)
from lamina.compat.tvm.autotvm.task.space import ConfigEntity, ConfigSpace
from lamina.compat.tvm.autotvm.task.template import TemplateTask, create, get_config, template
from lamina.ir.tvm_names import missing

__all__ = [
    "ConfigEntity",
    "ConfigSpace",
    "LoggedTask",
    "Task",
    "TemplateTask",
    "create",
    "extract_from_multiple_program",
    "extract_from_program",
    "get_config",
    "space",
    "template",
]


def __getattr__(name: str) -> Any:
    raise missing(__name__, name, globals())
