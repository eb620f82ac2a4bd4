"""Python's collector of cycles, kept out of the way of compilations.

It looks at all objects that were made since it last ran. A compilation makes a quarter of a million, of which most stay
alive to its end, so that looking is nearly all in vain: 0.2 s for ResNet-50, 0.6 s for DenseNet-121.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

MANY = 50_000
"""Objects that take a while to look at."""
AT_LAST = 2_000_000
"""So many objects of earlier compilations may wait, among them garbage, before all objects are looked at."""
SHARE_OF_ALIVE = 0.5
"""Or so many of those that the last look left alive, where that is more: a look takes time by their number, so that
every further compilation would pay for all programs that are kept. A half: with 12 million objects alive 80
compilations of 250,000 look three times rather than ten and take 0.6 of the time, for memory of some six million
objects more.
"""
_waiting = 0
_alive = 0
"""Objects that the last look left."""
FROZEN_BY_PYTHON = 2000
"""Python 3.12 starts with some hundred frozen objects; a program that freezes has more: gc.freeze takes all."""


@contextmanager
def quiet_gc() -> Generator[None]:
    """No cyclic collection while many ops are made.

    What was made joins the oldest objects, which are looked at seldom, rather than the youngest, which would be looked
    at as soon as this ends. Where a program has frozen objects of its own, these stay frozen and ours are the youngest.
    """
    global _waiting, _alive
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            made = gc.get_count()[0]
            if made >= MANY and gc.get_freeze_count() < FROZEN_BY_PYTHON:
                _waiting += made
                if _waiting >= max(AT_LAST, SHARE_OF_ALIVE * _alive):
                    gc.collect()
                    _waiting, _alive = 0, len(gc.get_objects())
                else:
                    gc.freeze()
                    gc.unfreeze()
            gc.enable()
