//! Experts through every door: a chat, the API of OpenAI, MCP, the command line.

use std::sync::Arc;

use serde_json::{Value, json};
use tenon_llm::scripted::{ScriptStep, Scripted};
use tenon_llm::{GenerationOptions, ModelRequest};

use crate::mcp_door::{message, stateless};
use crate::people::Person;
use crate::program::{run, stdout};
use crate::server::{Server, answer};

fn says(words: &str) -> Vec<ScriptStep> {
    vec![ScriptStep::text(words), ScriptStep::stop()]
}

fn tax() -> Value {
    json!({
        "title": "Tax & law", "icon": "scale", "systemPrompt": "Be exact about taxes.",
        "tools": ["builtin_calculate"], "parameters": {"temperature": 0.5, "maxTokens": 300},
        "starters": ["How much?"],
    })
}

fn tools_of(request: &ModelRequest) -> Vec<&str> {
    request.tools.iter().map(|tool| tool.id.as_str()).collect()
}

/// What the expert asks of the model is there, and nothing else that it may not use.
fn is_by_expert(request: &ModelRequest) {
    let expected = GenerationOptions {
        temperature: Some(0.5),
        max_tokens: Some(300),
        ..GenerationOptions::default()
    };
    assert_eq!(request.options, expected);
    assert_eq!(tools_of(request), ["builtin_calculate"]);
    let system = &request.system;
    assert!(system.starts_with("You are Tenon"), "{system}");
    assert!(system.ends_with("\n\nBe exact about taxes."), "{system}");
}

#[tokio::test]
async fn a_chat_follows_its_expert_and_can_have_another() {
    let model = Arc::new(Scripted::new(["one", "two", "three"].map(says)));
    let server = Server::with_model(model.clone()).await;
    let (status, expert) = server.post("/api/experts", tax()).await;
    assert_eq!(
        (status, &expert["name"]),
        (201, &json!("tax-law")),
        "{expert}"
    );
    let id = &expert["id"];
    let (status, chat) = server.post("/api/chats", json!({"expertId": id})).await;
    assert_eq!((status, &chat["expertId"]), (201, id), "{chat}");
    let chat = chat["id"].as_str().unwrap();
    server.ask(chat, "How much?").await;
    is_by_expert(&model.requests()[0]);
    let (_, tools) = server.get(&format!("/api/tools?chatId={chat}")).await;
    let ids: Vec<&Value> = tools
        .as_array()
        .unwrap()
        .iter()
        .map(|of| &of["toolId"])
        .collect();
    assert_eq!(ids, ["builtin_calculate"]);

    // What changes about it counts with the next message.
    let path = format!("/api/experts/{}", id.as_str().unwrap());
    let change = json!({"systemPrompt": "Be brief.", "tools": null});
    assert_eq!(server.patch(&path, change).await.0, 200);
    server.ask(chat, "And now?").await;
    let asked = &model.requests()[1];
    assert!(asked.system.ends_with("\n\nBe brief."), "{}", asked.system);
    assert!(tools_of(asked).len() > 1);

    let chat_path = format!("/api/chats/{chat}");
    let (_, chat_view) = server
        .patch(&chat_path, json!({"expertId": "general"}))
        .await;
    assert_eq!(chat_view.get("expertId"), None, "{chat_view}");
    server.ask(chat, "And you?").await;
    assert!(!model.requests()[2].system.contains("brief"));

    // One that is gone is said so, and nobody else answers in its place.
    server.patch(&chat_path, json!({"expertId": id})).await;
    let deleted = server.request("DELETE", &path).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    let turns = format!("{chat_path}/turns");
    let (status, refused) = server.post(&turns, json!({"text": "still there?"})).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (409, &json!("expert_gone"))
    );
    let (status, refused) = server.patch(&chat_path, json!({"expertId": id})).await;
    assert_eq!(
        (status, &refused["error"]["field"]),
        (404, &json!("expertId"))
    );
}

