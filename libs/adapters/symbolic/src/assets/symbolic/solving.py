"""Equations, systems and inequalities."""
import sympy
from sympy import S, Symbol
from sympy.sets.sets import FiniteSet

import show
from build import Unsupported, build, symbol

RELATIONS = {"<": sympy.Lt, "<=": sympy.Le, ">": sympy.Gt, ">=": sympy.Ge, "!=": sympy.Ne}


def solve(job):
    names = [symbol(name) for name in job["variables"]]
    pairs = [(one["relation"], build(one["left"]), build(one["right"])) for one in job["relations"]]
    real = job["domain"] == "real"
    if any(relation != "=" for relation, _, _ in pairs):
        return inequalities(names, pairs)
    terms = [left - right for _, left, right in pairs]
    if len(terms) == 1 and len(names) == 1:
        return equation(terms[0], names[0], real, job["precision"])
    return system(terms, names, real, job["precision"])


def equation(term, name, real, precision):
    if not term.has(name):
        holds = sympy.simplify(term) == 0
        return {"result": f"every {name}" if holds else "no solution", "solutions": None if holds else []}
    if sympy.simplify(term) == 0:
        return {"result": f"every {name}", "solutions": None}
    if term.has(sympy.functions.elementary.trigonometric.TrigonometricFunction):
        found = sympy.solveset(term, name, S.Reals)
        if not found.has(sympy.ConditionSet) and not isinstance(found, (FiniteSet, sympy.Complement, sympy.Intersection)):
            return periodic(found, name)
    if term.is_polynomial(name) and term.free_symbols == {name} and sympy.Poly(term, name).degree() > 3:
        found = high_degree(sympy.Poly(term, name), name, real, precision)
        if found:
            return found
    try:
        values = sympy.solve(term, name, quartics=False)
    except NotImplementedError:
        return numeric(term, name, precision)
    notes = []
    if real:
        values = [value for value in values if value.is_real is not False]
    elif values and all(value.is_real is False for value in values):
        notes.append("No solution is a real number.")
    repeats = term.has(sympy.functions.elementary.trigonometric.TrigonometricFunction)
    caveat = "Solutions of periodic functions repeat; those of one period are given." if repeats else None
    return {**listed([{name: value} for value in ordered(values)], precision, notes), "caveat": caveat}


def high_degree(poly, name, real, precision):
    """Roots of a polynomial that has a factor without a short formula: exact if possible, else rounded. None if all are exact."""
    exact, rounded = [], []
    for factor, _ in poly.factor_list()[1]:
        values = sympy.roots(factor, quartics=False)
        if sum(values.values()) == factor.degree():
            exact.extend(values)
        else:
            rounded.extend(factor.nroots(n=max(15, min(precision, 50)), maxsteps=200))
    if not rounded:
        return None
    if real:
        exact, rounded = [v for v in exact if v.is_real is not False], [v for v in rounded if v.is_real]
    digits = min(precision, 50)
    written = [f"{name} = {show.text(value)}" for value in ordered(exact)]
    written += [f"{name} ≈ {show.decimal(value, digits)}" for value in rounded]
    decimals = [f"{name} = {show.decimal(value, digits)}" for value in [*ordered(exact), *rounded]]
    return {
        "result": " or ".join(written) or "no solution",
        "decimal": " or ".join(decimals) or None,
        "solutions": None,
        "notes": ["Solutions after ≈ have no short formula and are rounded."],
    }


def system(terms, names, real, precision):
    found = sympy.solve(terms, names, dict=True)
    notes = []
    if real:
        found = [one for one in found if all(value.is_real is not False for value in one.values())]
    free = [name for name in names if any(name in value.free_symbols for one in found for value in one.values())]
    if free:
        notes.append(f"Any value may be chosen for {', '.join(str(name) for name in free)}.")
    if found and any(not one for one in found):
        return {"result": "every value", "solutions": None}
    return listed(sorted(found, key=lambda one: sympy.default_sort_key(list(one.values()))), precision, notes)


def listed(found, precision, notes):
    if not found:
        return {"result": "no solution", "solutions": [], "notes": notes}
    decimals = [{name: show.decimal(value, precision) for name, value in one.items()} for one in found]
    known = all(value is not None for one in decimals for value in one.values())

    def joined(solutions):
        return " or ".join(", ".join(f"{name} = {value}" for name, value in one.items()) for one in solutions)

    exact = [{str(name): show.text(value) for name, value in one.items()} for one in found]
    written = r" \lor ".join(",\\ ".join(f"{sympy.latex(name)} = {sympy.latex(value)}" for name, value in one.items()) for one in found)
    return {"result": joined(exact), "decimal": joined(decimals) if known else None, "latex": written, "solutions": exact, "notes": notes}


