"""The errors that users see, and the exit status each has.

Every room may raise these: the module imports nothing. `what` is one sentence without a full stop, `where` names
the place (`model.onnx: node "Conv_3"`, `f.mlir:3:8`), `hint` says what to do. An error raised inside a pass gives
the op instead of `where`; its location is looked up when the error is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from xdsl.ir import Operation

EXIT_OK = 0
EXIT_INPUT = 1
EXIT_USAGE = 2
EXIT_UNSUPPORTED = 3
EXIT_INTERNAL = 70


class LaminaError(RuntimeError):
    """Base of all errors of Lamina: bad input, unless a subclass says otherwise. A RuntimeError, as TVM's are."""

    exit_status: ClassVar[int] = EXIT_INPUT

    def __init__(self, what: str, *, where: str = "", hint: str = "", op: Operation | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint
        self.op = op

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text}; {self.hint}" if self.hint else text


class InputError(LaminaError):
    """The input (a model, a text file, an array) is wrong."""


class ExtentError(InputError):
    """An array has an extent that a program was not made for; one for its shape may take it."""


class UsageError(LaminaError):
    """The command line or the call is wrong: an unknown pass, a bad option."""

    exit_status = EXIT_USAGE


class OpenExtentError(UsageError):
    """A model leaves an extent open that has to be given."""


class UnsupportedError(LaminaError):
    """The input is right, but Lamina cannot do it (yet)."""

    exit_status = EXIT_UNSUPPORTED


class InternalError(LaminaError):
    """A fault of Lamina itself."""

    exit_status = EXIT_INTERNAL


def render_error(error: BaseException) -> str:
    """One line: `error: <where>: <what>; <what to do>`."""
    text = str(error) if isinstance(error, LaminaError) else f"{type(error).__name__}: {error}"
    return "error: " + " ".join(text.split("\n"))


def exit_status(error: BaseException) -> int:
    """The status a command ends with: the error's own, 70 for anything that is not a LaminaError."""
    return error.exit_status if isinstance(error, LaminaError) else EXIT_INTERNAL


def printable(path: str) -> str:
    """A path as text that can be written: bytes that are not UTF-8 as escapes."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")


def shown(name: str) -> str:
    """A name from a model as messages show it: escaped, quoted, at most 80 characters."""
    text = name.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{text}"' if len(text) <= 80 else f'"{text[:77]}..."'


def about(error: BaseException, op: Operation) -> None:
    """Say of an exception which op was being read or rewritten as it arose; the first that says so is right."""
    if getattr(error, "op", None) is None:
        error.op = op  # type: ignore[attr-defined]


def did_you_mean(name: str, known: list[str]) -> str:
    """`did you mean 'cse'?`, or an empty string when nothing known is near."""
    from difflib import SequenceMatcher, get_close_matches
    from os.path import commonprefix

    near = get_close_matches(name, known, n=6, cutoff=0.6)
    # Of equally near ones first those that begin alike.
    near.sort(key=lambda k: (-round(SequenceMatcher(None, name, k).ratio(), 2), -len(commonprefix([name, k]))))
    del near[3:]
    # A wrong prefix or dialect costs the ratio most, so try the last part of the name alone.
    if not near:
        tail = name.rsplit(".", 1)[-1]
        near = [k for k in known if k.rsplit(".", 1)[-1] == tail][:3]
    if not near:
        return ""
    return f"did you mean {' or '.join(repr(n) for n in near)}?"
