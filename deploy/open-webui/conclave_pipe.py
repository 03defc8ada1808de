"""
title: Conclave
description: Templates and models of Conclave as models of Open WebUI, with live status, citations and no limit of 300 seconds.
version: 0.1.0
license: Apache-2.0
required_open_webui_version: 0.5.0
"""

import json
import re
from typing import Any, AsyncGenerator, Optional
from urllib.parse import quote

import aiohttp
from pydantic import BaseModel, Field

# Fields of a chat request that are sent to Conclave; the others concern only Open WebUI.
TAKEN = (
    "messages",
    "temperature",
    "top_p",
    "stop",
    "max_tokens",
    "max_completion_tokens",
    "seed",
    "response_format",
    "reasoning_effort",
    "tools",
    "tool_choice",
)


class ConclaveError(Exception):
    """Conclave's message about a request that it did not answer."""


class Pipe:
    class Valves(BaseModel):
        base_url: str = Field(default="http://host.docker.internal:8080/v1", description="Address of Conclave, with /v1")
        api_key: str = Field(default="", description="API key of Conclave; it decides which models are listed", json_schema_extra={"input": {"type": "password"}})
        forward_user: bool = Field(default=True, description="Send the user (id, name, email, role) as X-OpenWebUI-User-* headers")
        wall_time_s: float = Field(default=0, description="Seconds after which a run ends with what it has found; 0: the limit of its template")
        silence_s: float = Field(default=60, description="Seconds without data after which a connection counts as broken; Conclave sends something every 15 s")
        run_source: bool = Field(default=True, description="Add \"How this answer was found\" as the last source; the rating buttons need it")
        public_url: str = Field(default="", description="Address of Conclave for its users, for links to runs; empty: no links")

    def __init__(self) -> None:
        self.name = ""
        self.valves = self.Valves()

    async def pipes(self) -> list[dict[str, str]]:
        """The models that the key may use."""
        try:
            async with self._session() as session:
                listed = await self._json(session, "GET", "/models")
        except (ConclaveError, aiohttp.ClientError, TimeoutError) as error:
            return [{"id": "unavailable", "name": f"Conclave: {error or 'no answer'}"}]
        return [{"id": model["id"], "name": model["id"]} for model in listed["data"]]

    async def pipe(
        self,
        body: dict,
        __user__: Optional[dict] = None,
        __event_emitter__: Any = None,
        __metadata__: Optional[dict] = None,
        __task__: Optional[str] = None,
    ) -> Any:
        # Open WebUI puts the id of the function before the first dot.
        model = body["model"].split(".", 1)[-1]
        request = {name: body[name] for name in TAKEN if body.get(name) is not None}
        request |= {"model": model, "stream": bool(body.get("stream"))}
        if self.valves.wall_time_s > 0 and "@" not in model:
            request["conclave"] = {"wall_time_s": self.valves.wall_time_s}
        headers = self._about(__user__ or {}, __metadata__ or {})
        if __task__:
            # A title, tags, follow-ups, search queries: one call to a small model, never a run.
            headers["x-conclave-task"] = str(getattr(__task__, "value", __task__))
        else:
            headers["x-conclave-progress"] = "status" if __event_emitter__ else "none"
        if request["stream"]:
            return self._streamed(request | {"stream_options": {"include_usage": True}}, headers, __event_emitter__)
        async with self._session() as session:
            return await self._json(session, "POST", "/chat/completions", request, headers)

    async def _streamed(self, request: dict, headers: dict, emit: Any) -> AsyncGenerator[dict, None]:
        """Chunks of the answer. Closing the generator closes the connection, and Conclave then ends the run."""
        try:
            async with self._session() as session:
                async with session.post(f"{self._base}/chat/completions", json=request, headers=headers) as response:
                    await refuse(response)
                    run_id = response.headers.get("x-run-id")
                    facts: Optional[dict] = None
                    async for chunk in events(response.content):
                        if "error" in chunk:
                            raise ConclaveError(chunk["error"].get("message") or "The answer failed.")
                        if "event" in chunk:
                            if emit:
                                await emit(chunk["event"])
                            continue
                        facts = chunk.pop("conclave", None) or facts
                        for choice in chunk.get("choices", []):
                            # Sent as events below, which also cover sources without an address.
                            choice.get("delta", {}).pop("annotations", None)
                        yield chunk
                if emit and run_id and facts:
                    for event in await self._sources(session, run_id, facts, headers, documents_in(request["messages"])):
                        await emit(event)
        except (ConclaveError, aiohttp.ClientError, TimeoutError) as error:
            message = str(error) or "Conclave did not answer in time."
            if emit:
                await emit({"type": "status", "data": {"description": message, "done": True}})
            yield {"error": {"message": message, "detail": message}}

    async def _sources(self, session: aiohttp.ClientSession, run_id: str, facts: dict, headers: dict, own: int) -> list[dict]:
        """Citations in the order of their numbers, then how the answer was found. Never fails, so that the answer stays.

        The first `own` numbers belong to documents that Open WebUI sent, and that it lists itself.
        """
        try:
            run = await self._json(session, "GET", f"/runs/{run_id}", None, headers)
        except (ConclaveError, aiohttp.ClientError, TimeoutError):
            run = {"sources": []}
        # Open WebUI shows [n] as the n-th source with a distinct name, so every number gets such a source, even if it is not cited.
        cited = {source["n"]: source for source in run["sources"] if source.get("n")}
        names: set[str] = set()
        found = []
        for n in range(own + 1, max(cited, default=0) + 1):
            name = title_of(cited[n]) if n in cited else f"Source {n} (not cited)"
            name = name if name not in names else f"{name} [{n}]"
            names.add(name)
            texts = [passage["text"] for passage in run.get("evidence", []) if passage["n"] == n]
            found.append(self._citation(cited.get(n, {}), name, texts, run_id))
        found += [self._citation(source, title_of(source), [], run_id) for source in run["sources"] if not source.get("n")]
        return found + ([self._run_source(run_id, facts)] if self.valves.run_source else [])

    def _citation(self, source: dict, name: str, texts: list[str], run_id: str) -> dict:
        url = source.get("url")
        about = {"source": url or source.get("document") or name, "name": name, "run_id": run_id}
        said = texts or [name]
        return {
            "type": "citation",
            "data": {"document": said, "metadata": [about] * len(said), "source": {"name": name} | ({"url": url} if url else {})},
        }

    def _run_source(self, run_id: str, facts: dict) -> dict:
        calls, rounds = facts.get("calls", 0), facts.get("rounds", 0)
        text = f"{facts.get('reason', '')}\n{rounds} round(s), {calls} model call(s), cost {facts.get('cost', 0)}. Run {run_id}"
        link = f"{self.valves.public_url.rstrip('/')}/v1/runs/{run_id}" if self.valves.public_url else ""
        source = {"name": "How this answer was found"} | ({"url": link} if link else {})
        return {
            "type": "citation",
            "data": {"document": [text], "metadata": [{"source": link or run_id, "name": source["name"], "run_id": run_id}], "source": source},
        }

    def _about(self, user: dict, metadata: dict) -> dict[str, str]:
        """The headers with which Open WebUI itself tells a model server who is asking."""
        chat = {"X-OpenWebUI-Chat-Id": metadata.get("chat_id"), "X-OpenWebUI-Message-Id": metadata.get("message_id")}
        names = ("id", "name", "email", "role") if self.valves.forward_user else ()
        about = {f"X-OpenWebUI-User-{name.capitalize()}": user.get(name) for name in names}
        return {name: quote(str(value), safe=" @.:+-_") for name, value in (chat | about).items() if value}

    @property
    def _base(self) -> str:
        return self.valves.base_url.rstrip("/")

    def _session(self) -> aiohttp.ClientSession:
        key = {"Authorization": f"Bearer {self.valves.api_key}"} if self.valves.api_key else {}
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=self.valves.silence_s)
        return aiohttp.ClientSession(headers=key, timeout=timeout, trust_env=True)

    async def _json(self, session: aiohttp.ClientSession, method: str, path: str, body: Optional[dict] = None, headers: Optional[dict] = None) -> dict:
        # Conclave sends nothing before a whole answer is complete, so the request may take as long as the run.
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=10) if method == "POST" else aiohttp.ClientTimeout(total=30)
        async with session.request(method, self._base + path, json=body, headers=headers, timeout=timeout) as response:
            await refuse(response)
            return await response.json()


def documents_in(messages: list) -> int:
    """Documents that Open WebUI put into the question, or into the system message, under the numbers 1, 2, …"""
    texts = [part for message in messages for part in texts_of(message.get("content"))]
    return max((int(n) for text in texts for n in re.findall(r'(?m)^<source id="(\d{1,3})"', text)), default=0)


def texts_of(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part.get("text") or "" for part in content or [] if part.get("type") == "text"]


def title_of(source: dict) -> str:
    title, section = source["title"], source.get("section")
    return f"{title} ({section})" if section and section != title else title


async def refuse(response: aiohttp.ClientResponse) -> None:
    if response.status < 400:
        return
    try:
        message = (await response.json())["error"]["message"]
    except (aiohttp.ContentTypeError, ValueError, KeyError, TypeError):
        message = f"Conclave answered with status {response.status}."
    raise ConclaveError(message)


async def events(stream: aiohttp.StreamReader) -> AsyncGenerator[dict, None]:
    """The data of server-sent events. Lines may be longer than the library's reader allows, so they are split here."""
    rest = b""
    async for part in stream.iter_any():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                return
            yield json.loads(data)
    raise ConclaveError("The connection ended before the answer did.")
