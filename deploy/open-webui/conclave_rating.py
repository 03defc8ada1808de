"""
title: Rate an answer of Conclave
description: Two buttons below each answer that send a rating, and what was wrong, to Conclave.
version: 0.1.0
license: Apache-2.0
required_open_webui_version: 0.5.0
"""

from typing import Any, Optional

import aiohttp
from pydantic import BaseModel, Field

GOOD, BAD = 5, 1
LONGEST = 4_000


class Action:
    class Valves(BaseModel):
        base_url: str = Field(default="http://host.docker.internal:8080/v1", description="Address of Conclave, with /v1")
        api_key: str = Field(
            default="",
            description="The same key as in the pipe: only the key that asked may rate",
            json_schema_extra={"input": {"type": "password"}},
        )

    actions = [
        {"id": "good", "name": "Good answer", "icon_url": "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='gray' stroke-width='2'><path d='M5 13l4 4L19 7'/></svg>"},
        {"id": "bad", "name": "Bad answer", "icon_url": "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='gray' stroke-width='2'><path d='M6 6l12 12M18 6L6 18'/></svg>"},
    ]

    def __init__(self) -> None:
        self.valves = self.Valves()

    async def action(self, body: dict, __event_emitter__: Any = None, __event_call__: Any = None, __id__: Optional[str] = None) -> None:
        run_id = run_of(body)
        if run_id is None:
            return await tell(__event_emitter__, "error", "This answer has no run of Conclave that could be rated.")
        is_good = __id__ != "bad"
        rating: dict[str, Any] = {"response_id": run_id, "rating": GOOD if is_good else BAD}
        if not is_good and __event_call__:
            question = {"title": "What should the answer have said?", "message": "Leave it empty to send only the rating.", "placeholder": ""}
            words = await __event_call__({"type": "input", "data": question})
            if isinstance(words, str) and words.strip():
                rating["correction"] = words.strip()[:LONGEST]
        headers = {"Authorization": f"Bearer {self.valves.api_key}"} if self.valves.api_key else {}
        try:
            async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(total=30), trust_env=True) as session:
                async with session.post(f"{self.valves.base_url.rstrip('/')}/feedback", json=rating) as response:
                    said = await response.json()
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            return await tell(__event_emitter__, "error", f"The rating could not be sent: {error or 'no answer'}")
        if response.status >= 400:
            return await tell(__event_emitter__, "error", said.get("error", {}).get("message", "The rating was refused."))
        await tell(__event_emitter__, "success", "Thank you. The rating was sent.")


def run_of(body: dict) -> Optional[str]:
    """The id of the run behind the rated message, from the sources that the pipe added to it."""
    messages = body.get("messages") or []
    rated = next((one for one in messages if one.get("id") == body.get("id")), messages[-1] if messages else {})
    for source in rated.get("sources") or []:
        for about in source.get("metadata") or []:
            if isinstance(about, dict) and isinstance(about.get("run_id"), str):
                return about["run_id"]
    return None


async def tell(emit: Any, kind: str, content: str) -> None:
    if emit:
        await emit({"type": "notification", "data": {"type": kind, "content": content}})
