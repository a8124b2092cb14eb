"""Writing many entries of a row at once: bit sets and small counts as 0/1 or scaled entries.

Compiled, each call is a few vector stores of a fixed width rather than a loop over set bits, which cannot
be predicted; so it may write further than it is asked to. Rows are therefore written from the front to the
back, and near the end of a row, where there is no room, entry by entry.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from mt_env.core.jit import kernel

BITS: Final[int] = 64
"""Entries that `spread` writes at most."""
SHORT_BITS: Final[int] = 32
"""Entries that `spread_short` writes at most."""
LEVELS: Final[int] = 16
"""Entries that `spread_levels` writes at once, or half of them twice."""

_LANES: Final[int] = 8
_INLINED: Final[Any] = {"forceinline": True}  # a call would cost more than the stores
_U1 = np.uint64(1)


def spread(out: Any, at: Any, word: Any, count: Any) -> None:
    """Write the lowest ``count`` bits of ``word`` to ``out[at]`` and following, as 0 or 1.

    Args:
        out: uint8 or float32, one row; entries up to ``at + 64`` may be overwritten with higher bits.
        at: where bit 0 goes.
        word: ``uint64``.
        count: 0..64, no more than there is room for.
    """
    _narrow_bits(out, at, np.uint64(word), count)


def spread_short(out: Any, at: Any, word: Any, count: Any) -> None:
    """`spread` for 32 bits: ``count`` is at most 32, entries up to ``at + 32`` may be overwritten."""
    _narrow_bits(out, at, np.uint64(word), count)


def spread_levels(out: Any, at: Any, levels: Any, first: Any, count: Any, scale: Any) -> None:
    """Write ``count`` entries of ``levels``, from ``first`` on, to ``out[at]`` and following.

    Args:
        out: one row; of uint8 gets the levels, of float32 level / scale. Entries up to ``at + 16`` may be
            overwritten.
        at: where the first goes.
        levels: uint8, a field of a record in which 16 more bytes follow its entry ``first``: compiled code
            reads so many.
        first: index of the first level.
        count: 0..19, no more than there is room for.
        scale: 1..255; larger levels are cut to it.
    """
    _narrow_levels(out, at, levels, first, count, scale)


def put_count(out: Any, at: Any, count: Any, scale: Any) -> None:
    """Write ``count``, cut to ``scale``, to ``out[at]``: itself if ``out`` is uint8, else divided by it."""
    kept = min(count, scale)
    out[at] = np.float32(kept) / np.float32(scale) if out.dtype == np.float32 else kept


def _is_row_code(array: Any) -> bool:
    """Whether the type is a contiguous row of a dtype that vectors are written for."""
    small = array.dtype == types.uint8 or (array.dtype == types.float32 and array.aligned)
    return sys.byteorder == "little" and array.ndim == 1 and array.layout == "C" and small


def _place_code(context: Any, builder: Any, kind: Any, array: Any, at: Any, vector: Any) -> Any:
    """Pointer to entry ``at`` of an array, as one to a vector."""
    data = context.make_array(kind)(context, builder, value=array).data
    return builder.bitcast(builder.gep(data, [at], inbounds=True), vector.as_pointer())


def _splat_code(builder: Any, value: Any, vector: Any) -> Any:
    """A vector of which every lane is ``value``."""
    lanes = vector.count
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(first, ir.Constant(vector, ir.Undefined), zeros)


def _store_bits_code(bits: int) -> Callable[..., Any]:
    """Code that writes ``bits`` bits of a word, eight lanes of float32 or all bytes at a time."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        out, at, word = args
        row = sig.args[0]
        if row.dtype == types.uint8:
            # Byte i of the vector is the byte of the word that holds bit i, of which that bit is kept.
            vector = ir.VectorType(ir.IntType(8), bits)
            eight = ir.VectorType(ir.IntType(8), 8)
            sources = ir.Constant(ir.VectorType(ir.IntType(32), bits), [i // 8 for i in range(bits)])
            powers = ir.Constant(vector, [1 << i % 8 for i in range(bits)])
            spread = builder.shuffle_vector(
                builder.bitcast(word, eight), ir.Constant(eight, ir.Undefined), sources
            )
            on = builder.icmp_unsigned("==", builder.and_(spread, powers), powers)
            place = _place_code(context, builder, row, out, at, vector)
            builder.store(builder.zext(on, vector), place, align=1)
            return context.get_dummy_value()
        whole, real = ir.VectorType(ir.IntType(32), _LANES), ir.VectorType(ir.FloatType(), _LANES)
        powers = ir.Constant(whole, [1 << lane for lane in range(_LANES)])
        nothing, ones = ir.Constant(real, [0.0] * _LANES), ir.Constant(real, [1.0] * _LANES)
        for low in range(0, bits, _LANES):
            part = builder.lshr(word, ir.Constant(word.type, low))
            chosen = builder.and_(_splat_code(builder, builder.trunc(part, ir.IntType(32)), whole), powers)
            on = builder.icmp_unsigned("==", chosen, powers)
            here = builder.add(at, ir.Constant(at.type, low))
            place = _place_code(context, builder, row, out, here, real)
            builder.store(builder.select(on, ones, nothing), place, align=4)
        return context.get_dummy_value()

    return codegen


@intrinsic
def _store_64(typingctx: Any, out: Any, at: Any, word: Any) -> Any:
    return types.void(out, types.intp, types.uint64), _store_bits_code(BITS)


@intrinsic
def _store_32(typingctx: Any, out: Any, at: Any, word: Any) -> Any:
    return types.void(out, types.intp, types.uint64), _store_bits_code(SHORT_BITS)


def _store_levels_code(lanes: int) -> Any:
    """An intrinsic that writes ``lanes`` levels at once."""

    def typed(typingctx: Any, out: Any, at: Any, levels: Any, first: Any, scale: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            out, at, levels, first, scale = args
            row = sig.args[0]
            small, real = ir.VectorType(ir.IntType(8), lanes), ir.VectorType(ir.FloatType(), lanes)
            given = builder.load(_place_code(context, builder, sig.args[2], levels, first, small), align=1)
            most = _splat_code(builder, builder.trunc(scale, ir.IntType(8)), small)
            kept = builder.select(builder.icmp_unsigned("<", given, most), given, most)
            if row.dtype == types.uint8:
                builder.store(kept, _place_code(context, builder, row, out, at, small), align=1)
                return context.get_dummy_value()
            unit = _splat_code(builder, builder.uitofp(scale, ir.FloatType()), real)
            value = builder.fdiv(builder.uitofp(kept, real), unit)
            builder.store(value, _place_code(context, builder, row, out, at, real), align=4)
            return context.get_dummy_value()

        return types.void(out, types.intp, levels, types.intp, types.intp), codegen

    return intrinsic(typed)


_store_all_levels = _store_levels_code(LEVELS)
_store_half_levels = _store_levels_code(LEVELS // 2)


def _expected_code(typingctx: Any, flag: Any) -> Any:
    """``flag``, which the compiler is told to expect to be true."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        one = ir.IntType(1)
        expect = builder.module.declare_intrinsic("llvm.expect", [one], ir.FunctionType(one, [one, one]))
        return builder.call(expect, [args[0], ir.Constant(one, 1)])

    return types.boolean(types.boolean), codegen


_likely: Any = intrinsic(_expected_code)


def _touch_code(offsets: tuple[int, ...]) -> Any:
    """An intrinsic that asks for the cache lines at ``offsets`` (bytes) of one entry of an array."""

    def typed(typingctx: Any, array: Any, index: Any) -> Any:
        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            own = context.make_array(sig.args[0])(context, builder, value=args[0])
            number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
            far = builder.mul(args[1], builder.extract_value(own.strides, 0))
            begin = builder.gep(builder.bitcast(own.data, byte), [far])
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            for offset in offsets:
                place = builder.gep(begin, [ir.Constant(far.type, offset)])
                builder.call(function, [place, *(ir.Constant(number, x) for x in (0, 3, 1))])
            return context.get_dummy_value()

        return types.void(array, types.intp), codegen

    return intrinsic(typed)


def prefetcher(*offsets: int) -> Callable[[Any, Any], None]:
    """A function ``(array, index)`` for kernels that asks for parts of ``array[index]`` before they are read.

    It has no effect that can be seen; an index out of range does no harm.

    Args:
        offsets: in bytes, one for each cache line.
    """
    touch = _touch_code(offsets)

    def prefetch(array: Any, index: Any) -> None:
        """See `prefetcher`."""

    @overload(prefetch, jit_options=_INLINED)
    def _typed(array: Any, index: Any) -> Any:
        def impl(array: Any, index: Any) -> None:
            touch(array, np.intp(index))

        return impl

    return prefetch


@kernel
def _narrow_bits(out: Any, at: Any, word: Any, count: Any) -> None:
    for i in range(count):
        out[at + i] = (word >> np.uint64(i)) & _U1


@kernel
def _narrow_levels(out: Any, at: Any, levels: Any, first: Any, count: Any, scale: Any) -> None:
    for i in range(count):
        put_count(out, at + i, np.int64(levels[first + i]), scale)


def _overload_bits_code(function: Any, store: Any, width: int) -> None:
    """Give ``function`` its compiled form."""

    @overload(function, jit_options=_INLINED)
    def _typed(out: Any, at: Any, word: Any, count: Any) -> Any:
        if _is_row_code(out):

            def impl(out: Any, at: Any, word: Any, count: Any) -> None:
                if _likely(at + width <= len(out)):
                    store(out, np.intp(at), np.uint64(word))
                else:
                    _narrow_bits(out, at, np.uint64(word), count)

        else:

            def impl(out: Any, at: Any, word: Any, count: Any) -> None:
                _narrow_bits(out, at, np.uint64(word), count)

        return impl


_overload_bits_code(spread, _store_64, BITS)
_overload_bits_code(spread_short, _store_32, SHORT_BITS)


@overload(spread_levels, jit_options=_INLINED)
def _spread_levels(out: Any, at: Any, levels: Any, first: Any, count: Any, scale: Any) -> Any:
    if _is_row_code(out) and _is_row_code(levels):

        def impl(out: Any, at: Any, levels: Any, first: Any, count: Any, scale: Any) -> None:
            half = LEVELS // 2
            if _likely(half <= count <= LEVELS):
                _store_half_levels(out, np.intp(at), levels, np.intp(first), np.intp(scale))
                last = count - half
                _store_half_levels(out, np.intp(at + last), levels, np.intp(first + last), np.intp(scale))
            elif LEVELS < count <= LEVELS + half:
                _store_all_levels(out, np.intp(at), levels, np.intp(first), np.intp(scale))
                last = count - half
                _store_half_levels(out, np.intp(at + last), levels, np.intp(first + last), np.intp(scale))
            elif _likely(count < half and at + LEVELS <= len(out)):
                _store_all_levels(out, np.intp(at), levels, np.intp(first), np.intp(scale))
            else:
                _narrow_levels(out, at, levels, first, count, scale)

    else:

        def impl(out: Any, at: Any, levels: Any, first: Any, count: Any, scale: Any) -> None:
            _narrow_levels(out, at, levels, first, count, scale)

    return impl


@overload(put_count, jit_options=_INLINED)
def _put_count(out: Any, at: Any, count: Any, scale: Any) -> Any:
    if out.dtype == types.float32:

        def impl(out: Any, at: Any, count: Any, scale: Any) -> None:
            out[at] = np.float32(min(count, scale)) / np.float32(scale)

    else:

        def impl(out: Any, at: Any, count: Any, scale: Any) -> None:
            out[at] = min(count, scale)

    return impl
