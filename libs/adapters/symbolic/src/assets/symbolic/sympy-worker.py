"""
Calculates jobs with SymPy: one line of JSON in, one line of JSON out. Its argument is its memory limit in megabytes. Writes
{"ready": version} first. Ends when its input ends.
"""
import importlib.util
import json
import os
import sys

# Isolated mode (-I) leaves the folder of the script out.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import guard

# SymPy loads these on first use, and they generate classes from text. They are loaded before the audit hook forbids that.
LOADED_LATE = ("sympy.physics.units", "sympy.integrals.manualintegrate", "sympy.integrals.risch", "sympy.integrals.prde", "sympy.tensor.tensor")


def reply_to(job, calculate, errors):
    """Returns the fields of a reply, and whether this process can be used again."""
    invalid, too_large, unsupported = errors
    try:
        return {"ok": True, **calculate(job)}, True
    except invalid as error:
        return {"ok": False, "code": "MATH_INPUT_INVALID", "detail": str(error)}, True
    except too_large as error:
        return {"ok": False, "code": "MATH_LIMIT", "detail": str(error)}, True
    except unsupported as error:
        return {"ok": False, "code": "MATH_UNSUPPORTED", "detail": str(error)}, True
    except (NotImplementedError, ZeroDivisionError, OverflowError):
        return {"ok": False, "code": "MATH_UNSUPPORTED", "detail": "No exact result was found."}, True
    except MemoryError:
        return {"ok": False, "code": "MATH_LIMIT", "detail": "It needs more memory than allowed."}, False
    except RecursionError:
        return {"ok": False, "code": "MATH_LIMIT", "detail": "It is nested too deeply for SymPy."}, False
    except guard.Refused as event:
        return {"ok": False, "code": "MATH_UNSUPPORTED", "detail": f"SymPy tried something that is not allowed here ({event})."}, False
    except Exception as error:  # SymPy raises exceptions of every kind for what it cannot do.
        return {"ok": False, "code": "MATH_UNSUPPORTED", "detail": f"SymPy gave up ({type(error).__name__})."}, True


def main():
    # What a library prints must not reach the lines of the protocol.
    out = os.fdopen(os.dup(1), "w", encoding="ascii")
    sys.stdout = sys.stderr
    lines = os.fdopen(os.dup(0), "r", encoding="utf-8")
    guard.limit_system(int(sys.argv[1]))
    guard.limit_processor(30)

    def say(value):
        out.write(json.dumps(value) + "\n")
        out.flush()

    try:
        import sympy
    except ImportError:
        say({"missing": sys.executable})
        return
    from build import Invalid, TooLarge, Unsupported
    from operations import OPERATIONS
    from show import LONGEST
    from sympy.core.cache import clear_cache
    from sympy.parsing import sympy_parser
    from sympy.polys.monomials import MonomialOps

    for module in LOADED_LATE:
        if importlib.util.find_spec(module):
            importlib.import_module(module)
    sys.setrecursionlimit(5_000)
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    guard.close_parser(sympy_parser, sympy.Rational)
    # SymPy generates the code that multiplies polynomials, separately for each number of names.
    guard.close([MonomialOps._build.__code__])
    say({"ready": sympy.__version__})
    for line in lines:
        request = json.loads(line)
        guard.limit_processor(request["seconds"])
        job = request["job"]
        reply, sound = reply_to(job, OPERATIONS[job["operation"]], (Invalid, TooLarge, Unsupported))
        if reply["ok"] and len(reply["result"]) > LONGEST:
            reply = {"ok": False, "code": "MATH_LIMIT", "detail": f"The result has more than {LONGEST} characters."}
        if reply["ok"] and len(reply.get("decimal") or "") > LONGEST:
            reply["decimal"] = None
        # The next question must not go to a process that is about to end.
        say({"id": request["id"], **reply, **({} if sound else {"last": True})})
        if not sound:
            return
        # Nothing from one question remains for the next.
        clear_cache()


main()
