"""The operations. Each takes a job and returns the fields of its reply."""
import mpmath
import sympy
from sympy import Integer, S

import show
from build import Invalid, Unsupported, build, symbol
from solving import solve


def shown(expr, precision, notes=()):
    return {"result": show.text(expr), "decimal": show.decimal(expr, precision), "latex": show.latex(expr), "notes": list(notes)}


def evaluate(job):
    expr = build(job["expression"])
    if job["values"]:
        expr = expr.subs([(symbol(name), build(value)) for name, value in job["values"]], simultaneous=True)
    if expr.has(S.NaN, S.ComplexInfinity):
        raise Invalid("It has no value there, such as a division by zero.")
    if not expr.free_symbols and not expr.is_Rational and expr.count_ops() <= 60:
        expr = sympy.simplify(expr)
    return shown(expr, job["precision"])


def simplify(job):
    return shown(sympy.simplify(build(job["expression"])), job["precision"])


def expand(job):
    return shown(sympy.expand(build(job["expression"])), job["precision"])


def factor(job):
    expr = build(job["expression"])
    if not expr.is_Integer:
        return shown(sympy.factor(expr), job["precision"])
    if abs(expr) < 2:
        return shown(expr, job["precision"])
    powers = sympy.factorint(expr)
    text = " * ".join(f"{prime}^{times}" if times > 1 else str(prime) for prime, times in powers.items())
    written = r" \cdot ".join(f"{prime}^{{{times}}}" if times > 1 else str(prime) for prime, times in powers.items())
    return {"result": text, "decimal": str(expr), "latex": written, "notes": ["Factors are primes."]}


def integrate(job):
    expr, name = build(job["expression"]), symbol(job["variable"])
    if job["lower"] is None:
        result = sympy.integrate(expr, name)
        if result.has(sympy.Integral):
            raise Unsupported("No antiderivative was found in closed form.")
        return shown(result, job["precision"], ["A constant may be added."])
    lower, upper = build(job["lower"]), build(job["upper"])
    result = sympy.integrate(expr, (name, lower, upper))
    notes = []
    if result.has(S.NaN, S.ComplexInfinity):
        raise Unsupported("The integral does not converge.")
    if result.has(sympy.Integral):
        if result.free_symbols:
            raise Unsupported("The integral was not found in closed form.")
        value = sympy.Integral(expr, (name, lower, upper)).evalf(min(job["precision"], 15))
        if not value.is_Number:
            raise Unsupported("The integral was not found in closed form.")
        number = show.short(value)
        return {"result": f"≈ {number}", "decimal": number, "latex": None, "notes": ["No closed form was found; the value is rounded."]}
    if result.has(sympy.Piecewise):
        notes.append("The result depends on conditions.")
    return shown(result, job["precision"], notes)


def differentiate(job):
    name = symbol(job["variable"])
    result = sympy.diff(build(job["expression"]), name, job["order"])
    if job["point"] is not None:
        result = result.subs(name, build(job["point"]))
    return shown(result, job["precision"])


def limit(job):
    expr, name, point = build(job["expression"]), symbol(job["variable"]), build(job["point"])
    if job["direction"] != "both" or point.is_infinite:
        return one_limit(expr, name, point, job["direction"] if job["direction"] != "both" else "+", job["precision"])
    right, left = sympy.limit(expr, name, point, "+"), sympy.limit(expr, name, point, "-")
    if sympy.simplify(right - left) != 0 and right != left:
        note = f"From the right it is {show.text(right)}, from the left {show.text(left)}."
        return {"result": "no limit", "decimal": None, "latex": None, "notes": [note]}
    return known(right, job["precision"])


def one_limit(expr, name, point, direction, precision):
    return known(sympy.limit(expr, name, point, direction), precision)


def known(value, precision):
    if value.has(sympy.AccumBounds, S.NaN):
        return {"result": "no limit", "decimal": None, "latex": None, "notes": ["It does not settle at one value."]}
    if value.has(sympy.Limit):
        raise Unsupported("The limit was not found.")
    return shown(value, precision)


