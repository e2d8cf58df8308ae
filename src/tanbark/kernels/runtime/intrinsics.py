"""The vector instructions that numba has no word for, each with a twin in plain Python.

The twins serve when compilation is switched off (``NUMBA_DISABLE_JIT=1``), so that every kernel can also be stepped
through in a debugger and measured by a coverage tool.
"""

from typing import Any

import numpy as np
from numba import config
from numba.core import types
from numba.extending import intrinsic

WORD = 64
LANES = 8
LOWEST = -900.0
"""Numbers that are further apart, in powers of two, are taken to be so far apart: no product of theirs is subnormal."""


def popcount_plain(word: Any) -> np.uint64:
    """Return how many bits of `word` are set."""
    return np.uint64(int(word).bit_count())


def equal_mask_plain(codes: Any, start: int, value: Any) -> np.uint64:
    """Return the 64 bits ``codes[start:start + 64] == value``, lowest index in the lowest bit."""
    equal = np.asarray(codes[start : start + WORD]) == value
    return np.uint64(int.from_bytes(np.packbits(equal, bitorder="little").tobytes(), "little"))


def split_plain(m: Any, e: Any, at: int, to_m: Any, to_e: Any, to: int) -> None:
    """Write `LANES` numbers ``m * 2**e``, all above zero, from place `at` to place `to`, mantissas in [1, 2)."""
    mantissa, exponent = np.frexp(m[at : at + LANES])
    to_e[to : to + LANES] = e[at : at + LANES] + (exponent - 1.0)
    to_m[to : to + LANES] = 2.0 * mantissa


def add_product_plain(m: Any, e: Any, at: int, a: Any, f: Any, i: int, b: Any, g: Any, j: int) -> None:
    """Add the products of `LANES` numbers ``a * 2**f`` from `i` and ``b * 2**g`` from `j` to ``m * 2**e``."""
    here = slice(at, at + LANES)
    product, exponent = a[i : i + LANES] * b[j : j + LANES], f[i : i + LANES] + g[j : j + LANES]
    larger = exponent > e[here]
    top, low = np.where(larger, exponent, e[here]), np.where(larger, e[here], exponent)
    leading, trailing = np.where(larger, product, m[here]), np.where(larger, m[here], product)
    m[here] = leading + trailing * np.ldexp(1.0, np.maximum(low - top, LOWEST).astype(np.int64))
    e[here] = top


if config.DISABLE_JIT:
    popcount, equal_mask = popcount_plain, equal_mask_plain
    split, add_product = split_plain, add_product_plain
else:
    from llvmlite import ir

    @intrinsic
    def popcount(typingctx: Any, word: Any) -> Any:
        """Return how many bits of `word` are set."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.ctpop(args[0])

        return types.uint64(types.uint64), codegen

    @intrinsic
    def equal_mask(typingctx: Any, codes: Any, start: Any, value: Any) -> Any:
        """Return the 64 bits ``codes[start:start + 64] == value`` by one vector comparison."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, args[0])
            lanes = ir.VectorType(ir.IntType(8), WORD)
            first = builder.bitcast(builder.gep(array.data, [args[1]]), lanes.as_pointer())
            loaded = builder.load(first)
            loaded.align = 1
            nothing = ir.Constant(lanes, ir.Undefined)
            one = builder.insert_element(nothing, args[2], ir.Constant(ir.IntType(32), 0))
            everywhere = ir.Constant(ir.VectorType(ir.IntType(32), WORD), [0] * WORD)
            splat = builder.shuffle_vector(one, nothing, everywhere)
            return builder.bitcast(builder.icmp_unsigned("==", loaded, splat), ir.IntType(WORD))

        return types.uint64(codes, types.int64, types.uint8), codegen

    DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
    BITS = ir.VectorType(ir.IntType(64), LANES)

    def _everywhere(kind: Any, value: Any) -> Any:
        return ir.Constant(kind, [value] * LANES)

    def _place(context: Any, builder: Any, kind: Any, array: Any, at: Any) -> Any:
        data = context.make_array(kind)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [at]), DOUBLES.as_pointer())

    def _load(builder: Any, place: Any) -> Any:
        loaded = builder.load(place)
        loaded.align = 8
        return loaded

    def _store(builder: Any, value: Any, place: Any) -> None:
        builder.store(value, place).align = 8

    @intrinsic
    def split(typingctx: Any, m: Any, e: Any, at: Any, to_m: Any, to_e: Any, to: Any) -> Any:
        """Write `LANES` numbers ``m * 2**e``, all above zero, from place `at` to place `to`, mantissas in [1, 2)."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def place(array: int, at: int) -> Any:
                return _place(context, builder, signature.args[array], args[array], args[at])

            bits = builder.bitcast(_load(builder, place(0, 2)), BITS)
            fraction = builder.and_(bits, _everywhere(BITS, 2**52 - 1))
            mantissa = builder.bitcast(builder.or_(fraction, _everywhere(BITS, 1023 << 52)), DOUBLES)
            # An integer below 2**52 among the lowest bits of the double 2**52 is that double plus the integer.
            biased = builder.or_(builder.lshr(bits, _everywhere(BITS, 52)), _everywhere(BITS, (1023 + 52) << 52))
            exponent = builder.fsub(builder.bitcast(biased, DOUBLES), _everywhere(DOUBLES, 2.0**52 + 1023))
            _store(builder, builder.fadd(_load(builder, place(1, 2)), exponent), place(4, 5))
            _store(builder, mantissa, place(3, 5))
            return context.get_dummy_value()

        return types.void(m, e, types.int64, to_m, to_e, types.int64), codegen

    @intrinsic
    def add_product(typingctx: Any, m: Any, e: Any, at: Any, a: Any, f: Any, i: Any, b: Any, g: Any, j: Any) -> Any:
        """Add the products of `LANES` numbers ``a * 2**f`` from `i` and ``b * 2**g`` from `j` to ``m * 2**e``."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            def place(array: int, at: int) -> Any:
                return _place(context, builder, signature.args[array], args[array], args[at])

            def loaded(array: int, at: int) -> Any:
                return _load(builder, place(array, at))

            sum_, exponent_ = loaded(0, 2), loaded(1, 2)
            product = builder.fmul(loaded(3, 5), loaded(6, 8))
            exponent = builder.fadd(loaded(4, 5), loaded(7, 8))
            larger = builder.fcmp_ordered(">", exponent, exponent_)
            top, low = builder.select(larger, exponent, exponent_), builder.select(larger, exponent_, exponent)
            leading, trailing = builder.select(larger, product, sum_), builder.select(larger, sum_, product)
            # The same trick: the biased exponent of the power of two comes to stand in the lowest bits.
            apart, lowest = builder.fsub(low, top), _everywhere(DOUBLES, LOWEST)
            apart = builder.select(builder.fcmp_ordered(">", apart, lowest), apart, lowest)
            biased = builder.bitcast(builder.fadd(apart, _everywhere(DOUBLES, 1.5 * 2.0**52 + 1023)), BITS)
            power = builder.bitcast(builder.shl(biased, _everywhere(BITS, 52)), DOUBLES)
            _store(builder, builder.fadd(leading, builder.fmul(trailing, power)), place(0, 2))
            _store(builder, top, place(1, 2))
            return context.get_dummy_value()

        integer = types.int64
        return types.void(m, e, integer, a, f, integer, b, g, integer), codegen
