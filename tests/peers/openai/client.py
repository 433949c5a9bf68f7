"""The official client against Tenon: `client.py BASE_URL KEY`. Prints what it saw as JSON."""

import json
import sys

from openai import APIError, BadRequestError, AuthenticationError, InternalServerError, NotFoundError, OpenAI

base, key = sys.argv[1], sys.argv[2]
client = OpenAI(base_url=base, api_key=key, max_retries=0, timeout=30)
saw = {"models": [model.id for model in client.models.list()]}

question = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "what is 6*7"}]
answer = client.chat.completions.create(model="default", messages=question)
saw["answer"] = answer.choices[0].message.content
saw["finish"] = answer.choices[0].finish_reason

pieces, finish, usage = [], None, None
stream = client.chat.completions.create(
    model="default", messages=question, stream=True, stream_options={"include_usage": True}
)
for chunk in stream:
    if chunk.usage:
        usage = chunk.usage.total_tokens
    for choice in chunk.choices:
        pieces.append(choice.delta.content or "")
        finish = choice.finish_reason or finish
saw["streamed"] = "".join(pieces)
saw["streamed_finish"] = finish
saw["counted"] = usage is not None

# None of Tenon's tools.
bare = client.chat.completions.create(
    model="default", messages=question, extra_body={"tool_ids": []}
)
saw["without_tools"] = bare.choices[0].message.content

# A tool the client runs itself.
tool = {
    "type": "function",
    "function": {
        "name": "multiply",
        "description": "Multiplies two numbers.",
        "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
    },
}
with_tools = client.chat.completions.create(model="default", messages=question, tools=[tool])
saw["their_finish"] = with_tools.choices[0].finish_reason
saw["their_call"] = json.loads(with_tools.choices[0].message.tool_calls[0].function.arguments)

try:
    picture = [{"type": "image_url", "image_url": {"url": "https://example.com/cat.png"}}]
    client.chat.completions.create(model="default", messages=[{"role": "user", "content": picture}])
except BadRequestError as error:
    saw["picture"] = error.message
try:
    OpenAI(base_url=base, api_key="wrong", max_retries=0).models.list()
except AuthenticationError as error:
    saw["wrong_key"] = error.status_code
    saw["wrong_key_type"] = error.type

# An answer that ends where the client wants it to.
cut = client.chat.completions.create(
    model="default", messages=question, stop=["\nObservation:"], extra_body={"tool_ids": []}
)
saw["cut"] = cut.choices[0].message.content

# A tool of the client's own, as it streams.
calls, their_finish = {}, None
for chunk in client.chat.completions.create(
    model="default", messages=question, tools=[tool], stream=True
):
    for choice in chunk.choices:
        for call in choice.delta.tool_calls or []:
            calls[call.index] = [call.id, call.function.name, json.loads(call.function.arguments)]
        their_finish = choice.finish_reason or their_finish
saw["their_stream"] = [calls[0][1], calls[0][2], their_finish]

# A model that fails: no half answers, and nothing is asked twice.
patient = OpenAI(base_url=base, api_key=key, max_retries=2, timeout=30)
try:
    patient.chat.completions.create(model="default", messages=question)
except InternalServerError as error:
    saw["failed"] = [error.status_code, error.type, error.message]
try:
    for chunk in patient.chat.completions.create(model="default", messages=question, stream=True):
        pass
except APIError as error:
    saw["failed_stream"] = error.message

try:
    client.chat.completions.create(model="no-such", messages=question)
except NotFoundError as error:
    saw["no_model"] = [error.type, error.code]

json.dump(saw, sys.stdout)
