"""A server without an SDK that is odd in one way: `raw.py ODDITY`."""

import json
import os
import sys
import time

oddity = sys.argv[1] if len(sys.argv) > 1 else ""


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tools(cursor):
    plain = {"type": "object"}
    if oddity == "pages":
        page = int(cursor or 0)
        listed = {"tools": [{"name": f"t{page}", "inputSchema": plain}]}
        return listed | ({"nextCursor": str(page + 1)} if page < 2 else {})
    if oddity == "circle":
        return {"tools": [{"name": f"t{cursor}", "inputSchema": plain}], "nextCursor": "again"}
    if oddity == "many":
        return {"tools": [{"name": f"tool_{n}", "inputSchema": plain} for n in range(10_000)]}
    echo = {"name": "echo", "inputSchema": plain}
    if oddity == "deep":
        return {"tools": [{"name": "deep", "inputSchema": {"not": DEEP}}, echo]}
    if oddity == "fans-out":
        return {"tools": [{"name": "fans_out", "inputSchema": FAN_OUT}, echo]}
    return {"tools": [echo]}



# Four times the next one, thirty times.
FAN_OUT = {"type": "object", "$ref": "#/$defs/d0", "$defs": {"d30": {}}}
for level in range(30):
    FAN_OUT["$defs"][f"d{level}"] = {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 4}

DEEP = {}
for _ in range(300):
    DEEP = {"not": DEEP}


def call(id, params):
    text = {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]}
    if oddity == "twice":
        say({"id": id, "result": text})
    if oddity == "wrong-id":
        say({"id": id + 1000, "result": {"content": []}})
        say({"id": "nonsense", "result": {"content": []}})
    if oddity == "huge":
        text = {"content": [{"type": "text", "text": "x" * params["arguments"]["bytes"]}]}
    if oddity == "floods":
        for number in range(20_000):
            say({"method": "notifications/message", "params": {"level": "info", "data": number}})
            say({"method": "notifications/progress", "params": {"progressToken": number, "progress": 1}})
    if oddity == "dies":
        sys.stderr.write("Something terrible happened.\n")
        sys.stderr.flush()
        os._exit(3)
    if oddity == "holds":
        return
    if oddity == "pings":
        say({"id": "ping", "method": "ping"})
        say({"id": "roots", "method": "roots/list"})
        answers = [json.loads(sys.stdin.readline()) for _ in range(2)]
        text = {"content": [{"type": "text", "text": json.dumps(answers)}]}
    say({"id": id, "result": text})


if oddity == "garbage":
    print("Welcome to the best server ever!")
    print("\x00\xff" * 10, "{not json", flush=True)
    sys.stderr.buffer.write(b"bad \xff bytes\n")
    sys.stderr.write("x" * 1_000_000 + "\n")
    sys.stderr.flush()
if oddity == "dies-at-once":
    sys.exit("There is no configuration.")

marks = open(sys.argv[2], "a") if len(sys.argv) > 2 else None
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if marks:
        print(method, file=marks, flush=True)
    if method == "server/discover" and oddity == "dies-when-probed":
        sys.exit(1)
    elif method == "server/discover" and oddity == "silent-when-probed":
        pass
    elif method == "server/discover":
        say({"id": id, "error": {"code": -32601, "message": "Method not found"}})
    elif method == "initialize" and oddity == "silent":
        time.sleep(3600)
    elif method == "initialize":
        info = {"name": "raw", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
        say({"id": id, "result": result})
    elif method == "tools/list":
        say({"id": id, "result": tools((message.get("params") or {}).get("cursor"))})
    elif method == "tools/call":
        call(id, message["params"])
