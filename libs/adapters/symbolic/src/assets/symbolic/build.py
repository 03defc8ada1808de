"""Builds SymPy's objects from the nodes of a tree. Only the kinds and functions named here exist; no text is ever read as mathematics."""
import math
from functools import reduce

import sympy
from sympy import Integer, Rational, S, Symbol

MOST_DIGITS = 20_000
LARGEST_FACTORIAL = 5_500
DEEPEST = 400


class Invalid(Exception):
    """The input has no meaning; the message says what to write instead."""


class TooLarge(Exception):
    """The value has more digits than this program calculates."""


class Unsupported(Exception):
    """There is no exact result."""


def check_digits(size, base=10):
    """Raises TooLarge for a number with the length of base^size."""
    digits = size * math.log10(base) if size < 10**15 else math.inf
    if digits > MOST_DIGITS:
        about = f"about {digits:.3g}" if digits < 10**15 else "more than 10^15"
        raise TooLarge(f"A number in it has {about} digits; at most {MOST_DIGITS} are calculated.")


def number(value):
    if not all(sign in "0123456789." for sign in value):
        raise Invalid("A number contains other characters than digits and a point.")
    return Rational(value)


def power(base, exponent):
    if base == 0 and exponent.is_negative:
        raise Invalid("It divides by zero.")
    if base == 0 and exponent == 0:
        raise Invalid("0^0 has no value.")
    if exponent.is_Rational and base.is_number and base not in (S.One, S.NegativeOne, S.ImaginaryUnit, S.Exp1, S.Pi):
        size = abs(exponent.p) // exponent.q
        if base.is_Rational:
            check_digits(size, max(abs(base.p), base.q))
        elif size > 20_000:
            raise TooLarge("A power of a number in it has an exponent beyond 20000.")
    return base**exponent


def quotient(over, under):
    if under.is_zero:
        raise Invalid("It divides by zero.")
    return over / under


def factorial(n):
    if n.is_Integer and n > LARGEST_FACTORIAL:
        raise TooLarge(f"Factorials are calculated up to {LARGEST_FACTORIAL}!.")
    if n.is_integer and n.is_negative:
        raise Invalid("The factorial of a negative whole number has no value.")
    return sympy.factorial(n)


def gamma(x):
    if x.is_Rational and abs(x) > LARGEST_FACTORIAL:
        raise TooLarge(f"The gamma function is calculated up to {LARGEST_FACTORIAL}.")
    return sympy.gamma(x)


def binomial(n, k):
    if n.is_Rational and k.is_Integer:
        chosen = min(abs(k), abs(n - k)) if n.is_Integer and 0 <= k <= n else abs(k)
        check_digits(int(chosen), 2 + int(min(abs(n), Integer(10) ** 300)))
    return sympy.binomial(n, k)


def root(x, n):
    if n == 0:
        raise Invalid("A root of degree 0 has no value.")
    if x.is_negative and n.is_Integer and n.is_odd:
        return -power(-x, 1 / n)
    return power(x, 1 / n)


def logarithm(x, base=None):
    if x.is_zero:
        raise Invalid("The logarithm of 0 has no value.")
    if base is not None and (base.is_zero or base == 1):
        raise Invalid("0 and 1 cannot be the base of a logarithm.")
    return sympy.log(x) if base is None else sympy.log(x, base)


def modulo(a, b):
    if b.is_zero:
        raise Invalid("It divides by zero.")
    return sympy.Mod(a, b)


FUNCTIONS = {
    "sqrt": lambda x: power(x, Rational(1, 2)), "cbrt": lambda x: root(x, Integer(3)), "root": root, "exp": sympy.exp,
    "ln": logarithm, "log": logarithm, "abs": sympy.Abs, "sign": sympy.sign,
    "sin": sympy.sin, "cos": sympy.cos, "tan": sympy.tan, "cot": sympy.cot, "sec": sympy.sec, "csc": sympy.csc,
    "asin": sympy.asin, "acos": sympy.acos, "atan": sympy.atan, "atan2": sympy.atan2,
    "sinh": sympy.sinh, "cosh": sympy.cosh, "tanh": sympy.tanh, "asinh": sympy.asinh, "acosh": sympy.acosh, "atanh": sympy.atanh,
    "factorial": factorial, "binomial": binomial, "gamma": gamma, "erf": sympy.erf, "floor": sympy.floor, "ceiling": sympy.ceiling,
    "mod": modulo, "gcd": lambda *a: reduce(sympy.gcd, a), "lcm": lambda *a: reduce(sympy.lcm, a), "max": sympy.Max, "min": sympy.Min,
    "re": sympy.re, "im": sympy.im, "conjugate": sympy.conjugate,
}  # fmt: skip
CONSTANTS = {"pi": S.Pi, "e": S.Exp1, "i": S.ImaginaryUnit, "infinity": S.Infinity}


def symbol(name):
    if not (isinstance(name, str) and name.isascii() and name.replace("_", "").isalnum() and name[0].isalpha() and len(name) <= 41):
        raise Invalid("A name is a letter or a short word.")
    return Symbol(name)


def build(tree, depth=0):
    """The SymPy expression of a tree. Raises Invalid, TooLarge."""
    if depth > DEEPEST:
        raise Invalid("It is nested too deeply.")
    kind = tree["kind"]

    def part(inner):
        return build(inner, depth + 1)

    if kind == "number":
        return number(tree["value"])
    if kind == "symbol":
        return symbol(tree["name"])
    if kind == "constant":
        return CONSTANTS[tree["name"]]
    if kind == "sum":
        value = sympy.Add(*[part(term) for term in tree["terms"]])
    elif kind == "product":
        value = sympy.Mul(*[part(factor) for factor in tree["factors"]])
    elif kind == "negative":
        value = -part(tree["of"])
    elif kind == "quotient":
        value = quotient(part(tree["over"]), part(tree["under"]))
    elif kind == "power":
        value = power(part(tree["base"]), part(tree["exponent"]))
    elif kind == "call":
        value = remainder_of_power(tree, part) or FUNCTIONS[tree["name"]](*[part(arg) for arg in tree["args"]])
    else:
        raise Invalid("A part of the expression is of an unknown kind.")
    if value is S.NaN or value.has(S.NaN, S.ComplexInfinity):
        raise Invalid("A part of it has no value, such as a division by zero.")
    return value


def remainder_of_power(tree, part):
    """mod(a^b, m) of whole numbers without the power itself; None for everything else."""
    if tree["name"] != "mod" or tree["args"][0]["kind"] != "power":
        return None
    base, exponent = part(tree["args"][0]["base"]), part(tree["args"][0]["exponent"])
    modulus = part(tree["args"][1])
    if not (base.is_Integer and exponent.is_Integer and modulus.is_Integer and exponent >= 0 and modulus > 0):
        return None
    return Integer(pow(int(base), int(exponent), int(modulus)))