#[tokio::test]
async fn an_expert_is_a_model_for_programs_made_for_openai() {
    let model = Arc::new(Scripted::new([says("42"), says("43")]));
    let server = Server::with_model(model.clone()).await;
    server.post("/api/experts", tax()).await;
    let (_, listed) = server.get("/v1/models").await;
    let listed = listed["data"].as_array().unwrap().iter();
    let experts: Vec<&str> = listed
        .filter_map(|model| model["id"].as_str()?.strip_prefix("expert/"))
        .collect();
    assert_eq!(
        experts,
        ["general", "files-data", "web-research", "tax-law"]
    );

    let ask =
        |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "hi"}]});
    let (status, answer) = server
        .post("/v1/chat/completions", ask("expert/tax-law"))
        .await;
    assert_eq!(
        (status, &answer["model"]),
        (200, &json!("expert/tax-law")),
        "{answer}"
    );
    is_by_expert(&model.requests()[0]);
    // What the request itself asks for wins, and its own prompt comes first.
    let mut body = ask("expert/tax-law");
    body["temperature"] = json!(1.5);
    body["messages"] = json!([
        {"role": "system", "content": "Answer in Latin."}, {"role": "user", "content": "hi"},
    ]);
    assert_eq!(server.post("/v1/chat/completions", body).await.0, 200);
    let asked = &model.requests()[1];
    assert_eq!(asked.options.temperature, Some(1.5));
    assert_eq!(asked.system, "Answer in Latin.\n\nBe exact about taxes.");
    let (status, refused) = server
        .post("/v1/chat/completions", ask("expert/none"))
        .await;
    assert_eq!(
        (status, &refused["error"]["param"]),
        (404, &json!("model")),
        "{refused}"
    );
}

#[tokio::test]
async fn an_expert_is_an_mcp_server_with_its_own_tools() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    ada.post("/api/experts", tax()).await;
    let key = ada.key("use").await;
    let send = async |person: &Person<'_>, method: &str, params: Value| {
        let request = person.request("POST", "/mcp/experts/tax-law");
        let request = stateless(request, &message(method, params));
        answer(request.send().await.unwrap()).await
    };
    let (status, listed) = send(&key, "tools/list", json!({})).await;
    assert_eq!(status, 200, "{listed}");
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["builtin_calculate"]);
    let sum = json!({"name": "builtin_calculate", "arguments": {"expression": "6*7"}});
    let (_, called) = send(&key, "tools/call", sum).await;
    assert_eq!(called["result"]["content"][0]["text"], "42", "{called}");
    let time = json!({"name": "builtin_current_time", "arguments": {}});
    let (_, refused) = send(&key, "tools/call", time).await;
    assert!(refused["error"].is_object(), "{refused}");

    // It is hers alone, until she shares it.
    let bob = ada.add("Bob").await.key("use").await;
    assert_eq!(send(&bob, "tools/list", json!({})).await.0, 404);
    let ask = json!({"model": "expert/tax-law", "messages": [{"role": "user", "content": "?"}]});
    let (status, refused) = bob.post("/v1/chat/completions", ask).await;
    assert_eq!(status, 404, "{refused}");
    let (_, models) = bob.get("/v1/models").await;
    assert!(!models.to_string().contains("tax-law"), "{models}");
    let (_, experts) = ada.get("/api/experts").await;
    let path = format!("/api/experts/{}", experts[3]["id"].as_str().unwrap());
    let bobs = ada.add("Robert").await;
    let begin = json!({"expertId": experts[3]["id"]});
    assert_eq!(bobs.post("/api/chats", begin).await.0, 404);
    assert_eq!(bobs.get(&format!("{path}/file")).await.0, 404);
    ada.patch(&path, json!({"visibility": "team"})).await;
    assert_eq!(send(&bob, "tools/list", json!({})).await.0, 200);
}

