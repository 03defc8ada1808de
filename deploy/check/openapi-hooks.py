"""Hooks of Schemathesis: let generated requests name what exists, so that they reach more than the answer 404."""

import json
import os
import urllib.request
import zlib

import schemathesis

BASE = os.environ["CONCLAVE_URL"]
KEY = os.environ["CONCLAVE_KEY"]
QUESTION = "In which town was the founder of the Northlight Clock Company born?"


def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers, method=method), timeout=60) as reply:
        return json.load(reply)


def ask(model):
    body = {"model": model, "conclave": {"cache": False}, "messages": [{"role": "user", "content": QUESTION}]}
    return call("POST", "/v1/chat/completions", body)["conclave"]["run_id"]


call("POST", "/v1/collections", {"name": "manuals", "description": "Manuals of clocks."})
document = call("POST", "/v1/collections/manuals/documents", {"name": "a.md", "text": "# Winding\nTurn it left."})["id"]
runs = [ask("conclave"), ask("conclave-fast")]
deleted_run = ask("conclave")
response = call("POST", "/v1/responses", {"model": "conclave-fast", "input": QUESTION})["id"]
call("PUT", "/v1/admin/skills/tidy", {"text": "---\nname: tidy\ndescription: Tidies.\n---\nTidy: $ARGUMENTS"})
issued_key = call("POST", "/v1/admin/keys", {"name": "issued", "tenant": "research"})["id"]
records = call("GET", f"/v1/runs/{runs[0]}/records")["data"]
step = next(record["step"] for record in records if record["kind"] == "call")
models = ["conclave", "conclave-fast", "conclave-demo@demo"]


def number(value):
    """The same for the same value in every process."""
    return zlib.crc32(str(value).encode("utf-8", "replace"))


def pick(value, choices):
    return choices[number(value) % len(choices)]


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, dict):
        return body
    path, method = context.operation.path, context.operation.method.upper()
    body = dict(body)
    model = body.get("model")
    if isinstance(model, str) and model and number(model) % 8:
        body["model"] = "conclave-embedding" if path == "/v1/embeddings" else pick(model, models)
    if isinstance(body.get("template"), str) and body["template"]:
        body["template"] = "conclave-fast"
    if isinstance(body.get("response_id"), str) and body["response_id"]:
        body["response_id"] = runs[0]
    if path == "/v1/admin/keys" and method == "POST" and body.get("tenant") == "default":
        body["tenant"] = "research"
    return body


@schemathesis.hook
def map_path_parameters(context, parameters):
    if not parameters:
        return parameters
    path, method = context.operation.path, context.operation.method.upper()
    parameters = dict(parameters)
    # A limit on the tenant of the check would end it.
    if path.startswith("/v1/admin/tenants/"):
        return {"id": "research"}
    if number(parameters) % 6 == 0:
        return parameters
    removes = method == "DELETE"
    if path.startswith("/v1/runs/"):
        parameters["id"] = deleted_run if removes else pick(parameters["id"], runs)
    elif path.startswith("/v1/responses/") and not removes:
        parameters["id"] = response
    elif path.startswith("/v1/collections/{name}") and not (removes and "id" not in parameters):
        parameters["name"] = "manuals"
        if "id" in parameters and not removes:
            parameters["id"] = document
    elif path.startswith("/v1/admin/skills/") and not removes:
        parameters["name"] = "tidy"
    elif path.startswith("/v1/admin/keys/") and not removes:
        parameters["id"] = issued_key
    elif path.startswith("/v1/admin/templates/"):
        parameters["id"] = "conclave-research"
    elif path.startswith("/v1/admin/prompts/"):
        parameters["name"] = "planner"
    elif path.startswith("/v1/models/"):
        parameters["id"] = "conclave"
    elif path.startswith("/v1/knowledge/entities/"):
        parameters["id"] = "anders quill"
    return parameters


@schemathesis.hook
def map_headers(context, headers):
    """No webhook has the generated name: most questions would be refused for it."""
    name = "x-conclave-webhook"
    return {key: value for key, value in headers.items() if key.lower() != name} if headers and number(headers) % 20 else headers


@schemathesis.hook
def map_query(context, query):
    if not isinstance(query, dict):
        return query
    query = dict(query)
    if isinstance(query.get("run"), str) and query["run"]:
        query["run"] = runs[0]
    if isinstance(query.get("step"), str) and query["step"]:
        query["step"] = step
    if isinstance(query.get("runs"), str) and query["runs"] and "," not in query["runs"] and number(query["runs"]) % 3:
        query["runs"] = pick(query["runs"], [runs[0], f"{runs[0]}:3", ",".join(runs)])
    return query


@schemathesis.hook
def before_load_schema(context, raw):
    """OpenAPI 3.1 has no word for the events of a stream. By convention the schema is that of each line of data, and Schemathesis is told so."""
    for path, operations in raw["paths"].items():
        error = {"$ref": "#/components/schemas/" + ("MessagesError" if path.startswith("/v1/messages") else "ErrorBody")}
        for operation in operations.values():
            for answer in operation["responses"].values():
                stream = answer.get("content", {}).get("text/event-stream")
                if stream:
                    line = {"anyOf": [stream["schema"], error, {"const": "[DONE]"}]}
                    data = {"contentMediaType": "application/json", "contentSchema": line}
                    stream["schema"] = {"properties": {"data": data}}
