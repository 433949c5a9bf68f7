//! Tools that people write themselves, or bring from Open WebUI.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tenon_app::config::Config;
use tenon_domain::UserId;
use tenon_store::LOCAL;

use super::{Asks, ObedientModel, data_of, events, id_of, path_of, until_there};
use crate::people::Person;
use crate::server::{Server, TEST_TIMEOUT};

/// As users of Open WebUI write them.
const WEATHER: &str = r#""""
title: City weather
author: somebody
version: 0.2
description: Tells the weather of a city.
"""

import os
from typing import Any, Callable, Literal, Optional

from pydantic import BaseModel, Field


class Tools:
    class Valves(BaseModel):
        api_key: str = Field("none", description="Key of the service")
        limit: int = Field(default=5, ge=1)

    class UserValves(BaseModel):
        unit: Literal["C", "F"] = "C"

    def __init__(self):
        self.valves = self.Valves()
        self.calls = 0

    async def weather(
        self,
        city: str,
        days: Optional[int] = None,
        __user__: dict = {},
        __event_emitter__: Callable[[dict], Any] = None,
    ) -> dict:
        """
        The weather of a city.
        :param city: Its name in English.
        :param days: How many days.
        """
        await __event_emitter__({"type": "status", "data": {"description": f"looking at {city}", "done": False}})
        return {"city": city, "key": self.valves.api_key, "unit": __user__["valves"].unit}

    def process(self) -> dict:
        """Which process this is."""
        self.calls += 1
        return {"calls": self.calls, "files": sorted(os.listdir("."))}

    def fail(self):
        """Never works."""
        raise ValueError("not today")
"#;

const TEXTS: &str = r#"/**
 * title: Texts
 * description: Works on texts.
 */

/**
 * Join words.
 * @param {string[]} words - The words.
 * @param {string} [separator] What stands between.
 */
export async function join(words, separator = ', ', context) {
  console.log('joining', words.length);
  context.emit('half way');
  return { joined: words.join(separator) };
}
"#;

#[tokio::test]
async fn a_class_of_open_webui_is_described_tried_and_installed_as_it_is() {
    let server = Server::start().await;
    let (status, described) = server
        .post("/api/tools/describe", json!({"content": WEATHER}))
        .await;
    assert_eq!(status, 200, "{described}");
    assert_eq!(
        (
            &described["language"],
            &described["title"],
            described.get("error")
        ),
        (&json!("python"), &json!("City weather"), None),
        "{described}"
    );
    assert_eq!(
        described["tools"][0],
        json!({"name": "weather", "description": "The weather of a city.", "parameters": {
            "type": "object", "required": ["city"], "properties": {
                "city": {"type": "string", "description": "Its name in English."},
                "days": {"type": "integer", "description": "How many days."},
            },
        }})
    );
    assert_eq!(described["settings"]["properties"]["limit"]["default"], 5);
    assert_eq!(
        described["userSettings"]["properties"]["unit"]["enum"],
        json!(["C", "F"])
    );

    let tried = events(
        &server,
        json!({"code": WEATHER, "tool": "weather", "arguments": {"city": "Oslo"},
            "settings": {"api_key": "K"}}),
    )
    .await;
    let status =
        json!({"type": "status", "data": {"description": "looking at Oslo", "done": false}});
    assert_eq!(
        tried,
        [
            json!({"type": "event", "event": status}),
            json!({"type": "result", "result": {"city": "Oslo", "key": "K", "unit": "C"}}),
        ]
    );
    let failed = events(&server, json!({"code": WEATHER, "tool": "fail"})).await;
    let error = failed.last().unwrap();
    assert_eq!(
        (&error["type"], &error["message"]),
        (&json!("error"), &json!("not today"))
    );
    let line = WEATHER
        .lines()
        .position(|line| line.contains("not today"))
        .unwrap()
        + 1;
    assert_eq!(error["line"], line, "{error}");

    let (status, created) = server
        .post("/api/tools/create", json!({"content": WEATHER}))
        .await;
    assert_eq!(status, 201, "{created}");
    assert_eq!(
        (
            &created["name"],
            &created["title"],
            &created["version"],
            &created["code"]
        ),
        (
            &json!("city-weather"),
            &json!("City weather"),
            &json!("0.2"),
            &json!({"language": "python", "file": "tools.py"})
        )
    );
    let names: Vec<_> = created["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["weather", "process", "fail"]);
    let weather = id_of(&created, "weather");
    let given = server.result(&weather, json!({"city": "Oslo"})).await;
    assert_eq!(given, json!({"city": "Oslo", "key": "none", "unit": "C"}));
    let raised = server.failure(&id_of(&created, "fail"), json!({})).await;
    assert_eq!(raised, "The tool failed: not today");

    // Changed code is its next version, with the same ids.
    let next = WEATHER.replace("\"city\": city,", "\"city\": city.upper(),");
    let change = json!({"code": next, "skillId": created["id"]});
    let (status, changed) = server.post("/api/tools/create", change).await;
    assert_eq!((status, &changed["id"]), (201, &created["id"]), "{changed}");
    assert_eq!(
        server.result(&weather, json!({"city": "Oslo"})).await["city"],
        "OSLO"
    );
}

#[tokio::test]
async fn a_module_of_javascript_is_described_tried_and_installed() {
    let server = Server::start().await;
    let (_, described) = server
        .post("/api/tools/describe", json!({"code": TEXTS}))
        .await;
    assert_eq!(
        (
            &described["language"],
            &described["tools"][0]["parameters"]["required"]
        ),
        (&json!("node"), &json!(["words"])),
        "{described}"
    );
    let arguments = json!({"words": ["a", "b"]});
    let tried = events(
        &server,
        json!({"code": TEXTS, "tool": "join", "arguments": arguments}),
    )
    .await;
    let lines: Vec<_> = tried
        .iter()
        .filter(|event| event["type"] == "line")
        .collect();
    assert_eq!(
        lines,
        [&json!({"type": "line", "line": "joining 2"})],
        "{tried:#?}"
    );
    let last = json!({"type": "result", "result": {"joined": "a, b"}});
    assert_eq!(tried.last(), Some(&last));
    let new = json!({"code": TEXTS, "name": "My texts", "visibility": "private"});
    let (status, created) = server.post("/api/tools/create", new).await;
    assert_eq!(
        (status, &created["name"], &created["visibility"]),
        (201, &json!("my-texts"), &json!("private")),
        "{created}"
    );
    let joined = server.result(&id_of(&created, "join"), arguments).await;
    assert_eq!(joined, json!({"joined": "a, b"}));
}

#[tokio::test]
async fn code_that_cannot_be_used_is_refused_by_name_and_line() {
    let server = Server::start().await;
    let check = async |code: &str, kind: &str, line: Option<u64>, expected: &str| {
        let (status, described) = server
            .post("/api/tools/describe", json!({"code": code}))
            .await;
        let error = &described["error"];
        assert_eq!(
            (status, &error["kind"], error["line"].as_u64()),
            (200, &json!(kind), line),
            "{described}"
        );
        let (status, refused) = server
            .post("/api/tools/create", json!({"code": code}))
            .await;
        let why = refused["error"]["message"].as_str().unwrap();
        assert_eq!((status, &refused["error"]["field"]), (400, &json!("code")));
        assert!(why.contains(expected), "{why}");
        assert_eq!(error["message"], why);
    };
    check(
        "import json\nfrom open_webui.models.users import Users\n\nclass Tools:\n    def f(self): pass\n",
        "internals",
        Some(2),
        "needs the inside of Open WebUI, which is not here: open_webui.models.users in line 2",
    )
    .await;
    check(
        "class Tools:\n    def f(self: pass\n",
        "syntax",
        Some(2),
        "The code has an error in line 2",
    )
    .await;
    check(
        "import no_such_package_here\nclass Tools:\n    def f(self): pass\n",
        "missing_module",
        Some(1),
        "Packages are not installed: no_such_package_here.",
    )
    .await;
    check(
        "class Tools:\n    x = 1\n",
        "no_tools",
        None,
        "The code has no tools",
    )
    .await;
    check(
        "export function f() {}\nlet x = ;\n",
        "syntax",
        Some(2),
        "The code has an error in line 2: Unexpected token ';'",
    )
    .await;
    let (status, refused) = server
        .post("/api/tools/create", json!({"code": "hello"}))
        .await;
    assert_eq!(
        (status, &refused["error"]["field"]),
        (400, &json!("language"))
    );
    assert_eq!(server.get("/api/skills").await.1, json!([]));
}

#[tokio::test]
async fn settings_reach_the_code_and_what_a_user_set_reaches_no_other() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let (olga, bob) = (ada.add("Olga").await, ada.add("Bob").await);
    let (_, created) = ada
        .post("/api/tools/create", json!({"code": WEATHER}))
        .await;
    let (path, weather) = (path_of(&created), id_of(&created, "weather"));
    let unit = |unit: &str| json!({"userSettings": {"unit": unit}});
    let (status, seen) = olga.patch(&path, unit("F")).await;
    assert_eq!(
        (status, &seen["userSettingValues"]),
        (200, &json!({"unit": "F"})),
        "{seen}"
    );
    let all = json!({"settings": {"api_key": "for all"}});
    assert_eq!(olga.patch(&path, all.clone()).await.0, 403);
    assert_eq!(ada.patch(&path, all).await.0, 200);
    let given = async |person: &Person<'_>| person.result(&weather, json!({"city": "x"})).await;
    let expected = |unit: &str| json!({"city": "x", "key": "for all", "unit": unit});
    assert_eq!(given(&olga).await, expected("F"));
    assert_eq!(given(&bob).await, expected("C"));
    // Also from a worker that is warm.
    assert_eq!(olga.patch(&path, unit("C")).await.0, 200);
    assert_eq!(given(&olga).await, expected("C"));
    assert_eq!(olga.patch(&path, unit("F")).await.0, 200);
    assert_eq!(
        (given(&olga).await, given(&bob).await),
        (expected("F"), expected("C"))
    );
    let (_, bobs) = bob.get(&path).await;
    assert_eq!(
        (&bobs["userSettingValues"], &bobs["settingValues"]),
        (&json!({}), &json!({})),
        "{bobs}"
    );
}

#[tokio::test]
async fn code_knows_who_calls_it() {
    let code = "class Tools:
    def who(self, __user__: dict):
        \"\"\"Who calls.\"\"\"
        return {name: __user__.get(name) for name in ('name', 'email', 'role')}
";
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let (_, created) = ada.post("/api/tools/create", json!({"code": code})).await;
    let who = bob.result(&id_of(&created, "who"), json!({})).await;
    assert_eq!(
        (&who["name"], &who["role"]),
        (&json!("Bob"), &json!("user")),
        "{who}"
    );
    assert!(who["email"].as_str().unwrap().contains('@'), "{who}");
}

#[tokio::test]
async fn code_knows_the_chat_and_the_message_that_it_is_called_in() {
    let code = "class Tools:
    def where(self, __chat_id__: str, __message_id__: str, __metadata__: dict):
        \"\"\"Where it is called.\"\"\"
        return [__chat_id__, __message_id__, __metadata__]
";
    let model = Arc::new(ObedientModel::default());
    let server = Server::with_accounts_and_model(model).await;
    let ada = Person::set_up(&server, "Ada").await;
    let new = json!({"code": code});
    let (_, created) = ada.post("/api/tools/create", new).await;
    let tool = id_of(&created, "where");
    let metadata = |chat: &Value, message: &Value| json!({"chat_id": chat, "message_id": message, "user_id": ada.id, "tool_name": "where"});
    // Nobody called it from a chat.
    let none = Value::Null;
    let given = ada.result(&tool, json!({})).await;
    assert_eq!(given, json!([null, null, metadata(&none, &none)]));

    let (_, chat) = ada.post("/api/chats", json!({})).await;
    let id = chat["id"].as_str().unwrap();
    let mut page = ada.socket().await.unwrap();
    page.subscribe(id, 0).await;
    page.until(|frame| frame["type"] == "caughtUp").await;
    let turns = format!("/api/chats/{id}/turns");
    ada.post(&turns, json!({"text": tool})).await;
    page.until_finished().await;
    let (_, messages) = ada.get(&format!("/api/chats/{id}/messages")).await;
    let given = &data_of(&messages)[0];
    let message = &given[1];
    let mut ids = messages.as_array().unwrap().iter().map(|of| &of["id"]);
    assert!(ids.any(|id| id == message), "{given} {messages:#}");
    let id = json!(id);
    assert_eq!(given, &json!([id, message, metadata(&id, message)]));
}

#[tokio::test]
async fn what_code_lacks_of_open_webui_is_named_before_it_is_saved_and_does_not_stop_it() {
    let code = "class Tools:
    def users(self, __request__) -> str:
        \"\"\"Who is there.\"\"\"
        from open_webui.models.users import Users
        return str(Users.get_users())
";
    let server = Server::start().await;
    let body = json!({"code": code});
    let (_, described) = server.post("/api/tools/describe", body.clone()).await;
    assert_eq!(
        described["warnings"],
        json!([
            {"kind": "parameter", "line": 2, "names": ["__request__"], "tool": "users", "message":
                "The tool `users` needs __request__ in line 2, which only Open WebUI passes. Here it gives None."},
            {"kind": "internals", "line": 4, "names": ["open_webui.models.users"], "message":
                "The code imports the inside of Open WebUI, which is not here: open_webui.models.users in line 4. What needs it will fail."},
        ])
    );
    let (status, created) = server.post("/api/tools/create", body).await;
    assert_eq!(status, 201, "{created}");
    let why = server.failure(&id_of(&created, "users"), json!({})).await;
    assert!(why.contains("No module named 'open_webui'"), "{why}");
}

#[tokio::test]
async fn a_second_call_is_answered_by_a_warm_worker_and_another_person_or_chat_gets_another() {
    let model = Arc::new(ObedientModel::default());
    let server = Server::with_accounts_and_model(model).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let (_, created) = ada
        .post("/api/tools/create", json!({"code": WEATHER}))
        .await;
    let tool = id_of(&created, "process");
    let calls = async |person: &Person<'_>| person.result(&tool, json!({})).await["calls"].clone();
    assert_eq!(calls(&ada).await, 1);
    assert_eq!(calls(&ada).await, 2);
    assert_eq!(calls(&bob).await, 1);
    assert_eq!(calls(&ada).await, 3);

    // A chat has a folder of its own, and so a process of its own.
    let mut counted = Vec::new();
    let (_, one) = ada.post("/api/chats", json!({})).await;
    let (_, two) = ada.post("/api/chats", json!({})).await;
    for chat in [&one, &two, &one] {
        let id = chat["id"].as_str().unwrap();
        let mut page = ada.socket().await.unwrap();
        page.subscribe(id, 0).await;
        page.until(|frame| frame["type"] == "caughtUp").await;
        let turns = format!("/api/chats/{id}/turns");
        let (status, started) = ada.post(&turns, json!({"text": tool})).await;
        assert_eq!(status, 202, "{started}");
        page.until_finished().await;
        let (_, messages) = ada.get(&format!("/api/chats/{id}/messages")).await;
        counted.push(data_of(&messages)[0]["calls"].clone());
    }
    assert_eq!(counted, [1, 1, 2]);

    // A new version has new processes.
    let change = json!({"code": WEATHER.replace("0.2", "0.3"), "skillId": created["id"]});
    ada.post("/api/tools/create", change).await;
    assert_eq!(calls(&ada).await, 1);
}

#[tokio::test]
async fn a_worker_ends_when_nobody_has_called_it_for_its_idle_time() {
    let config = Config {
        skill_idle_seconds: Some(1),
        ..Config::default()
    };
    let server = Server::with_config(config).await;
    let (_, created) = server
        .post("/api/tools/create", json!({"code": WEATHER}))
        .await;
    let tool = id_of(&created, "process");
    let calls = async || server.result(&tool, json!({})).await["calls"].clone();
    // A busy machine may take longer from one call to the next: then there is a new one.
    let warm = async { while calls().await != 2 {} };
    tokio::time::timeout(TEST_TIMEOUT, warm).await.unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(calls().await, 1);
}

#[tokio::test]
async fn a_worker_that_dies_says_so_and_the_next_call_has_another() {
    let server = Server::start().await;
    let code = "import os, sys\n\nclass Tools:\n    def f(self, dies: bool) -> str:\n        \"\"\"May end.\"\"\"\n        if dies:\n            print('last words', file=sys.stderr, flush=True)\n            os._exit(3)\n        return 'well'\n";
    let (status, created) = server
        .post("/api/tools/create", json!({"code": code, "name": "mortal"}))
        .await;
    assert_eq!(status, 201, "{created}");
    let tool = id_of(&created, "f");
    assert_eq!(server.result(&tool, json!({"dies": false})).await, "well");
    let answer = server.call(&tool, json!({"dies": true})).await;
    assert_eq!(answer["error"]["code"], "skill_worker_ended", "{answer}");
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("last words"), "{why}");
    assert_eq!(server.result(&tool, json!({"dies": false})).await, "well");
}

/// Tries to connect, after it waited where it is told to.
const CONNECTS: &str = r#"import os, socket, time

class Tools:
    def connect(self, port: int, wait: bool = False) -> str:
        """Connect to a port."""
        if wait:
            open("began", "w").close()
            while not os.path.exists("go"):
                time.sleep(0.01)
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return "connected"
        except OSError:
            return "refused"
"#;

#[tokio::test]
async fn code_uses_the_network_while_an_admin_agrees_and_no_longer() {
    let server = Server::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let new = json!({"code": CONNECTS, "name": "connects"});
    let (status, created) = server.post("/api/tools/create", new).await;
    assert_eq!(
        (
            status,
            &created["permissions"]["network"],
            &created["networkAllowed"]
        ),
        (201, &json!(true), &json!(false)),
        "{created}"
    );
    let connect = id_of(&created, "connect");
    let tries = async |wait: bool| {
        let arguments = json!({"port": port, "wait": wait});
        server.result(&connect, arguments).await
    };
    let agree = async |agrees: bool| {
        let change = json!({"networkAllowed": agrees});
        let (status, changed) = server.patch(&path_of(&created), change).await;
        assert_eq!((status, &changed["networkAllowed"]), (200, &json!(agrees)));
    };
    assert_eq!(tries(false).await, "refused");
    agree(true).await;
    assert_eq!(tries(false).await, "connected");
    // A worker that was busy meanwhile is not used again either.
    let work = server.app.tools.workspace(&UserId::new(LOCAL));
    let changed = async {
        until_there(&work.join("began")).await;
        agree(false).await;
        std::fs::write(work.join("go"), "").unwrap();
    };
    let (during, ()) = tokio::join!(tries(true), changed);
    assert_eq!(during, "connected");
    assert_eq!(tries(false).await, "refused");
}

#[tokio::test]
async fn code_that_is_described_or_tried_has_the_same_walls_around_it() {
    let server = Server::start().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let key = server.data().join("secret.key");
    assert!(key.exists());
    let reads = format!(
        "open({:?}).read()\n\nclass Tools:\n    def f(self): pass\n",
        key.display().to_string()
    );
    let (_, described) = server
        .post("/api/tools/describe", json!({"code": reads}))
        .await;
    let error = &described["error"];
    assert_eq!(
        (&error["kind"], &error["line"]),
        (&json!("load"), &json!(1)),
        "{described}"
    );
    let (status, refused) = server
        .post("/api/tools/create", json!({"code": reads}))
        .await;
    assert_eq!(status, 400, "{refused}");
    let arguments = json!({"port": port});
    let mut trial = json!({"code": CONNECTS, "tool": "connect", "arguments": arguments});
    let tried = events(&server, trial.clone()).await;
    assert_eq!(tried, [json!({"type": "result", "result": "refused"})]);
    // Unless whoever tries it lets it out, as they may when they save it.
    trial["allowNetwork"] = json!(true);
    let tried = events(&server, trial).await;
    assert_eq!(tried, [json!({"type": "result", "result": "connected"})]);
}