#[tokio::test]
async fn what_the_team_uses_only_its_owner_and_admins_change() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let (olga, bob) = (ada.add("Olga").await, ada.add("Bob").await);
    let mut new = tax();
    new["visibility"] = json!("team");
    let (_, expert) = olga.post("/api/experts", new.clone()).await;
    let path = format!("/api/experts/{}", expert["id"].as_str().unwrap());
    let (status, taken) = bob.post("/api/experts", new).await;
    assert_eq!((status, &taken["error"]["code"]), (409, &json!("taken")));

    let change = || json!({"title": "Mine"});
    let (status, refused) = bob.patch(&path, change()).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (403, &json!("expert_not_yours"))
    );
    assert_eq!(bob.delete(&path).await, 403);
    let layer = |policy: &str| {
        json!({"layer": "expert", "expertId": expert["id"],
            "tools": [{"toolId": "builtin_calculate", "policy": policy}]})
    };
    assert_eq!(bob.patch("/api/tools", layer("deny")).await.0, 403);
    // Nobody allows tools for others through an expert.
    let (status, refused) = olga.patch("/api/tools", layer("allow")).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (400, &json!("expert_allows"))
    );
    assert_eq!(olga.patch("/api/tools", layer("deny")).await.0, 204);
    let (_, chat) = bob
        .post("/api/chats", json!({"expertId": expert["id"]}))
        .await;
    let (_, tools) = bob
        .get(&format!(
            "/api/tools?chatId={}",
            chat["id"].as_str().unwrap()
        ))
        .await;
    assert_eq!(
        (&tools[0]["policy"], &tools[0]["policyBy"]),
        (&json!("deny"), &json!("expert"))
    );

    // A copy is one's own, and hiding is a matter of taste.
    let (status, copy) = bob.post(&format!("{path}/copy"), json!(null)).await;
    assert_eq!(
        (status, &copy["name"]),
        (201, &json!("tax-law-2")),
        "{copy}"
    );
    assert_eq!(
        (&copy["visibility"], &copy["mine"]),
        (&json!("private"), &json!(true))
    );
    assert_eq!(
        bob.patch("/api/experts/general", json!({"hidden": true}))
            .await
            .1["hidden"],
        true
    );
    let (status, refused) = bob.patch("/api/experts/general", change()).await;
    assert_eq!(
        (status, &refused["error"]["code"]),
        (403, &json!("expert_builtin"))
    );
    assert_eq!(olga.get("/api/experts/general").await.1["hidden"], false);

    // What she shared stays when she goes, and is an admin's to change.
    let olgas = format!("/api/users/{}", olga.id);
    assert_eq!(ada.delete(&olgas).await, 204);
    assert_eq!(bob.get(&path).await.0, 200);
    assert_eq!(ada.patch(&path, change()).await.0, 200);
}

#[tokio::test]
async fn an_expert_goes_to_another_tenon_as_a_file() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let (_, made) = ada.post("/api/experts", tax()).await;
    let path = format!("/api/experts/{}", made["id"].as_str().unwrap());
    let (status, file) = ada.get(&format!("{path}/file")).await;
    assert_eq!(status, 200, "{file}");

    let other = Server::with_accounts([]).await;
    let olga = Person::set_up(&other, "Olga").await;
    let (status, imported) = olga.post("/api/experts/file", file.clone()).await;
    assert_eq!(status, 201, "{imported}");
    for field in [
        "name",
        "title",
        "systemPrompt",
        "tools",
        "parameters",
        "starters",
    ] {
        assert_eq!(imported[field], made[field], "{field}");
    }
    // Once more, it changes what is there.
    let text = file["text"].as_str().unwrap();
    let text = text.replace("Tax & law", "Taxes");
    let (status, changed) = olga.post("/api/experts/file", json!({"text": text})).await;
    assert_eq!(
        (status, &changed["id"], &changed["title"]),
        (201, &imported["id"], &json!("Taxes")),
        "{changed}"
    );
    // It stays the team's where it is.
    let path = format!("/api/experts/{}", imported["id"].as_str().unwrap());
    assert_eq!(changed["visibility"], "private");
    let share = json!({"visibility": "team"});
    assert_eq!(olga.patch(&path, share).await.0, 200);
    let (_, changed) = olga.post("/api/experts/file", file.clone()).await;
    assert_eq!(
        (&changed["title"], &changed["visibility"]),
        (&made["title"], &json!("team")),
        "{changed}"
    );
    let (_, noted) = olga.get("/api/audit?action=expert.changed").await;
    assert_eq!(noted.as_array().unwrap().len(), 3, "{noted}");
    let check = async |text: &str, code: &str| {
        let (status, refused) = olga.post("/api/experts/file", json!({"text": text})).await;
        assert_eq!(
            (status, &refused["error"]["code"]),
            (400, &json!(code)),
            "{text}"
        );
    };
    check("- none", "expert_unreadable").await;
    let skill = "name: a\ntitle: A\nskills: [word-count]";
    check(skill, "expert_no_such_skill").await;
}

