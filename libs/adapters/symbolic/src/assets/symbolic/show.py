"""Writes results in a notation that the parser can read again, and as decimals."""
import sympy
from sympy import S
from sympy.printing.str import StrPrinter

LONGEST = 20_000


class Notation(StrPrinter):
    """`x^2`, `e`, `i`, `infinity`, `ln` where SymPy writes `x**2`, `E`, `I`, `oo`, `log`."""

    def _print_Exp1(self, _):
        return "e"

    def _print_ImaginaryUnit(self, _):
        return "i"

    def _print_Infinity(self, _):
        return "infinity"

    def _print_NegativeInfinity(self, _):
        return "-infinity"

    def _print_log(self, expr):
        return f"ln({self._print(expr.args[0])})"

    def _print_Abs(self, expr):
        return f"abs({self._print(expr.args[0])})"

    def _print_Max(self, expr):
        return f"max({', '.join(self._print(arg) for arg in expr.args)})"

    def _print_Min(self, expr):
        return f"min({', '.join(self._print(arg) for arg in expr.args)})"

    def _print_Mod(self, expr):
        return f"mod({', '.join(self._print(arg) for arg in expr.args)})"


def text(expr):
    if isinstance(expr, sympy.MatrixBase):
        return "[" + ", ".join("[" + ", ".join(text(entry) for entry in expr.row(n)) + "]" for n in range(expr.rows)) + "]"
    return Notation().doprint(expr).replace("**", "^")


def latex(expr):
    written = sympy.latex(expr)
    return written if len(written) <= LONGEST else None


def decimal(expr, precision):
    """Decimal value as text; None if a name is left. A terminating fraction is written in full."""
    if isinstance(expr, sympy.MatrixBase):
        values = [[decimal(entry, precision) for entry in expr.row(n)] for n in range(expr.rows)]
        return None if any(v is None for row in values for v in row) else "[" + ", ".join("[" + ", ".join(row) + "]" for row in values) + "]"
    if expr.free_symbols:
        return None
    if expr.is_Rational:
        whole = finite(expr, precision)
        if whole is not None:
            return whole
    if expr in (S.Infinity, S.NegativeInfinity):
        return text(expr)
    value = expr.evalf(precision)
    real, imaginary = value.as_real_imag()
    if not (real.is_Number and imaginary.is_Number):
        return None
    if imaginary == 0:
        return short(real)
    sign = "-" if imaginary < 0 else "+"
    tail = f"{short(abs(imaginary))}*i"
    if real == 0:
        return f"-{tail}" if sign == "-" else tail
    return f"{short(real)} {sign} {tail}"


def finite(value, precision):
    if value.q == 1:
        return str(value.p)
    rest, digits = value.q, 0
    for prime in (2, 5):
        times = 0
        while rest % prime == 0:
            rest //= prime
            times += 1
        digits = max(digits, times)
    if rest != 1 or digits > max(precision, 30):
        return None
    all_digits = str(abs(value.p) * 10**digits // value.q).rjust(digits + 1, "0")
    return ("-" if value.p < 0 else "") + all_digits[:-digits] + "." + all_digits[-digits:]


def short(value):
    written = str(value).replace("E", "e").replace("e+", "e")
    digits, mark, exponent = written.partition("e")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return f"{digits}{mark}{exponent}"
