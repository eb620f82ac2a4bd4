"""Options of TVM 0.8's tvmc: those that commands of ours have under its names, and those that are refused by name."""

from __future__ import annotations

import re
from argparse import SUPPRESS, Action, ArgumentTypeError
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lamina.errors import UnsupportedError

_SHAPE = re.compile(
    r"""
    [\s,]* (?: '([^']+)' | "([^"]+)" | ([^\s,'"\[\]]*[^\s,'"\[\]:]) )   # the name, which may have colons inside
    \s* : \s* \[ \s* ( (?: -?\d+ \s* , \s* )* (?: -?\d+ )? ) \s* \] \s*
    """,
    re.VERBOSE,
)


def parse_shapes(text: str) -> dict[str, list[int]]:
    """Shapes of inputs by their names, of `x:[1,3,224,224] y:[1,8]`. Raises ArgumentTypeError."""
    found: dict[str, list[int]] = {}
    at = 0
    while at < len(text) or not found:
        match = _SHAPE.match(text, at)
        if match is None:
            raise ArgumentTypeError(f"{text!r} is no list of shapes; as in 'x:[1,3,224,224] y:[1,8]'")
        name = next(g for g in match.groups()[:3] if g is not None)
        found[name] = [int(n) for n in match.group(4).split(",") if n.strip()]
        at = match.end()
    return found


def names_of(given: str | Sequence[str]) -> list[str]:
    """The names of an option that takes several with commas, or is given several times."""
    texts = [given] if isinstance(given, str) else given
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


class OptionRefusal(NamedTuple):
    """The reason why an option is not there, and what does the same."""

    why: str
    hint: str


class RefusedOption(Action):
    """An option that is not there: giving it raises UnsupportedError with the reason, whatever value follows."""

    def __init__(self, option_strings: list[str], dest: str, refusal: OptionRefusal, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs="?", default=SUPPRESS, help=SUPPRESS)
        self.refusal = refusal

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        """Refuse."""
        raise UnsupportedError(f"{option_string}: {self.refusal.why}", hint=self.refusal.hint)


def add_refused(parser: Any, options: Mapping[str, OptionRefusal]) -> None:
    """Add options that are refused; names of one option are parted by blanks."""
    for names, refusal in options.items():
        parser.add_argument(*names.split(), action=RefusedOption, refusal=refusal)


_RPC = OptionRefusal(
    "programs run on this machine, not through RPC", "copy the program to the device, and run it there"
)
RPC = {f"--{option}": _RPC for option in ("rpc-key", "rpc-tracker")}
"""Options that ask for another machine."""
_FIGURES = OptionRefusal(
    "figures of the processor are measured", "`lamina calibrate`; threads are -num-cores of the target"
)
HARDWARE = {
    f"--{option}": _FIGURES
    for option in (
        *("cache-line-bytes", "num-cores", "vector-unit-bytes", "max-shared-memory-per-block", "warp-size"),
        *("max-local-memory-per-block", "max-threads-per-block", "max-vthread-extent"),
    )
}
"""Options that tell the auto-scheduler of a processor."""

_TVMC = "`python -m lamina.compat.tvm.driver.tvmc"
_CROSS = OptionRefusal("no compiler is called, for other machines neither", "leave it out")
MODELS = {
    "--model-format": OptionRefusal("the file says its format", f"leave it out; {_TVMC}` has it"),
    "--target-host": OptionRefusal("programs are called from the machine of the target", "leave it out"),
    "--tuning-records": OptionRefusal(
        "schedules come from records of `lamina tune`", f"--records FILE.jsonl; {_TVMC}` has its logs"
    ),
}
"""Options of models."""
COMPILE = {
    "--cross-compiler": _CROSS,
    "--cross-compiler-options": _CROSS,
    "-f --output-format": OptionRefusal(
        "the ending of -o says the format: .so, .a, .o, .c, .wasm, .lamina", f"{_TVMC} compile` writes so and mlf"
    ),
    **MODELS,
}
RUN = {
    "--device": OptionRefusal("programs run on the processor, as their target says", "leave it out, or give --target"),
    **RPC,
}
_SEARCH = OptionRefusal("a search measures as often as it takes to tell candidates apart", "leave it out")
_TOGETHER = OptionRefusal(
    "a search takes the kernels by their share of an inference",
    f"--minutes and --trials bound it; {_TVMC} tune` has it",
)
TUNE = {
    **{f"--{option}": _SEARCH for option in ("number", "repeat", "min-repeat-ms", "timeout", "parallel")},
    "--enable-autoscheduler": _TOGETHER,
    "--include-simple-tasks": _TOGETHER,
    "--log-estimated-latency": _TOGETHER,
    **MODELS,
    **HARDWARE,
    **RPC,
}
