"""Modules to compile, made anew each time from where a model came from, and the choices that they are compiled by."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from lamina.driver.model import Model, Origin, Shapes, Source, port_of
from lamina.errors import UsageError

if TYPE_CHECKING:
    from lamina.dialects.machine_spec import TargetSpec
    from lamina.driver.compilation import Fresh
    from lamina.driver.compilation import Source as _Module

Choice: TypeAlias = "str | os.PathLike[str] | Mapping[str, str] | None"


def answers_of(choices: Choice, target: TargetSpec) -> Mapping[str, str]:
    """The answers by question, from a choice file where one is given."""
    if choices is None or isinstance(choices, Mapping):
        return choices or {}
    from lamina.store.choice_file import read_choices

    return read_choices(choices, target.attr())


def with_choices(fresh: Fresh, answers: Mapping[str, str]) -> Fresh:
    """The modules with the choices that they are to be compiled by."""
    if not answers:
        return fresh

    def chosen() -> _Module:
        from lamina.dialects.choices import CHOICES, attribute

        source = fresh()
        source.module.attributes[CHOICES] = attribute(answers)
        return source

    return chosen


def source_of(model: Model | Source, shapes: Shapes | None) -> tuple[Origin, Fresh]:
    """Origin of a model, and what gives its module. Raises UsageError for shapes of a model that is loaded."""
    if not isinstance(model, Model):
        origin = Origin.of(model, shapes)
        return origin, Imports(origin)
    if shapes:
        raise UsageError("the shapes of a loaded model are fixed", hint="give them to lamina.load")
    return model.origin, copies_of(model)


def copies_of(model: Model) -> Fresh:
    """A function that copies the module of a model."""

    def fresh() -> _Module:
        from lamina.driver.compilation import Source

        return Source(model.module.clone(), model.params, model.label, model.inputs)

    return fresh


class Imports:
    """Imports a model anew each time."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.foreign = False
        """Whether it was seen to hold ops whose meaning the digest of its origin does not tell."""

    def __call__(self) -> _Module:
        from lamina.driver.compilation import Source

        imported = self.origin.read()
        self.foreign = getattr(imported, "foreign", False)
        return Source(imported.module, imported.store, imported.label, tuple(map(port_of, imported.inputs)))
