"""The libraries of the run-time, its blocks of memory, and the functions of other libraries that code calls."""

from __future__ import annotations

from lamina.dialects.machine_spec import STACK_PROBE

HERE = "linux_x86_64"
"""The system that programs run on in a process of the compiler."""

HEADER_BYTES = 256
"""Size of the pool's block before the list of threads; the layout is drawn in pool.mlir."""
LINE_BYTES = 64
"""Of a line of the caches: what a thread writes and others wait for stands alone in one."""
STATUS_WORDS = 4
"""Size of the status block, in i64."""

PARTS = {
    "pool": ("run", "pool"),
    "float_support": ("float_support",),
    "trace": ("trace",),
}
"""The libraries of the run-time in a process, and their modules."""

FLOAT_SUPPORT = ("__extendhfsf2", "__truncsfhf2", "__truncsfbf2", "__truncdfhf2", "__truncdfbf2")
"""Functions that LLVM calls for 16-bit floats where the processor has no instruction for them."""
_ROUNDING = ("ceil", "floor", "nearbyint", "rint", "round", "roundeven", "trunc")
SUPPORT = {
    "float_support": FLOAT_SUPPORT,
    "rounding_f32": tuple(f"{name}f" for name in _ROUNDING),
    "rounding_f64": _ROUNDING,
    "stack_probe": (STACK_PROBE,),
}
"""The modules that a net may need for what its processor has no instruction for, or its system no function, and their
functions."""

EXPORTS = {
    "pool": ("lamina_run", "lamina_parallel", "lamina_team", "lamina_meet", "lamina_pool_start", "lamina_pool_stop"),
    "float_support": FLOAT_SUPPORT,
    "trace": ("lamina_traced", "lamina_traced_limit"),
}
"""The functions of each library that others call: the pool and the runner; the conversions that 16-bit floats need on
older processors; the functions that note times."""

OF_NETS = frozenset({*EXPORTS["pool"], "lamina_net_pool", "lamina_net_bytes", "lamina_net_stop"})
"""The functions of the run-time in an exported net, which is not of such a name."""

DATA = "lamina.data"
"""The symbol of the first byte of the packed weights."""

PACKING = "pack."
"""The beginning of the names of the program that packs weights."""

_LIBC, _LIBM = "libc.so.6", "libm.so.6"
_OF_MEMORY = ("free", "malloc", "memcpy", "memmove", "memset")
_OF_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs floor fma"
    " fmax fmin fmod hypot ldexp lgamma log log10 log1p log2 nearbyint pow remainder rint round roundeven sin sinh sqrt"
    " tan tanh tgamma trunc"
).split()
"""Functions that LLVM calls where a kernel asks for one that it does not compute itself, a cosine for instance."""
_OF_ARM = "ldivmod uldivmod lmul l2f l2d ul2f ul2d f2lz f2ulz d2lz d2ulz idiv uidiv idivmod uidivmod".split()
"""Arithmetic of 64 bits, and conversions of it, on Arm of 32 bits (Run-time ABI for the Arm Architecture)."""
IMPORTS = {
    **dict.fromkeys((f"__aeabi_{name}" for name in _OF_ARM), "libgcc_s.so.1"),
    **dict.fromkeys(_OF_MEMORY, _LIBC),
    **{name + suffix: _LIBM for name in _OF_MATH for suffix in ("", "f")},
}
"""Functions of other libraries that kernels may call, and where they are."""
_OF_THREADS = ("create", "join", "attr_init", "attr_destroy", "attr_setstacksize")
IMPORTS_OF_POOL = dict.fromkeys((*(f"pthread_{name}" for name in _OF_THREADS), "sched_yield", "syscall"), _LIBC)
"""Those that the pool of threads calls."""
