import asyncio

import httpx2
from langchain.agents import create_agent
from langchain.agents.structured_output import ProviderStrategy
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel
from capabilities import address, api_key, check, endless, introduce, models, question, refusal, said, same, town

options = {"base_url": f"{address}/v1", "api_key": api_key, "max_retries": 0}


def chat(model, **rest):
    return ChatOpenAI(**{"model": model, "stream_usage": True, **options, **rest})


class Place(BaseModel):
    """A place"""

    town: str


introduce("LangChain (Python)", "langchain")


@check("chat")
def _():
    answer = chat(models.template).invoke(question())
    same(answer.content, said)
    assert answer.usage_metadata["total_tokens"] > 0


@check("chat, streamed")
def _():
    whole = None
    for chunk in chat(models.template).stream(question()):
        whole = chunk if whole is None else whole + chunk
    same(whole.content, said)
    assert whole.usage_metadata["total_tokens"] > 0

    # Both calls share one event loop, because LangChain keeps its clients for the life of the process.
    async def asked():
        model = chat(models.template)
        streamed = "".join([chunk.content async for chunk in model.astream(question())])
        return [streamed, (await model.ainvoke(question())).content]

    same(asyncio.run(asked()), [said, said])


def round_trip(model):
    called = []

    @tool
    def get_weather(town: str) -> str:
        """The weather of a town"""
        called.append(town)
        return "rain"

    agent = create_agent(chat(model), tools=[get_weather])
    asked = {"messages": [{"role": "user", "content": question()}]}
    same(agent.invoke(asked)["messages"][-1].content, said)
    asked = {"messages": [{"role": "user", "content": question()}]}
    parts = [message for message, _ in agent.stream(asked, stream_mode="messages")]
    same("".join(part.content for part in parts if part.type == "AIMessageChunk"), said)
    same(called, [town, town])


check("tools, template")(lambda: round_trip(models.passing))
check("tools, asked first")(lambda: round_trip(models.asking))
check("tools, direct")(lambda: round_trip(models.direct))


@check("structured output")
def _():
    for model in (models.template, models.direct):
        same(chat(model).with_structured_output(Place, method="json_schema").invoke(question()), Place(town=town))
    agent = create_agent(chat(models.template), response_format=ProviderStrategy(Place))
    asked = {"messages": [{"role": "user", "content": question()}]}
    same(agent.invoke(asked)["structured_response"], Place(town=town))


@check("errors")
def _():
    tried = [chat("no-such"), chat(models.template, api_key="sk-nobody"), chat(models.template, temperature=9)]
    same([refusal(lambda: one.invoke("x")).status_code for one in tried], [404, 401, 400])
    same(refusal(lambda: list(tried[0].stream("x"))).status_code, 404)


@check("no useless retry")
def _():
    requests = []
    counting = httpx2.Client(event_hooks={"request": [requests.append]})
    refusal(lambda: chat(models.template, api_key="sk-nobody", max_retries=3, http_client=counting).invoke("x"))
    same(len(requests), 1)


@check("abort")
def _():
    stream = chat(models.direct).stream(question(endless))
    for chunk in stream:
        if chunk.content:
            break
    stream.close()


@check("embeddings")
def _():
    texts = ["rain", "Grüße, 😀: it is raining in Ulm"]
    # By default the client sends token ids; for texts it receives the same vectors.
    embeddings = OpenAIEmbeddings(model="conclave-embedding", **options)
    found = embeddings.embed_documents(texts)
    assert len(found) == 2 and len(found[0]) == len(embeddings.embed_query("rain")) > 10
    same(found, OpenAIEmbeddings(model="conclave-embedding", check_embedding_ctx_length=False, **options).embed_documents(texts))


@check("responses")
def _():
    model = chat(models.template, use_responses_api=True)
    same(model.invoke(question()).text, said)
    same("".join(chunk.text for chunk in model.stream(question())), said)


@check("responses, tools")
def _():
    @tool
    def get_weather(town: str) -> str:
        """The weather of a town"""
        return "rain"

    for model in (models.passing, models.asking, models.direct):
        agent = create_agent(chat(model, use_responses_api=True), tools=[get_weather])
        asked = {"messages": [{"role": "user", "content": question()}]}
        same(agent.invoke(asked)["messages"][-1].text, said)
