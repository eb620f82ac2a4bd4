"""Passes that a target adds to those that compile a model.

The file `backends/<kind>/pipeline.py` of a target of that kind has them in a list PASSES, with the place of each:

    PASSES = (
        AddedPass("cpu-flat-convolutions", "after relay-fold-transpose", "transposes are gone: ..."),
        AddedPass("cpu-schedule", "after relay-to-te", "..."),
    )

Beside it a function `target(threads)` gives the machine that the backend's name stands for, a `TargetSpec` of its kind.
Where it has the passes of another kind, `BASE` names that one, and `LEFT_OUT` those of them that do not run, with the
reasons.
`lamina/driver/pipelines.py` has the passes that all targets share.
"""

from __future__ import annotations

from typing import NamedTuple


class AddedPass(NamedTuple):
    """A pass, where it stands and why it stands there."""

    text: str
    """The pass as a pipeline writes it, with options where it has any."""
    place: str
    """`after P` or `before P`, of a pass P that stands once; those of one place keep the order of the list."""
    why: str
    lays_out: bool = False
    """Whether it makes a graph what our own kernels want: external backends take their parts before the first such."""
