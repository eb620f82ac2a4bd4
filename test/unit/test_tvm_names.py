"""The list of TVM's names: what is bridged is there, what is not says what to use."""

from __future__ import annotations

import pytest

import lamina.compat.tvm as tvm
from lamina.errors import UsageError
from lamina.ir.tvm_names import INSTEAD
from tools.reference.tvm_names import is_bridged, listed_names, tvm_names_page, use_instead

NAMES = [(title, name) for title, names in listed_names() for name in names]


def test_every_name_that_is_not_bridged_has_something_to_use_instead() -> None:
    missing = [name for title, name in NAMES if not is_bridged(title, name)]
    assert [name for name in missing if not use_instead(name)] == []


def test_most_names_are_bridged() -> None:
    found = [name for title, name in NAMES if is_bridged(title, name)]
    assert len(NAMES) > 500 and len(found) > 0.75 * len(NAMES)
    assert f"{len(found)} of {len(NAMES)} names are bridged" in tvm_names_page()


def test_nothing_that_is_bridged_is_said_to_be_missing() -> None:
    told = [name for name in INSTEAD if is_bridged("", name)]
    assert told == []


@pytest.mark.parametrize("name", ["relay.nn.bitpack", "relay.collage", "relay.frontend.from_paddle", "rpc"])
def test_the_error_says_what_the_page_says(name: str) -> None:
    at: object = tvm
    *path, last = name.split(".")
    for part in path:
        at = getattr(at, part)
    with pytest.raises(AttributeError, match="is not bridged; use "):
        getattr(at, last)


def test_functions_are_found_by_the_names_they_are_given() -> None:
    from lamina.compat.tvm import global_functions as functions

    def add(a: int, b: int) -> int:
        return a + b

    added = tvm.register_func("test.add", add)
    try:
        assert tvm.get_global_func("test.add") is added and added(2, 3) == 5
        with pytest.raises(UsageError, match="'test.add' is registered already; override=True replaces it"):
            tvm.register_func("test.add")(max)
        tvm.register_func("test.add", max, override=True)
        assert tvm.get_global_func("test.add")(2, 3) == 3 and "test.add" in functions.list_global_func_names()
        with pytest.raises(ValueError, match="cannot find the global function 'test.ad'; did you mean 'test.add'"):
            tvm.get_global_func("test.ad")
        assert tvm.get_global_func("test.ad", allow_missing=True) is None
    finally:
        functions.remove_global_func("test.add")
    assert tvm.get_global_func("test.add", True) is None
