"""LLVM vector instructions that numba does not expose, each with an equivalent in plain Python.

The plain versions are used when compilation is disabled (``NUMBA_DISABLE_JIT=1``), so that every kernel can also be
stepped through in a debugger and measured by a coverage tool.
"""

from typing import Any

import numpy as np
from numba import config
from numba.core import types
from numba.extending import intrinsic

WORD_BITS = 64
"""Number of rows whose comparison fits one machine word."""
LANES = 8
"""Number of doubles processed side by side."""
MIN_EXPONENT_GAP = -900.0
"""Differences between binary exponents are clipped to this value, so that no product is subnormal."""


def popcount_plain(word: Any) -> np.uint64:
    """Return the number of set bits in `word`."""
    return np.uint64(int(word).bit_count())


def equal_mask_plain(codes: Any, start: int, value: Any) -> np.uint64:
    """Return the 64 bits ``codes[start:start + 64] == value``, lowest index in the lowest bit."""
    equal = np.asarray(codes[start : start + WORD_BITS]) == value
    return np.uint64(int.from_bytes(np.packbits(equal, bitorder="little").tobytes(), "little"))


def split_plain(m: Any, e: Any, at: int, to_m: Any, to_e: Any, to: int) -> None:
    """Copy `LANES` positive numbers ``m * 2**e`` from index `at` to `to`, with mantissas in [1, 2)."""
    mantissa, exponent = np.frexp(m[at : at + LANES])
    to_e[to : to + LANES] = e[at : at + LANES] + (exponent - 1.0)
    to_m[to : to + LANES] = 2.0 * mantissa


def add_product_plain(m: Any, e: Any, at: int, a: Any, f: Any, i: int, b: Any, g: Any, j: int) -> None:
    """Add `LANES` products of ``a * 2**f`` from index `i` and ``b * 2**g`` from `j` to ``m * 2**e`` at `at`."""
    target = slice(at, at + LANES)
    product, exponent = a[i : i + LANES] * b[j : j + LANES], f[i : i + LANES] + g[j : j + LANES]
    larger = exponent > e[target]
    top, low = np.where(larger, exponent, e[target]), np.where(larger, e[target], exponent)
    leading, trailing = np.where(larger, product, m[target]), np.where(larger, m[target], product)
    m[target] = leading + trailing * np.ldexp(1.0, np.maximum(low - top, MIN_EXPONENT_GAP).astype(np.int64))
    e[target] = top


if config.DISABLE_JIT:
    popcount, equal_mask = popcount_plain, equal_mask_plain
    split, add_product = split_plain, add_product_plain
else:
    from llvmlite import ir

    @intrinsic
    def popcount(_typingctx: Any, _word: Any) -> Any:
        """Return the number of set bits in a word."""

        def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.uint64(types.uint64), codegen

    @intrinsic
    def equal_mask(_typingctx: Any, codes: Any, _start: Any, _value: Any) -> Any:
        """Return the 64 bits ``codes[start:start + 64] == value``; see `equal_mask_plain`."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            lanes = ir.VectorType(ir.IntType(8), WORD_BITS)
            first = builder.bitcast(builder.gep(array.data, [args[1]]), lanes.as_pointer())
            loaded = builder.load(first)
            loaded.align = 1
            undefined = ir.Constant(lanes, ir.Undefined)
            single = builder.insert_element(undefined, args[2], ir.Constant(ir.IntType(32), 0))
            zeros = ir.Constant(ir.VectorType(ir.IntType(32), WORD_BITS), [0] * WORD_BITS)
            splat = builder.shuffle_vector(single, undefined, zeros)
            return builder.bitcast(builder.icmp_unsigned("==", loaded, splat), ir.IntType(WORD_BITS))

        return types.uint64(codes, types.int64, types.uint8), codegen

    DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
    BITS = ir.VectorType(ir.IntType(64), LANES)

    def _splat(vector_type: Any, value: Any) -> Any:
        """Return a vector constant with the same value in every lane."""
        return ir.Constant(vector_type, [value] * LANES)

    def _pointer(context: Any, builder: Any, array_type: Any, array: Any, at: Any) -> Any:
        """Return a pointer to `LANES` doubles of an array, beginning at index `at`."""
        data = context.make_array(array_type)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [at]), DOUBLES.as_pointer())

    def _load(builder: Any, pointer: Any) -> Any:
        """Load a vector of doubles."""
        loaded = builder.load(pointer)
        loaded.align = 8
        return loaded

    def _store(builder: Any, value: Any, pointer: Any) -> None:
        """Store a vector of doubles."""
        builder.store(value, pointer).align = 8

    @intrinsic
    def split(_typingctx: Any, m: Any, e: Any, _at: Any, to_m: Any, to_e: Any, _to: Any) -> Any:
        """Copy `LANES` positive numbers with mantissas in [1, 2); see `split_plain`."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def pointer(array: int, at: int) -> Any:
                return _pointer(context, builder, signature.args[array], args[array], args[at])

            bits = builder.bitcast(_load(builder, pointer(0, 2)), BITS)
            fraction = builder.and_(bits, _splat(BITS, 2**52 - 1))
            mantissa = builder.bitcast(builder.or_(fraction, _splat(BITS, 1023 << 52)), DOUBLES)
            # Writing an integer below 2**52 to the lowest bits of the double 2**52 adds that integer to the double.
            biased = builder.or_(builder.lshr(bits, _splat(BITS, 52)), _splat(BITS, (1023 + 52) << 52))
            exponent = builder.fsub(builder.bitcast(biased, DOUBLES), _splat(DOUBLES, 2.0**52 + 1023))
            _store(builder, builder.fadd(_load(builder, pointer(1, 2)), exponent), pointer(4, 5))
            _store(builder, mantissa, pointer(3, 5))
            return context.get_dummy_value()

        return types.void(m, e, types.int64, to_m, to_e, types.int64), codegen

    @intrinsic
    def add_product(_typingctx: Any, m: Any, e: Any, _at: Any, a: Any, f: Any, _i: Any, b: Any, g: Any, _j: Any) -> Any:
        """Add `LANES` products; see `add_product_plain`."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def pointer(array: int, at: int) -> Any:
                return _pointer(context, builder, signature.args[array], args[array], args[at])

            def loaded(array: int, at: int) -> Any:
                return _load(builder, pointer(array, at))

            old, old_exponent = loaded(0, 2), loaded(1, 2)
            product = builder.fmul(loaded(3, 5), loaded(6, 8))
            exponent = builder.fadd(loaded(4, 5), loaded(7, 8))
            larger = builder.fcmp_ordered(">", exponent, old_exponent)
            top, low = builder.select(larger, exponent, old_exponent), builder.select(larger, old_exponent, exponent)
            leading, trailing = builder.select(larger, product, old), builder.select(larger, old, product)
            # The same trick in reverse: the sum has the biased exponent of the power of two in its lowest bits.
            gap, min_gap = builder.fsub(low, top), _splat(DOUBLES, MIN_EXPONENT_GAP)
            gap = builder.select(builder.fcmp_ordered(">", gap, min_gap), gap, min_gap)
            biased = builder.bitcast(builder.fadd(gap, _splat(DOUBLES, 1.5 * 2.0**52 + 1023)), BITS)
            power = builder.bitcast(builder.shl(biased, _splat(BITS, 52)), DOUBLES)
            _store(builder, builder.fadd(leading, builder.fmul(trailing, power)), pointer(0, 2))
            _store(builder, top, pointer(1, 2))
            return context.get_dummy_value()

        integer = types.int64
        return types.void(m, e, integer, a, f, integer, b, g, integer), codegen
