"""What a client program in Python receives, and how it reports what works, like tests/clients/capabilities.mjs."""

import importlib.metadata
import json
import os
import sys
import traceback

# Address without /v1.
address = os.environ["CLIENT_ADDRESS"]
api_key = os.environ["CLIENT_KEY"]


class models:
    """A template that runs its committee, one that passes tools through, one that asks the tool model first, and a model that is asked directly."""

    template = "conclave-fast"
    passing = "passes"
    asking = "asks"
    direct = "scripted@fake"
    all = (template, passing, asking, direct)


# What the scripted model replies, calls its tool with, and fills a schema with.
said = "It rains in Ulm."
town = "Ulm"
# A part of a question at which the scripted model begins to reply without ever ending.
endless = "[endless]"
_asked = 0


def tell(**line):
    print(json.dumps(line), flush=True)


def introduce(client, package):
    tell(client=client, version=importlib.metadata.version(package))


def check(capability):
    """Tries a capability immediately; an exception is the reason why the client fails at it."""

    def attempt(work):
        try:
            work()
            tell(capability=capability, passes=True)
        except Exception:
            tell(capability=capability, passes=False, reason=traceback.format_exc()[-1500:])
        return work

    return attempt


def same(found, expected):
    if found != expected:
        raise AssertionError(f"{found!r} instead of {expected!r}")


def refusal(work):
    """The error of a call that must be refused."""
    try:
        work()
    except Exception as error:
        return error
    raise AssertionError("It was not refused.")


def question(what=""):
    """A question that no other capability asks, so that no cache answers it."""
    global _asked
    _asked += 1
    return f"How is the weather in Ulm? {os.path.basename(sys.argv[0])} {_asked} {what}"
