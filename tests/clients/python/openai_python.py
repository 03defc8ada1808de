import asyncio
import json
import uuid

import openai
from pydantic import BaseModel
from capabilities import address, api_key, check, endless, introduce, models, question, refusal, said, same, town

options = {"base_url": f"{address}/v1", "api_key": api_key}
client = openai.OpenAI(**options)


def user(content):
    return [{"role": "user", "content": content}]


class get_weather(BaseModel):
    """The weather of a town"""

    town: str


class Place(BaseModel):
    town: str


tools = [openai.pydantic_function_tool(get_weather)]
introduce("openai-python", "openai")


@check("chat")
def _():
    answer = client.chat.completions.create(model=models.template, messages=user(question()))
    same([answer.choices[0].message.content, answer.choices[0].finish_reason], [said, "stop"])
    assert answer.usage.total_tokens > 0

    async def asked():
        async with openai.AsyncOpenAI(**options) as other:
            return await other.chat.completions.create(model=models.template, messages=user(question()))

    same(asyncio.run(asked()).choices[0].message.content, said)


@check("chat, streamed")
def _():
    text, tokens = "", 0
    asked = {"model": models.template, "stream": True, "stream_options": {"include_usage": True}}
    for chunk in client.chat.completions.create(**asked, messages=user(question())):
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
        tokens += chunk.usage.total_tokens if chunk.usage else 0
    same(text, said)
    assert tokens > 0
    with client.chat.completions.stream(model=models.template, messages=user(question())) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        same(["".join(deltas), stream.get_final_completion().choices[0].message.content], [said, said])


def round_trip(model):
    messages = user(question())
    first = client.chat.completions.create(model=model, messages=messages, tools=tools).choices[0]
    call = first.message.tool_calls[0]
    same([first.finish_reason, json.loads(call.function.arguments)], ["tool_calls", {"town": town}])
    result = {"role": "tool", "tool_call_id": call.id, "content": "rain"}
    second = client.chat.completions.create(model=model, messages=[*messages, first.message, result], tools=tools)
    same(second.choices[0].message.content, said)
    # The helpers of the client parse the arguments into the class of the tool.
    messages = user(question())
    with client.chat.completions.stream(model=model, messages=messages, tools=tools) as stream:
        final = stream.get_final_completion().choices[0].message
    same(final.tool_calls[0].function.parsed_arguments, get_weather(town=town))
    result["tool_call_id"] = final.tool_calls[0].id
    turns = [*messages, final.model_dump(exclude_none=True), result]
    with client.chat.completions.stream(model=model, messages=turns, tools=tools) as stream:
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
    unknown = refusal(lambda: client.chat.completions.create(model="no-such", messages=user("x")))
    same([type(unknown), unknown.code], [openai.NotFoundError, "model_not_found"])
    invalid = refusal(lambda: client.chat.completions.create(model=models.template, messages=user("x"), temperature=9))
    same([type(invalid), invalid.param], [openai.BadRequestError, "temperature"])
    streamed = refusal(lambda: client.chat.completions.create(model=models.template, messages=[], stream=True))
    same(type(streamed), openai.BadRequestError)
    stranger = openai.OpenAI(**{**options, "api_key": "sk-nobody"})
    same(type(refusal(stranger.models.list)), openai.AuthenticationError)


@check("no useless retry")
def _():
    requests = []
    counting = openai.DefaultHttpxClient(event_hooks={"request": [requests.append]})
    stranger = openai.OpenAI(**{**options, "api_key": "sk-nobody"}, http_client=counting, max_retries=3)
    refusal(stranger.models.list)
    same(len(requests), 1)


@check("repeated request")
def _():
    asked = {"model": models.template, "messages": user(question()), "extra_headers": {"Idempotency-Key": str(uuid.uuid4())}}
    answers = [client.chat.completions.with_raw_response.create(**asked) for _ in range(2)]
    same(len({answer.headers["x-run-id"] for answer in answers}), 1)
    same(len({answer.parse().id for answer in answers}), 1)


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
        assert model in ids, model
    same(client.models.retrieve(models.direct).id, models.direct)


@check("embeddings")
def _():
    # The client requests base64 and decodes it, unless another format is set.
    found = [
        client.embeddings.create(model="conclave-embedding", input=["rain", "sun"], **form).data
        for form in ({}, {"encoding_format": "float"})
    ]
    for decoded, plain in zip(*found, strict=True):
        assert len(decoded.embedding) == len(plain.embedding) > 10
        assert all(abs(a - b) < 1e-6 for a, b in zip(decoded.embedding, plain.embedding))


@check("completions")
def _():
    whole = client.completions.create(model=models.template, prompt=question())
    same(whole.choices[0].text, said)
    streamed = client.completions.create(model=models.template, prompt=question(), stream=True)
    same("".join(chunk.choices[0].text for chunk in streamed if chunk.choices), said)


@check("responses")
def _():
    whole = client.responses.create(model=models.template, input=question())
    same([whole.output_text, whole.status], [said, "completed"])
    assert whole.usage.total_tokens > 0
    with client.responses.stream(model=models.template, input=question()) as stream:
        same(stream.get_final_response().output_text, said)
    parsed = client.responses.parse(model=models.direct, input=question(), text_format=Place)
    same(parsed.output_parsed, Place(town=town))
    follower = client.responses.create(model=models.template, input=question(), previous_response_id=whole.id)
    same([follower.previous_response_id, follower.output_text], [whole.id, said])
    same(client.responses.retrieve(whole.id).output_text, said)
    assert len(client.responses.input_items.list(whole.id).data) == 1
    client.responses.delete(whole.id)
    same(type(refusal(lambda: client.responses.retrieve(whole.id))), openai.NotFoundError)
    waiting = client.responses.create(model=models.template, input=question(), background=True)
    for _ in range(200):
        if waiting.status not in ("queued", "in_progress"):
            break
        waiting = client.responses.retrieve(waiting.id)
    same([waiting.status, waiting.output_text], ["completed", said])


@check("responses, tools")
def _():
    tool = openai.pydantic_function_tool(get_weather)["function"]
    for model in (models.passing, models.asking, models.direct):
        first = client.responses.create(model=model, input=question(), tools=[{"type": "function", **tool}])
        call = next(item for item in first.output if item.type == "function_call")
        same([call.name, json.loads(call.arguments)], ["get_weather", {"town": town}])
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
        second = client.responses.create(
            model=model, input=[result], previous_response_id=first.id, tools=[{"type": "function", **tool}]
        )
        same(second.output_text, said)
