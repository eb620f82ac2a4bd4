"""Modules to compile, made anew each time from where a model came from, and the choices that they are compiled by."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from lamina.driver.model import Model, Origin, Shapes, Source, port_of
from lamina.errors import OpenExtentError, UsageError
from lamina.passes.relay.layout.legal_forms import any_registered
from lamina.passes.relay.partition.external_backends import is_foreign
from lamina.store.program_cache import program_key

if TYPE_CHECKING:
    from lamina.dialects.machine_spec import TargetSpec
    from lamina.driver.compilation import Fresh
    from lamina.driver.compilation import Source as _Module
    from lamina.driver.relay_source import ReadProgram
    from lamina.driver.settings import Settings
    from lamina.frontends.imported import ImportedModel

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


def source_of(
    model: Model | Source, shapes: Shapes | None, states: Mapping[str, str] | None = None
) -> tuple[Origin, Fresh]:
    """Origin of a model, and what gives its module. Raises UsageError for shapes or states of one that is loaded."""
    if not isinstance(model, Model):
        origin = Origin.of(model, shapes, states=states)
        return origin, Imports(origin)
    if shapes or states:
        what = "shapes" if shapes else "states"
        raise UsageError(f"the {what} of a loaded model are fixed", hint="give them to lamina.load")
    return model.origin, copies_of(model)


def copies_of(model: Model) -> Fresh:
    """A function that copies the module of a model."""

    def fresh() -> _Module:
        from lamina.driver.compilation import Source

        return Source(model.module.clone(), model.params, model.label, model.inputs)

    return fresh


class Imports:
    """Imports a model anew each time, for all sizes of extents that are open."""

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.opened: OpenExtentError | None = None
        """The error of an import for given sizes, where there are open extents."""
        self.foreign = False
        """Whether it was seen to hold ops whose meaning the digest of its origin does not tell."""

    def __call__(self) -> _Module:
        from lamina.driver.compilation import Source

        imported = self._imported()
        self.foreign = getattr(imported, "foreign", False)
        return Source(imported.module, imported.store, imported.label, tuple(map(port_of, imported.inputs)))

    def _imported(self) -> ImportedModel | ReadProgram:
        if self.opened is None:
            try:
                return self.origin.read()
            except OpenExtentError as e:
                self.opened = e
        return replace(self.origin, any_size=True).read()


def key_of(origin: Origin, settings: Settings, answers: Mapping[str, str]) -> str:
    """The key of a program in the cache, empty where none holds all that decides it.

    That are programs of a backend from another package, and those with forms of ops that a user has written.
    """
    target = settings.target
    if origin.digest is None or any_registered() or any(map(is_foreign, target.backend_list())):
        return ""
    passes, records = str(settings.context), settings.context.records
    return program_key(
        origin.digest, origin.shapes, target.text(), passes, settings.sanitize, answers, records, origin.states
    )
