"""Sends the messages and tools of a trajectory as a client of the official SDK would."""
import json
import sys

from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from pydantic import TypeAdapter

base_url, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    trajectory = json.load(file)
messages, tools = trajectory["messages"], trajectory["tools"]
for message in messages:
    TypeAdapter(ChatCompletionMessageParam).validate_python(message)
for tool in tools:
    TypeAdapter(ChatCompletionToolParam).validate_python(tool)
client = OpenAI(base_url=base_url, api_key="x", max_retries=0)
answer = client.chat.completions.create(model="scripted", messages=messages, tools=tools)
# The model goes on where the trajectory ends.
for call in answer.choices[0].message.tool_calls or []:
    print(call.function.name)
