"""Pictures, tools that only the client reaches, and chats: `doors.py BASE_URL KEY CHAT`. Prints what it saw."""

import json
import sys

from openai import APIStatusError, OpenAI

base, key, chat = sys.argv[1:4]
client = OpenAI(base_url=base, api_key=key, max_retries=0, timeout=30)
server = {
    "url": "http://localhost:9/diary",
    "openapi": {
        "openapi": "3.1.0",
        "info": {"title": "Diary", "version": "1"},
        "paths": {"/days/{day}": {"get": {"operationId": "read", "parameters": [
            {"name": "day", "in": "path", "required": True, "schema": {"type": "string"}},
        ]}}},
    },
}
PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="


def ask(messages, **more):
    return client.chat.completions.create(model="default", messages=messages, **more)


def user(content):
    return {"role": "user", "content": content}


saw = {}
picture = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": PIXEL}}]
saw["picture"] = ask([user(picture)]).choices[0].message.content

brought = {"tool_ids": [], "tool_servers": [server]}
messages = [user("What happened on Monday?")]
answer = ask(messages, extra_body=brought).choices[0]
[call] = answer.message.tool_calls
saw["call"] = [answer.finish_reason, call.function.name, json.loads(call.function.arguments)]
saw["request"] = [call.tool_server["operation"], call.tool_server["request"]["url"]]
messages += [answer.message, {"role": "tool", "tool_call_id": call.id, "content": "It rained."}]
saw["answer"] = ask(messages, extra_body=brought).choices[0].message.content

streamed = []
for chunk in ask(messages[:1], stream=True, extra_body=brought):
    for choice in chunk.choices:
        streamed += [call.function.name for call in choice.delta.tool_calls or []]
        streamed += [choice.finish_reason] if choice.finish_reason else []
saw["streamed"] = streamed

saw["recorded"] = ask([user("Remember me.")], extra_body={"chat_id": chat}).choices[0].message.content
try:
    ask([user("Whose is it?")], extra_body={"chat_id": "00000000-0000-0000-0000-000000000000"})
except APIStatusError as error:
    saw["foreign"] = [error.status_code, error.param]

json.dump(saw, sys.stdout)