def summed(kind, unevaluated):
    def calculate(job):
        name = symbol(job["variable"])
        lower, upper = build(job["lower"]), build(job["upper"])
        if lower.is_Integer and upper.is_Integer and upper < lower - 1:
            raise Invalid("The upper bound is below the lower one.")
        if kind is sympy.product and lower.is_Integer and upper.is_Integer and upper - lower > 10_000:
            raise Unsupported("Products are calculated over at most 10000 factors.")
        result = kind(build(job["expression"]), (name, lower, upper))
        if result.has(S.NaN, S.ComplexInfinity):
            raise Unsupported("It does not converge.")
        if result.has(unevaluated):
            if result.free_symbols:
                raise Unsupported("No closed form was found.")
            number = numeric_sum(job, name, lower, upper) if kind is sympy.summation else None
            if number is None:
                raise Unsupported("No closed form was found.")
            return {"result": f"≈ {number}", "decimal": number, "latex": None, "notes": ["No closed form was found; the value is rounded."]}
        return shown(sympy.simplify(result) if result.free_symbols else result, job["precision"])

    return calculate


def numeric_sum(job, name, lower, upper):
    """Value of a sum as a decimal; None if it does not converge. SymPy's own method would generate code from the expression."""
    expr = build(job["expression"])
    bounds = [mpmath.inf if bound is S.Infinity else int(bound) for bound in (lower, upper) if bound.is_Integer or bound is S.Infinity]
    if len(bounds) < 2 or expr.free_symbols - {name}:
        return None

    def term(k):
        value = expr.subs(name, Integer(int(k))).evalf(20)
        if not value.is_Number or not value.is_finite:
            raise Unsupported("No closed form was found.")
        return mpmath.mpf(value._mpf_)

    coarse, fine = mpmath.nsum(term, bounds, maxterms=4_000), mpmath.nsum(term, bounds, maxterms=12_000)
    if not mpmath.isfinite(fine) or abs(coarse - fine) > 1e-9 * max(1, abs(fine)):
        return None
    return mpmath.nstr(fine, 10)


def series(job):
    name, point = symbol(job["variable"]), build(job["point"])
    result = sympy.series(build(job["expression"]), name, point, job["order"])
    note = f"Terms of order {job['order']} and above are left out."
    return shown(result.removeO(), job["precision"], [note])


def matrix(rows):
    return sympy.Matrix([[build(entry) for entry in row] for row in rows])


def determinant(job):
    return shown(sympy.simplify(matrix(job["matrix"]).det()), job["precision"])


def inverse(job):
    rows = matrix(job["matrix"])
    if sympy.simplify(rows.det()) == 0:
        return {"result": "no inverse", "decimal": None, "latex": None, "notes": ["The determinant is 0."]}
    return shown(rows.inv().applyfunc(sympy.simplify), job["precision"])


def rank(job):
    return shown(Integer(matrix(job["matrix"]).rank(simplify=True)), job["precision"])


def eigenvalues(job):
    found = matrix(job["matrix"]).eigenvals(multiple=True)
    values = sympy.Matrix([sorted(found, key=lambda v: (v.is_real is False, v.evalf() if v.is_real else 0, sympy.default_sort_key(v)))])
    reply = shown(values, job["precision"], ["Each as often as its multiplicity."])
    return {**reply, "result": reply["result"][1:-1], "decimal": reply["decimal"] and reply["decimal"][1:-1]}


def rref(job):
    return shown(matrix(job["matrix"]).rref(simplify=True)[0], job["precision"])


def multiply(job):
    left, right = matrix(job["matrix"]), matrix(job["other"])
    if left.cols != right.rows:
        raise Invalid(f"A matrix with {left.cols} columns cannot be multiplied by one with {right.rows} rows.")
    return shown((left * right).applyfunc(sympy.expand), job["precision"])


OPERATIONS = {
    "evaluate": evaluate, "simplify": simplify, "expand": expand, "factor": factor, "solve": solve, "integrate": integrate,
    "differentiate": differentiate, "limit": limit, "sum": summed(sympy.summation, sympy.Sum),
    "product": summed(sympy.product, sympy.Product), "series": series, "determinant": determinant, "inverse": inverse, "rank": rank,
    "eigenvalues": eigenvalues, "rref": rref, "multiply": multiply,
}  # fmt: skip
