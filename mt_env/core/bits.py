"""Bit sets and the random generator: the few operations that compiled and plain Python spell differently.

Hands are bit sets of three ``uint64`` words (tile id = word * 64 + bit). Each helper has a plain Python
body, used with the JIT off, and a compiled overload; both give equal results.

The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
OOPSLA 2014): state += GAMMA, output = mix of the state. It is part of the environment version: a change
would change every deal.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

Int: TypeAlias = Any
"""A whole number in a kernel: Python's int or a NumPy integer, which compiled code treats alike."""

Flag: TypeAlias = Any
"""A truth value in a kernel: Python's bool or NumPy's."""

WORDS: Final[int] = 3
"""Words of a bit set over all 190 tiles."""

_MASK: Final[int] = (1 << 64) - 1
_GAMMA: Final[int] = 0x9E3779B97F4A7C15
_M1: Final[int] = 0xBF58476D1CE4E5B9
_M2: Final[int] = 0x94D049BB133111EB


def _mix_int(x: int) -> int:
    x = ((x ^ (x >> 30)) * _M1) & _MASK
    x = ((x ^ (x >> 27)) * _M2) & _MASK
    return x ^ (x >> 31)


def ctz(x: Any) -> Any:
    """Index of the lowest set bit of a non-zero ``uint64``."""
    value = int(x)
    return (value & -value).bit_length() - 1


def popcount(x: Any) -> Any:
    """Number of set bits of a ``uint64``."""
    return int(x).bit_count()


def mix64(x: Any) -> Any:
    """SplitMix64's output function: a bijection of ``uint64`` that scatters nearby numbers."""
    return np.uint64(_mix_int(int(x)))


def stream(a: Any, b: Any) -> Any:
    """The design's ``mix(a, b)``: seed number ``b`` of the family of seeds ``a``, both ``uint64``.

    Equals output ``b`` (from 0) of a SplitMix64 whose state starts at ``mix64(a)``.
    """
    return np.uint64(_mix_int((_mix_int(int(a)) + (int(b) + 1) * _GAMMA) & _MASK))


def next64(rng: Any) -> Any:
    """Next ``uint64`` of the generator whose state is ``rng[0]`` (array of one ``uint64``)."""
    state = (int(rng[0]) + _GAMMA) & _MASK
    rng[0] = np.uint64(state)
    return np.uint64(_mix_int(state))


def below(rng: Any, n: Any) -> Any:
    """Uniform integer in ``[0, n)``, ``1 <= n < 2**31``: high 32 bits times n (bias under n / 2**32)."""
    return ((int(next64(rng)) >> 32) * int(n)) >> 32


def draw_below(state: Any, index: Any, n: Any) -> Any:
    """What `below` gives as draw number ``index`` (from 0) of the generator that begins at ``state``."""
    output = _mix_int((int(state) + (int(index) + 1) * _GAMMA) & _MASK)
    return ((output >> 32) * int(n)) >> 32


def bit(i: Any) -> Any:
    """``uint64`` with only bit ``i`` (0..63) set."""
    return np.uint64(1 << int(i))


def drop_lowest(x: Any) -> Any:
    """``x`` without its lowest set bit."""
    value = int(x)
    return np.uint64(value & (value - 1))


@intrinsic
def _cttz(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def _ctpop(typingctx: Any, x: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


_U1 = np.uint64(1)
_U27, _U30, _U31, _U32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_UM1, _UM2, _UG = np.uint64(_M1), np.uint64(_M2), np.uint64(_GAMMA)


@overload(ctz)
def _ctz(x: Any) -> Any:
    def impl(x: Any) -> Any:
        return _cttz(np.uint64(x))  # type: ignore[call-arg]

    return impl


@overload(popcount)
def _popcount(x: Any) -> Any:
    def impl(x: Any) -> Any:
        return _ctpop(np.uint64(x))  # type: ignore[call-arg]

    return impl


@overload(mix64)
def _mix64(x: Any) -> Any:
    def impl(x: Any) -> Any:
        y = np.uint64(x)
        y = (y ^ (y >> _U30)) * _UM1
        y = (y ^ (y >> _U27)) * _UM2
        return y ^ (y >> _U31)

    return impl


@overload(stream)
def _stream(a: Any, b: Any) -> Any:
    def impl(a: Any, b: Any) -> Any:
        return mix64(mix64(a) + (np.uint64(b) + _U1) * _UG)

    return impl


@overload(next64)
def _next64(rng: Any) -> Any:
    def impl(rng: Any) -> Any:
        rng[0] = rng[0] + _UG
        return mix64(rng[0])

    return impl


@overload(below)
def _below(rng: Any, n: Any) -> Any:
    def impl(rng: Any, n: Any) -> Any:
        return np.int64(((next64(rng) >> _U32) * np.uint64(n)) >> _U32)

    return impl


@overload(draw_below)
def _draw_below(state: Any, index: Any, n: Any) -> Any:
    def impl(state: Any, index: Any, n: Any) -> Any:
        output = mix64(np.uint64(state) + (np.uint64(index) + _U1) * _UG)
        return np.int64(((output >> _U32) * np.uint64(n)) >> _U32)

    return impl


@overload(bit)
def _bit(i: Any) -> Any:
    def impl(i: Any) -> Any:
        return _U1 << np.uint64(i)

    return impl


@overload(drop_lowest)
def _drop_lowest(x: Any) -> Any:
    def impl(x: Any) -> Any:
        return x & (x - _U1)

    return impl
