"""Settings that decide, besides a model, the result of a compilation: the target, the passes that run, checks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from lamina.ir.targets import spec_of
from lamina.transform import RECORDS, PassContext

if TYPE_CHECKING:
    from lamina.dialects.machine_spec import TargetSpec
    from lamina.dialects.target import TargetAttr
    from lamina.driver.pipelines import Pipeline


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of a compilation. To have them costs the import of no compiler."""

    target: TargetSpec
    context: PassContext
    sanitize: bool = False
    """Whether kernels check their accesses while they run."""
    small: bool = False
    """Whether a library has the weights before packing enlarges them, and packs them when it is loaded."""

    @staticmethod
    def of(
        target: str | TargetAttr = "cpu",
        threads: int | None = None,
        opt_level: int | PassContext | None = None,
        numerics: str | None = None,
        sanitize: bool = False,
        records: str | os.PathLike[str] | None = None,
    ) -> Settings:
        """Settings from what a user has given; the rest as the current PassContext says, at level 3 outside of all."""
        given = PassContext.of(opt_level) if opt_level is not None else PassContext.active() or PassContext(3)
        config = None if records is None else {f"{RECORDS}.file": os.fspath(records)}
        return Settings(spec_of(target, threads), given.changed(numerics, config), sanitize)

    @cached_property
    def attr(self) -> TargetAttr:
        """The target as modules have it."""
        return self.target.attr()

    @cached_property
    def pipeline(self) -> Pipeline:
        """The passes that run, made once. Raises UsageError for a context that no program can be compiled with."""
        from lamina.driver.pipelines import Pipeline

        return Pipeline(self.context, self.sanitize, self.target)
