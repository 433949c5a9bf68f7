//! A private skill is there for its owner through every door, and through none for anybody else.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Asks, ObedientModel, SkillFiles, id_of, path_of};
use crate::mcp_door::{message, stateless};
use crate::people::Person;
use crate::server::{Server, answer};

const MARKER: &str = "quillwort";

/// Through MCP, with a key.
async fn mcp(key: &Person<'_>, path: &str, method: &str, params: Value) -> (u16, Value) {
    let message = message(method, params);
    let request = stateless(key.request("POST", path), &message);
    answer(request.send().await.unwrap()).await
}

/// All that a person can read, and what the doors say about the tool.
async fn read(person: &Person<'_>, key: &Person<'_>, tool: &str) -> Vec<(u16, Value)> {
    let body = json!({"arguments": {}});
    let call = format!("/api/tools/{tool}/call");
    let mut seen = Vec::new();
    for path in [
        "/api/skills",
        "/api/tools",
        "/api/sources",
        "/api/prompts",
        "/api/experts",
        "/v1/models",
        "/mcpo/openapi.json",
    ] {
        seen.push(person.get(path).await);
    }
    seen.push(person.post(&call, body).await);
    seen.push(mcp(key, "/mcp", "tools/list", json!({})).await);
    let arguments = json!({"name": tool, "arguments": {}});
    seen.push(mcp(key, "/mcp", "tools/call", arguments).await);
    seen
}

#[tokio::test]
async fn a_private_skill_is_reached_by_its_owner_alone() {
    let model = Arc::new(ObedientModel::default());
    let server = Server::with_accounts_and_model(model).await;
    let ada = Person::set_up(&server, "Ada").await;
    let (olga, bob) = (ada.add("Olga").await, ada.add("Bob").await);
    let skill = SkillFiles::new(MARKER).body("Take the long road.\n");
    let skill = olga.install(&skill).await;
    let tool = id_of(&skill, &format!("use_{MARKER}"));

    // She reaches it through all of them.
    let key = olga.key("use").await;
    let hers = read(&olga, &key, &tool).await;
    let found: Vec<bool> = hers
        .iter()
        .map(|(_, body)| {
            body.to_string().contains(MARKER) || body.to_string().contains("long road")
        })
        .collect();
    let expected = [
        true, true, false, false, false, false, true, true, true, true,
    ];
    assert_eq!(found, expected, "{hers:#?}");
    let mcpo = format!("/mcpo/{MARKER}/use_{MARKER}");
    let through_mcpo = key.post(&mcpo, json!({})).await;
    assert!(
        through_mcpo.1.to_string().contains("long road"),
        "{through_mcpo:?}"
    );
    let completion = |model: &str| json!({"model": model, "tool_ids": [tool], "messages": [{"role": "user", "content": tool}]});
    let (_, models) = olga.get("/v1/models").await;
    let model = models["data"][0]["id"].as_str().unwrap().to_owned();
    let (status, answer) = key.post("/v1/chat/completions", completion(&model)).await;
    assert_eq!(status, 200, "{answer}");

    // Her expert names it; shared, it takes nobody along.
    let expert =
        json!({"title": "Guide", "visibility": "team", "skills": [skill["id"]], "tools": [tool]});
    let (status, expert) = olga.post("/api/experts", expert).await;
    assert_eq!(status, 201, "{expert}");

    for (person, admin) in [(&bob, false), (&ada, true)] {
        let key = person.key("use").await;
        for (status, body) in read(person, &key, &tool).await {
            // What cannot be found is named as it was asked for.
            let text = body.to_string().replace(&tool, "");
            let names_it = text.contains(MARKER) || text.contains("long road");
            // The expert that she shared says the id of what it uses.
            let is_expert = text.contains("\"Guide\"");
            assert!(is_expert || !names_it, "{admin} {status} {text}");
        }
        assert_eq!(person.get(&path_of(&skill)).await.0, 404);
        let call = format!("/api/tools/{tool}/call");
        assert_eq!(person.post(&call, json!({"arguments": {}})).await.0, 404);
        let refused = key.post(&mcpo, json!({})).await;
        assert_eq!(refused.0, 404, "{refused:?}");
        let (status, listed) = mcp(&key, "/mcp/experts/guide", "tools/list", json!({})).await;
        assert_eq!(status, 200, "{listed}");
        assert!(!listed.to_string().contains(MARKER), "{listed}");
        let (_, called) = mcp(
            &key,
            "/mcp/experts/guide",
            "tools/call",
            json!({"name": tool, "arguments": {}}),
        )
        .await;
        assert!(!called.to_string().contains("long road"), "{called}");
        let (_, answer) = key.post("/v1/chat/completions", completion(&model)).await;
        assert!(!answer.to_string().contains("long road"), "{answer}");
        // Nor does somebody's own expert borrow it.
        let borrowed = json!({"title": "Borrows", "skills": [skill["id"]]});
        let (status, refused) = person.post("/api/experts", borrowed).await;
        if status == 201 {
            let path = format!("/api/experts/{}", refused["id"].as_str().unwrap());
            let (_, shown) = person.get(&path).await;
            assert!(!shown.to_string().contains(MARKER), "{shown}");
        }
    }
}

#[tokio::test]
async fn a_skill_of_the_team_is_a_tool_of_mcp_and_of_completions() {
    let model = Arc::new(ObedientModel::default());
    let server = Server::with_accounts_and_model(model.clone()).await;
    let ada = Person::set_up(&server, "Ada").await;
    let skill = ada.install(&SkillFiles::word_count()).await;
    let count = id_of(&skill, "count");
    let key = ada.key("use").await;
    let params = json!({"name": count, "arguments": {"text": "one two"}});
    let (_, called) = mcp(&key, "/mcp", "tools/call", params).await;
    assert_eq!(
        called["result"]["structuredContent"],
        json!({"success": true, "data": {"words": 2}}),
        "{called}"
    );
    let body = json!({"messages": [{"role": "user", "content": count}], "tool_ids": [count]});
    let (status, answer) = key.post("/v1/chat/completions", body).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        answer["choices"][0]["message"]["content"], "Done.",
        "{answer}"
    );
    let offered = &model.requests()[0].tools;
    assert_eq!(
        offered
            .iter()
            .map(|tool| tool.id.as_str())
            .collect::<Vec<_>>(),
        [count]
    );
}
