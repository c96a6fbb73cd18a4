"""Decimal numbers in ASCII to float64, many at once and rounded exactly as Python's float() does.

Digits are read eight at a time out of 64-bit words. The mantissa, below 2**64, is divided by a power of ten
in double-double arithmetic (Dekker, Numer. Math. 18, 1971), and the result is taken only if it rounds the
same way at both ends of its error bound (Ziv, ACM TOMS 17, 1991). Everything else is left to float().
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from rlclinic.readers.formats.wandb.protobuf_lanes import Bools, Buffer, Floats, Ints, Words

NUMBER_BYTES = b"0123456789+-.eE"
MAX_POWER = 64  # |decimal exponent| of the tables; training metrics are far inside
BATCH = 16_384  # numbers parsed at once: the working arrays stay in the processor's cache
ERROR_BOUND = 2.0**-96  # relative; the arithmetic below is good to about 2**-103
_SPLIT = 2.0**27 + 1.0  # Dekker's constant for 53-bit doubles
_EACH = 0x0101_0101_0101_0101
_ZEROS, _DOTS = np.uint64(_EACH * ord("0")), np.uint64(_EACH * ord("."))
_HIGHS, _ONES = np.uint64(_EACH * 0x80), np.uint64(_EACH)
_ABOVE9 = np.uint64(_EACH * 0x76)
_KEEP = np.array([(2**64 - 1) ^ (2 ** (64 - 8 * n) - 1) for n in range(9)], np.uint64)  # the last n bytes
_POWERS = np.array([10**n for n in range(20)], np.uint64)


def number(text: bytes) -> float | None:
    """The number written in `text`, or None: the rule that parse() follows for many at once."""
    if not text or text.strip(NUMBER_BYTES):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def parse(buffer: Buffer, starts: Ints, ends: Ints) -> tuple[Floats, Bools]:
    """Parse the numbers in the spans: (values, which of them are numbers)."""
    values, done = np.empty(starts.size), np.empty(starts.size, np.bool_)
    for at in range(0, starts.size, BATCH):
        part = slice(at, at + BATCH)
        values[part], done[part] = _parse_common(buffer, starts[part], ends[part])
    rest = np.flatnonzero(~done)
    for index, start, end in zip(rest.tolist(), starts[rest].tolist(), ends[rest].tolist(), strict=True):
        value = number(buffer.raw[start:end])
        if value is not None:
            values[index] = value
            done[index] = True
    return values, done


def _parse_common(buffer: Buffer, starts: Ints, ends: Ints) -> tuple[Floats, Bools]:
    """Numbers of up to 19 digits with at most a two-digit exponent; False marks those left over."""
    words = buffer.words
    negative = buffer.bytes[starts] == ord("-")
    first = starts + negative
    exponent, stop, good = _exponents(words, first, ends)
    dot, has_dot = _dots(words, first, stop)
    whole_size, part_size = dot - first, stop - dot - has_dot
    good &= (whole_size >= 1) & (whole_size <= 16) & (part_size <= 24)
    whole, bad = _digits(words, dot, whole_size)
    part, bad_part = _digits(words, stop, part_size)
    good &= ((bad | bad_part) == 0) & ((whole == 0) | (whole_size + part_size <= 19))
    power = exponent - part_size
    good &= np.abs(power) <= MAX_POWER
    mantissa = whole * _POWERS[np.minimum(part_size, 19)] + part
    if not good.all():
        mantissa, power = np.where(good, mantissa, np.uint64(0)), np.where(good, power, 0)
    values, certain = _scale(mantissa, power)
    return np.where(negative, -values, values), good & certain


def _exponents(words: Words, first: Ints, ends: Ints) -> tuple[Ints, Ints, Bools]:
    """Exponents of the form e-05 at the end: (exponent, end of the mantissa, well-formed)."""
    tail = words[ends - 8] >> np.uint64(32)
    has = ((tail & np.uint64(0xDF)) == ord("E")) & (ends - first > 4)
    exponent = np.zeros(first.size, np.int64)
    good = np.ones(first.size, np.bool_)
    at = np.flatnonzero(has)
    if at.size:
        sign, tens, ones = ((tail[at] >> np.uint64(8 * n)).astype(np.uint8).astype(np.int64) for n in (1, 2, 3))
        tens, ones = tens - ord("0"), ones - ord("0")
        good[at] = np.isin(sign, (43, 45)) & (tens >= 0) & (tens <= 9) & (ones >= 0) & (ones <= 9)
        exponent[at] = (10 * tens + ones) * (44 - sign)
    return exponent, ends - 4 * has, good


def _dots(words: Words, first: Ints, stop: Ints) -> tuple[Ints, Bools]:
    """Position of the decimal point among the first 16 characters, or the end if there is none."""
    dot = _first_dot(words[first], first)
    far = np.flatnonzero((dot < 0) & (stop - first > 8))
    if far.size:
        dot[far] = _first_dot(words[first[far] + 8], first[far] + 8)
    has = (dot >= 0) & (dot < stop)
    return np.where(has, dot, stop), has


def _first_dot(word: Words, base: Ints) -> Ints:
    other = word ^ _DOTS
    zero = (other - _ONES) & ~other & _HIGHS
    lowest = (zero & (~zero + np.uint64(1))) >> np.uint64(7)
    # `lowest` is 1 << 8k for a point in byte k: the product moves k into the top byte.
    index = ((lowest * np.uint64(0x0001_0203_0405_0607)) >> np.uint64(56)).astype(np.int64)
    return np.where(zero != 0, base + index, -1)


def _digits(words: Words, ends: Ints, size: Ints) -> tuple[Words, Words]:
    """The integer in the `size` characters before `ends`: (value, non-zero where it is no integer)."""
    value, bad = _eight_digits(words, ends, np.minimum(size, 8))
    longest = int(size.max(initial=0))
    for done in (8, 16):
        if longest <= done:
            break
        high, high_bad = _eight_digits(words, ends - done, np.minimum(np.maximum(size - done, 0), 8))
        bad |= high_bad
        if done == 16:
            bad |= high > 999  # 16 + 3 digits are the most that surely fit 64 bits
        value += high * _POWERS[done]
    return value, bad


def _eight_digits(words: Words, ends: Ints, count: Ints) -> tuple[Words, Words]:
    digits = (words[ends - 8] ^ _ZEROS) & _KEEP[count]
    bad = ((digits + _ABOVE9) | digits) & _HIGHS
    pairs = (digits * np.uint64(10 * 2**8 + 1)) >> np.uint64(8)
    fours = ((pairs & np.uint64(0x00FF_00FF_00FF_00FF)) * np.uint64(100 * 2**16 + 1)) >> np.uint64(16)
    eight = ((fours & np.uint64(0x0000_FFFF_0000_FFFF)) * np.uint64(10_000 * 2**32 + 1)) >> np.uint64(32)
    return eight, bad


def _scale(mantissa: Words, power: Ints) -> tuple[Floats, Bools]:
    """mantissa * 10**power, and where its rounding is certain."""
    high = mantissa.astype(np.float64)
    low = (mantissa - high.astype(np.uint64)).view(np.int64).astype(np.float64)
    index = power + MAX_POWER
    divisor = _DIVISOR[index]
    quotient = high / divisor
    product = quotient * divisor
    spread = quotient * _SPLIT
    upper = spread - (spread - quotient)
    lower = quotient - upper
    divisor_upper, divisor_lower = _DIVISOR_UPPER[index], _DIVISOR_LOWER[index]
    error = ((upper * divisor_upper - product) + upper * divisor_lower + lower * divisor_upper) + lower * divisor_lower
    remainder = ((high - product) - error) + (low - quotient * _DIVISOR_REST[index])
    correction = remainder / divisor
    bound = quotient * ERROR_BOUND
    result = quotient + (correction - bound)
    return result, result == quotient + (correction + bound)


def _divisors() -> tuple[Floats, Floats, Floats, Floats]:
    """10**-power as a double, the rest of it as another, and Dekker's halves of the first."""
    exact = [Fraction(10) ** -power for power in range(-MAX_POWER, MAX_POWER + 1)]
    main = np.array([float(value) for value in exact])
    rest = np.array([float(value - Fraction(near)) for value, near in zip(exact, main.tolist(), strict=True)])
    spread = main * _SPLIT
    upper = spread - (spread - main)
    return main, rest, upper, main - upper


_DIVISOR, _DIVISOR_REST, _DIVISOR_UPPER, _DIVISOR_LOWER = _divisors()
