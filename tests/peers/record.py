"""A conversation as the official SDKs have it: tools answered, turn after turn.

Reads one JSON object from standard input:

    {"format": "openai" | "responses" | "anthropic", "base_url": …, "key": …, "model": …,
     "parameters": {…}, "system": …, "users": [what the user says in each turn],
     "tools": [{"name": …, "description": …, "input_schema": {…}}],
     "results": {"<tool>": "<what it says>"}}

Streams every step, tells the model's words back as the SDK's documentation
says (its own objects, untouched), answers each call from `results`, and prints
the last words of each turn as a JSON list. What went over the wire is for
whoever stands at `base_url` to see.
"""

import json
import sys


def openai(task):
    from openai import OpenAI
    from openai.lib.streaming.chat import ChatCompletionStreamState

    client = OpenAI(base_url=task["base_url"], api_key=task["key"], max_retries=0)
    tools = [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool["description"],
                "parameters": tool["input_schema"],
            },
        }
        for tool in task["tools"]
    ]
    messages = [{"role": "system", "content": task["system"]}]

    def step():
        state = ChatCompletionStreamState()
        for chunk in client.chat.completions.create(
            model=task["model"],
            messages=messages,
            tools=tools,
            stream=True,
            stream_options={"include_usage": True},
            **task["parameters"],
        ):
            state.handle_chunk(chunk)
        message = state.get_final_completion().choices[0].message
        messages.append(message)
        return message

    for user in task["users"]:
        messages.append({"role": "user", "content": user})
        message = step()
        while message.tool_calls:
            for call in message.tool_calls:
                result = task["results"][call.function.name]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
            message = step()
        yield message.content


def responses(task):
    from openai import OpenAI

    client = OpenAI(base_url=task["base_url"], api_key=task["key"], max_retries=0)
    tools = [
        {
            "type": "function",
            "name": tool["name"],
            "description": tool["description"],
            "parameters": tool["input_schema"],
            "strict": False,
        }
        for tool in task["tools"]
    ]
    items = []

    def step():
        with client.responses.stream(
            model=task["model"],
            instructions=task["system"],
            input=items,
            tools=tools,
            store=False,
            include=["reasoning.encrypted_content"],
            **task["parameters"],
        ) as stream:
            response = stream.get_final_response()
        items.extend(response.output)
        return response

    for user in task["users"]:
        items.append({"role": "user", "content": user})
        response = step()
        while calls := [item for item in response.output if item.type == "function_call"]:
            for call in calls:
                items.append(
                    {
                        "type": "function_call_output",
                        "call_id": call.call_id,
                        "output": task["results"][call.name],
                    }
                )
            response = step()
        yield response.output_text


def anthropic(task):
    from anthropic import Anthropic

    client = Anthropic(base_url=task["base_url"], api_key=task["key"], max_retries=0)
    messages = []

    def step():
        with client.messages.stream(
            model=task["model"],
            system=task["system"],
            messages=messages,
            tools=task["tools"],
            **task["parameters"],
        ) as stream:
            content = stream.get_final_message().content
        messages.append({"role": "assistant", "content": content})
        return content

    def calls(content):
        return [block for block in content if block.type == "tool_use"]

    for user in task["users"]:
        messages.append({"role": "user", "content": user})
        content = step()
        while calls(content):
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": task["results"][call.name],
                }
                for call in calls(content)
            ]
            messages.append({"role": "user", "content": results})
            content = step()
        yield "".join(block.text for block in content if block.type == "text")


if __name__ == "__main__":
    task = json.load(sys.stdin)
    converse = {"openai": openai, "responses": responses, "anthropic": anthropic}[task["format"]]
    print(json.dumps(list(converse(task))))
