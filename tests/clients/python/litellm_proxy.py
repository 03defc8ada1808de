"""LiteLLM's proxy in front of Conclave, called with openai-python, as its users do, and over Anthropic's Messages API."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time

import httpx2
import openai
from pydantic import BaseModel
from capabilities import address, api_key, check, endless, introduce, models, question, refusal, said, same, town

master_key = f"sk-{secrets.token_hex(24)}"
conclave = {"api_base": f"{address}/v1"}
settings = {
    "model_list": [
        {"model_name": "stranger", "litellm_params": {"model": f"openai/{models.template}", "api_key": "sk-nobody", **conclave}},
        # Every other model keeps its own name.
        {"model_name": "*", "litellm_params": {"model": "openai/*", "api_key": "os.environ/CLIENT_KEY", **conclave}},
    ],
    "litellm_settings": {"check_provider_endpoint": True, "telemetry": False},
    "router_settings": {"num_retries": 0},
    "general_settings": {"master_key": "os.environ/LITELLM_MASTER_KEY"},
}


class Place(BaseModel):
    town: str


@contextlib.contextmanager
def proxy():
    """Runs a proxy for as long as the context is open. Yields its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        configuration = os.path.join(folder, "config.yaml")
        with open(configuration, "w") as file:
            json.dump(settings, file)
        # Without LITELLM_LOCAL_MODEL_COST_MAP it would download its list of prices.
        env = {**os.environ, "LITELLM_MASTER_KEY": master_key, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_DOCS": "True"}
        command = [sys.executable, "-m", "litellm.proxy.proxy_cli", "--config", configuration, "--host", "127.0.0.1", "--port", str(port)]
        with open(os.path.join(folder, "log"), "w+") as log:
            process = subprocess.Popen(command, env=env, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
            try:
                url = f"http://127.0.0.1:{port}"
                until = time.monotonic() + 180
                while True:
                    try:
                        if httpx2.get(f"{url}/health/liveliness", timeout=5).status_code == 200:
                            break
                    except httpx2.TransportError:
                        pass
                    if process.poll() is not None or time.monotonic() > until:
                        log.seek(0)
                        raise RuntimeError(f"LiteLLM's proxy did not start.\n{log.read()[-2000:]}")
                    time.sleep(0.1)
                yield url
            finally:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()


def user(content):
    return [{"role": "user", "content": content}]


introduce("LiteLLM proxy", "litellm")
with proxy() as url:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key=master_key, max_retries=0)

    @check("chat")
    def _():
        answer = client.chat.completions.create(model=models.template, messages=user(question()))
        same([answer.choices[0].message.content, answer.choices[0].finish_reason], [said, "stop"])
        assert answer.usage.total_tokens > 0

    @check("chat, streamed")
    def _():
        text, tokens = "", 0
        asked = {"model": models.template, "stream": True, "stream_options": {"include_usage": True}}
        for chunk in client.chat.completions.create(**asked, messages=user(question())):
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
            tokens += chunk.usage.total_tokens if chunk.usage else 0
        same(text, said)
        assert tokens > 0

    parameters = {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}
    weather = {"name": "get_weather", "description": "The weather of a town", "parameters": parameters}

    def round_trip(model):
        asked = {"model": model, "tools": [{"type": "function", "function": weather}]}
        messages = user(question())
        first = client.chat.completions.create(**asked, messages=messages).choices[0]
        call = first.message.tool_calls[0]
        same([first.finish_reason, json.loads(call.function.arguments)], ["tool_calls", {"town": town}])
        result = {"role": "tool", "tool_call_id": call.id, "content": "rain"}
        second = client.chat.completions.create(**asked, messages=[*messages, first.message, result])
        same(second.choices[0].message.content, said)
        messages = user(question())
        with client.chat.completions.stream(**asked, messages=messages) as stream:
            streamed = stream.get_final_completion().choices[0].message
        same(json.loads(streamed.tool_calls[0].function.arguments), {"town": town})
        result["tool_call_id"] = streamed.tool_calls[0].id
        with client.chat.completions.stream(**asked, messages=[*messages, streamed.model_dump(exclude_none=True), result]) as stream:
            same(stream.get_final_completion().choices[0].message.content, said)

    check("tools, template")(lambda: round_trip(models.passing))
    check("tools, asked first")(lambda: round_trip(models.asking))
    check("tools, direct")(lambda: round_trip(models.direct))

    @check("structured output")
    def _():
        for model in (models.template, models.direct):
            parsed = client.chat.completions.parse(model=model, messages=user(question()), response_format=Place)
            same(parsed.choices[0].message.parsed, Place(town=town))

    @check("errors")
    def _():
        def refused(model, **rest):
            return refusal(lambda: client.chat.completions.create(model=model, messages=user("x"), **rest)).status_code

        same([refused("no-such"), refused("stranger"), refused(models.template, temperature=9)], [404, 401, 400])
        same(refused("no-such", stream=True), 404)

    @check("abort")
    def _():
        stream = client.chat.completions.create(model=models.direct, messages=user(question(endless)), stream=True)
        for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                break
        stream.close()

    @check("models")
    def _():
        ids = [model.id for model in client.models.list()]
        for model in models.all:
            assert any(id.endswith(model) for id in ids), f"{model} of {ids}"

    @check("embeddings")
    def _():
        found = client.embeddings.create(model="conclave-embedding", input=["rain", "sun"]).data
        assert len(found) == 2 and len(found[0].embedding) > 10

    @check("responses")
    def _():
        whole = client.responses.create(model=models.template, input=question())
        same([whole.output_text, whole.status], [said, "completed"])
        with client.responses.stream(model=models.template, input=question()) as stream:
            same(stream.get_final_response().output_text, said)

    def message(content, model=models.template, **rest):
        body = {"model": model, "max_tokens": 500, "messages": user(content), **rest}
        headers = {"x-api-key": master_key, "anthropic-version": "2023-06-01"}
        response = httpx2.post(f"{url}/v1/messages", json=body, headers=headers, timeout=30)
        assert response.status_code == 200, response.text
        return response

    @check("messages")
    def _():
        answer = message(question()).json()
        same("".join(block.get("text", "") for block in answer["content"]), said)
        same(answer["stop_reason"], "end_turn")
        tool = {"name": "get_weather", "description": "The weather of a town", "input_schema": parameters}
        called = message(question(), models.passing, tools=[tool]).json()
        call = next(block for block in called["content"] if block["type"] == "tool_use")
        same([called["stop_reason"], call["name"], call["input"]], ["tool_use", "get_weather", {"town": town}])

    @check("messages, streamed")
    def _():
        lines = message(question(), stream=True).text.splitlines()
        events = [json.loads(line[len("data: ") :]) for line in lines if line.startswith("data: {")]
        same("".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta"), said)
        same(events[-1]["type"], "message_stop")
