"""Calls a function as Open WebUI does: loads its file as a module, sets its valves, looks at its signature, and takes what it returns.

Reads one JSON object from standard input: file, valves, do (pipes | pipe | action), and the arguments. Writes JSON lines: {"event"}, {"line"},
{"result"}, {"models"}. A pipe with `leave_after` is closed after that many lines, as when a user presses stop.
"""

import asyncio
import inspect
import json
import sys
import types
from collections.abc import AsyncGenerator


def say(**what):
    print(json.dumps(what), flush=True)


def loaded(path):
    module = types.ModuleType("function_conclave")
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module.Pipe() if hasattr(module, "Pipe") else module.Action()


async def emit(event):
    say(event=event)


def params_of(function, given):
    return {name: value for name, value in given.items() if name in inspect.signature(function).parameters}


async def main():
    asked = json.load(sys.stdin)
    function = loaded(asked["file"])
    function.valves = function.Valves(**asked["valves"])
    if asked["do"] == "pipes":
        prefix = getattr(function, "name", "")
        return say(models=[{"id": f"conclave.{one['id']}", "name": f"{prefix}{one['name']}"} for one in await function.pipes()])
    given = {**asked["given"], **({} if asked.get("no_events") else {"__event_emitter__": emit})}
    if asked["do"] == "action":

        async def call(event):
            say(event=event)
            return asked.get("words", "")

        return say(result=await function.action(**params_of(function.action, {**given, "__event_call__": call})))
    result = await function.pipe(**params_of(function.pipe, given))
    if not isinstance(result, AsyncGenerator):
        return say(result=result)
    count = 0
    async for line in result:
        count += 1
        say(line=line)
        if count == asked.get("leave_after"):
            return await result.aclose()


asyncio.run(main())
