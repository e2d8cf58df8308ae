"""The two vector instructions that numba has no word for, each with a twin in plain Python.

The twins serve when compilation is switched off (``NUMBA_DISABLE_JIT=1``), so that every kernel can also be stepped
through in a debugger and measured by a coverage tool.
"""

from typing import Any

import numpy as np
from numba import config
from numba.core import types
from numba.extending import intrinsic

WORD = 64


def popcount_plain(word: Any) -> np.uint64:
    """Return how many bits of `word` are set."""
    return np.uint64(int(word).bit_count())


def equal_mask_plain(codes: Any, start: int, value: Any) -> np.uint64:
    """Return the 64 bits ``codes[start:start + 64] == value``, lowest index in the lowest bit."""
    equal = np.asarray(codes[start : start + WORD]) == value
    return np.uint64(int.from_bytes(np.packbits(equal, bitorder="little").tobytes(), "little"))


if config.DISABLE_JIT:
    popcount, equal_mask = popcount_plain, equal_mask_plain
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