#[tokio::test]
async fn prompts_are_saved_shared_and_found() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    let new = json!({"command": "总结", "title": "Sum up", "text": "Sum this up:\n"});
    let (status, prompt) = ada.post("/api/prompts", new.clone()).await;
    assert_eq!((status, &prompt["text"]), (201, &new["text"]), "{prompt}");
    assert_eq!(ada.post("/api/prompts", new).await.0, 409);
    assert_eq!(bob.get("/api/prompts").await.1, json!([]));
    let path = format!("/api/prompts/{}", prompt["id"].as_str().unwrap());
    assert_eq!(ada.patch(&path, json!({"visibility": "team"})).await.0, 200);
    let (_, seen) = bob.get("/api/prompts").await;
    assert_eq!(
        (&seen[0]["command"], &seen[0]["canChange"]),
        (&json!("总结"), &json!(false))
    );
    assert_eq!(bob.patch(&path, json!({"text": "mine"})).await.0, 403);
    assert_eq!(bob.delete(&path).await, 403);
    for (field, wrong) in [
        ("command", json!({"command": "a b"})),
        ("text", json!({"text": " "})),
    ] {
        let (status, refused) = ada.patch(&path, wrong).await;
        assert_eq!((status, &refused["error"]["field"]), (400, &json!(field)));
    }
    assert_eq!(ada.delete(&path).await, 204);
    let fill = json!({"name": "mcp_nothing_here"});
    assert_eq!(bob.post("/api/prompts/servers", fill).await.0, 400);
}

#[test]
fn an_expert_that_is_exported_is_imported_as_it_was() {
    let data = tempfile::tempdir().unwrap();
    let file = data.path().join("tax.yaml");
    let written = "name: tax\ntitle: Tax\nicon: scale\nsystemPrompt: |\n  Be exact.\n  Be brief.\ntools: [builtin_calculate]\n";
    std::fs::write(&file, written).unwrap();
    let path = file.to_str().unwrap();
    let import = ["expert", "import", path];
    assert_eq!(stdout(&run(&data, &import)).trim(), "expert/tax");
    let exported = stdout(&run(&data, &["expert", "export", "tax"]));
    std::fs::write(&file, &exported).unwrap();
    // Again is a change and no second one.
    stdout(&run(&data, &import));
    assert_eq!(stdout(&run(&data, &["expert", "export", "tax"])), exported);
    let listed = stdout(&run(&data, &["expert", "list"]));
    assert_eq!(listed.lines().count(), 4, "{listed}");
    assert!(listed.contains("tax           Tax (private)"), "{listed}");
    // Once it is shared it stays so.
    stdout(&run(&data, &["expert", "import", path, "--team"]));
    stdout(&run(&data, &import));
    let listed = stdout(&run(&data, &["expert", "list"]));
    assert!(listed.contains("Tax (the team's)"), "{listed}");
    std::fs::write(&file, "name: tax\ncolour: red\n").unwrap();
    let refused = run(&data, &import);
    assert!(!refused.status.success());
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(
        why.contains("does not describe an expert") && why.contains("colour"),
        "{why}"
    );
}
