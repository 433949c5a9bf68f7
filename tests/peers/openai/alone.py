"""The official Python client against Tenon: `alone.py BASE_URL KEY`. Prints the same as client.mjs."""

import json
import sys

from openai import APIStatusError, OpenAI

base, key = sys.argv[1], sys.argv[2]
client = OpenAI(base_url=base, api_key=key, max_retries=0, timeout=30)


def ask(text="what is 6*7", **more):
    messages = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="default", messages=messages, **more)


def refusal(**more):
    try:
        ask(**more)
    except APIStatusError as error:
        return [error.status_code, error.code, error.param]


saw = {"models": [model.id for model in client.models.list()]}
whole = ask()
saw["answer"] = whole.choices[0].message.content
saw["finish"] = whole.choices[0].finish_reason
saw["counted"] = whole.usage.total_tokens >= 0

pieces = []
for chunk in ask(stream=True, stream_options={"include_usage": True}):
    for choice in chunk.choices:
        pieces.append(choice.delta.content or "")
        saw["streamedFinish"] = choice.finish_reason or saw.get("streamedFinish")
saw["streamed"] = "".join(pieces)

cut = ask("hello", max_tokens=1)
saw["cut"] = [cut.choices[0].finish_reason, len(cut.choices[0].message.content)]
saw["two"] = refusal(n=2)
saw["format"] = refusal(response_format={"type": "json_object"})
try:
    OpenAI(base_url=base, api_key="wrong", max_retries=0).models.list()
except APIStatusError as error:
    saw["wrongKey"] = error.status_code

json.dump(saw, sys.stdout)