def ordered(values):
    """By size if all are real, otherwise in SymPy's own order."""
    if all(value.is_real and not value.free_symbols for value in values):
        return sorted(values, key=lambda value: value.evalf(20))
    return sorted(values, key=sympy.default_sort_key)


def periodic(found, name):
    if found is S.EmptySet:
        return {"result": "no solution", "solutions": []}
    parts = found.args if isinstance(found, sympy.Union) else [found]
    written, counter = [], Symbol("n") if str(name) != "n" else Symbol("k")
    for one in parts:
        if isinstance(one, sympy.ImageSet) and len(one.lamda.variables) == 1:
            written.append(f"{name} = {show.text(one.lamda.expr.subs(one.lamda.variables[0], counter))}")
        elif isinstance(one, FiniteSet):
            written.extend(f"{name} = {show.text(value)}" for value in one)
        else:
            raise Unsupported("The set of its solutions has no simple form.")
    return {"result": " or ".join(written), "solutions": None, "latex": sympy.latex(found), "notes": [f"{counter} stands for any whole number."]}


def inequalities(names, pairs):
    if len(names) != 1:
        raise Unsupported("Inequalities are solved for one name at a time.")
    name = names[0]
    found = S.Reals
    for relation, left, right in pairs:
        if relation == "=":
            found = found.intersect(sympy.solveset(left - right, name, S.Reals))
            continue
        one = RELATIONS[relation](left, right)
        if one in (S.true, S.false):
            found = found if one is S.true else S.EmptySet
        else:
            found = found.intersect(sympy.solve_univariate_inequality(one, name, relational=False, domain=S.Reals))
    if found.has(sympy.ConditionSet):
        raise Unsupported("No exact solution was found.")
    notes = ["Solved over the real numbers."]
    if found is S.EmptySet:
        return {"result": "no solution", "solutions": [], "notes": notes}
    if found == S.Reals:
        return {"result": f"every real {name}", "solutions": None, "notes": notes}
    parts = found.args if isinstance(found, sympy.Union) else [found]
    return {"result": " or ".join(bounded(one, name) for one in parts), "solutions": None, "latex": sympy.latex(found), "notes": notes}


def bounded(one, name):
    if isinstance(one, FiniteSet):
        return " or ".join(f"{name} = {show.text(value)}" for value in one)
    if not isinstance(one, sympy.Interval):
        raise Unsupported("The set of its solutions has no simple form.")
    low, high = show.text(one.start), show.text(one.end)
    left, right = "<" if one.left_open else "<=", "<" if one.right_open else "<="
    if one.end is S.Infinity:
        return f"{name} {'>' if one.left_open else '>='} {low}"
    if one.start is S.NegativeInfinity:
        return f"{name} {right} {high}"
    return f"{low} {left} {name} {right} {high}"


def numeric(term, name, precision):
    """Real solutions between -100 and 100, where the sign changes. A solution that touches zero without crossing it is not found."""
    if term.free_symbols != {name}:
        raise Unsupported("No exact solution was found.")
    def evaluate(x):
        return term.subs(name, x).evalf(20)

    def at(x):
        value = evaluate(sympy.Float(x, 20))
        return value if value.is_Float or value.is_Integer else None

    points = [sympy.Rational(n, 2) + sympy.Rational(1, 97) for n in range(-200, 200)]
    values = [at(x) for x in points]
    roots = []
    for (a, b), (fa, fb) in zip(zip(points, points[1:]), zip(values, values[1:])):
        if fa is None or fb is None or (fa > 0) == (fb > 0):
            continue
        root = bisected(at, a, b, fa)
        if root is not None:
            roots.append(root)
    if not roots:
        raise Unsupported("No exact solution was found.")
    digits = min(precision, 15)
    decimals = [show.short(root.evalf(digits)) for root in roots]
    return {
        "result": " or ".join(f"{name} ≈ {value}" for value in decimals),
        "decimal": " or ".join(f"{name} = {value}" for value in decimals),
        "solutions": None,
        "caveat": "No exact solution was found; these are the real solutions between -100 and 100 where the sign changes, rounded.",
    }


def bisected(at, a, b, fa):
    low, high, below = sympy.Float(a, 20), sympy.Float(b, 20), fa > 0
    for _ in range(62):
        middle = (low + high) / 2
        value = at(middle)
        if value is None:
            return None
        if value == 0:
            return middle
        low, high = (middle, high) if (value > 0) == below else (low, middle)
    value = at(low)
    # A pole changes the sign as well.
    return low if value is not None and abs(value) < 1e-6 else None
