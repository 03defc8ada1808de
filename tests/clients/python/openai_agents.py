import asyncio

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    function_tool,
    set_tracing_disabled,
)
from openai import APIStatusError, AsyncOpenAI
from pydantic import BaseModel
from capabilities import address, api_key, check, endless, introduce, models, question, refusal, said, same, town

set_tracing_disabled(True)
apis = (OpenAIResponsesModel, OpenAIChatCompletionsModel)


def agent(model, api=OpenAIResponsesModel, key=api_key, **rest):
    client = AsyncOpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0)
    return Agent(name="Weather", instructions="Be brief.", model=api(model=model, openai_client=client), **rest)


class Place(BaseModel):
    town: str


# The clients of an agent belong to one event loop.
finished = asyncio.new_event_loop().run_until_complete


def run(one, text, **rest):
    return finished(Runner.run(one, text, **rest))


async def streamed(one, text, **rest):
    """The text of a streamed answer, and the result."""
    result = Runner.run_streamed(one, text, **rest)
    parts = []
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            parts.append(event.data.delta)
    return "".join(parts), result


introduce("OpenAI Agents (Python)", "openai-agents")


@check("chat")
def _():
    result = run(agent(models.template, OpenAIChatCompletionsModel), question())
    same(result.final_output, said)
    assert result.context_wrapper.usage.total_tokens > 0


@check("chat, streamed")
def _():
    settings = ModelSettings(include_usage=True)
    text, result = finished(streamed(agent(models.template, OpenAIChatCompletionsModel, model_settings=settings), question()))
    same([text, result.final_output], [said, said])
    assert result.context_wrapper.usage.total_tokens > 0


def round_trip(model, api, **rest):
    called = []

    @function_tool
    def get_weather(town: str) -> str:
        """The weather of a town"""
        called.append(town)
        return "rain"

    one = agent(model, api, tools=[get_weather], **rest)
    same(run(one, question()).final_output, said)
    text, _ = finished(streamed(one, question()))
    same(text, said)
    same(called, [town, town])
    # The second turn of a conversation that contains calls.
    session = SQLiteSession("weather")
    for _ in range(2):
        same(run(one, question(), session=session).final_output, said)
    same(len(called), 4)


check("tools, template")(lambda: round_trip(models.passing, OpenAIChatCompletionsModel))
check("tools, asked first")(lambda: round_trip(models.asking, OpenAIChatCompletionsModel))
check("tools, direct")(lambda: round_trip(models.direct, OpenAIChatCompletionsModel))


@check("structured output")
def _():
    for api in apis:
        for model in (models.template, models.direct):
            same(run(agent(model, api, output_type=Place), question()).final_output, Place(town=town))


@check("errors")
def _():
    too_hot = ModelSettings(temperature=9)
    for api in apis:
        tried = [agent("no-such", api), agent(models.template, api, "sk-nobody"), agent(models.template, api, model_settings=too_hot)]
        errors = [refusal(lambda: run(one, "x")) for one in tried]
        assert all(isinstance(error, APIStatusError) for error in errors), errors
        same([error.status_code for error in errors], [404, 401, 400])


@check("abort")
def _():
    async def left():
        for api in apis:
            result = Runner.run_streamed(agent(models.direct, api), question(endless))
            async for event in result.stream_events():
                if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                    result.cancel()

    finished(left())


@check("responses")
def _():
    one = agent(models.template)
    first = run(one, question())
    same(first.final_output, said)
    assert first.context_wrapper.usage.total_tokens > 0
    text, _ = finished(streamed(one, question(), previous_response_id=first.last_response_id))
    same(text, said)


@check("responses, tools")
def _():
    for model in (models.passing, models.asking, models.direct):
        round_trip(model, OpenAIResponsesModel, model_settings=ModelSettings(parallel_tool_calls=False, store=True))
