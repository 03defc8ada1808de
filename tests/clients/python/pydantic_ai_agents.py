import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider
from capabilities import address, api_key, check, endless, introduce, models, question, refusal, said, same, town

apis = (OpenAIChatModel, OpenAIResponsesModel)


def agent(model, api=OpenAIChatModel, key=api_key, **rest):
    return Agent(api(model, provider=OpenAIProvider(base_url=f"{address}/v1", api_key=key)), instructions="Be brief.", **rest)


class Place(BaseModel):
    town: str


async def streamed(one, text, **rest):
    async with one.run_stream(text, **rest) as result:
        return "".join([part async for part in result.stream_text(delta=True)]), result


introduce("Pydantic AI", "pydantic-ai-slim")


@check("chat")
def _():
    result = agent(models.template).run_sync(question())
    same(result.output, said)
    assert result.usage.total_tokens > 0


@check("chat, streamed")
def _():
    text, result = asyncio.run(streamed(agent(models.template), question()))
    same(text, said)
    assert result.usage.total_tokens > 0


def round_trip(model, api):
    called = []
    one = agent(model, api)

    @one.tool_plain
    def get_weather(town: str) -> str:
        """The weather of a town"""
        called.append(town)
        return "rain"

    first = one.run_sync(question())
    same(first.output, said)
    # The second turn of a conversation that contains calls.
    text, _ = asyncio.run(streamed(one, question(), message_history=first.all_messages()))
    same(text, said)
    same(called, [town, town])


check("tools, template")(lambda: round_trip(models.passing, OpenAIChatModel))
check("tools, asked first")(lambda: round_trip(models.asking, OpenAIChatModel))
check("tools, direct")(lambda: round_trip(models.direct, OpenAIChatModel))


@check("structured output")
def _():
    # By default it requires a call of a function; NativeOutput sends a schema.
    for output in (Place, NativeOutput(Place)):
        for api in apis:
            for model in (models.template, models.passing, models.direct):
                same(agent(model, api, output_type=output).run_sync(question()).output, Place(town=town))


@check("errors")
def _():
    for api in apis:
        tried = [agent("no-such", api), agent(models.template, api, "sk-nobody"), agent(models.template, api, model_settings={"temperature": 9})]
        errors = [refusal(lambda: one.run_sync("x")) for one in tried]
        assert all(isinstance(error, ModelHTTPError) for error in errors), errors
        same([error.status_code for error in errors], [404, 401, 400])


@check("abort")
def _():
    async def left():
        async with agent(models.direct).run_stream(question(endless)) as result:
            async for _ in result.stream_text(delta=True):
                break

    asyncio.run(left())


@check("responses")
def _():
    one = agent(models.template, OpenAIResponsesModel, model_settings=OpenAIResponsesModelSettings(openai_previous_response_id="auto"))
    first = one.run_sync(question())
    same(first.output, said)
    text, _ = asyncio.run(streamed(one, question(), message_history=first.all_messages()))
    same(text, said)


@check("responses, tools")
def _():
    for model in (models.passing, models.asking, models.direct):
        round_trip(model, OpenAIResponsesModel)
