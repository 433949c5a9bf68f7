//! A private skill is there for its owner through every door, and through none for anybody else.

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use tenon_llm::ModelRequest;

use super::{Asks, ObedientModel, SkillFiles, id_of, path_of};
use crate::mcp_door::{message, stateless};
use crate::people::{PASSWORD, Person, email};
use crate::program::{Served, ended, stdout, tenon};
use crate::server::{Server, answer, cookie_of};
use crate::user_command::user;

const MARKER: &str = "quillwort";

/// What only its instructions say.
const SAID: &str = "long road";

/// What one completion had of a skill: whether its model was offered the tool, and read its result.
/// The model calls what it is told to call, whether it was offered or not.
#[derive(Debug, PartialEq)]
struct SeenByModel {
    offered: bool,
    read: bool,
}

impl SeenByModel {
    fn of(requests: &[ModelRequest], tool: &str) -> Self {
        assert!(!requests.is_empty(), "no model was asked");
        let mut offered = requests.iter().flat_map(|request| &request.tools);
        Self {
            offered: offered.any(|spec| spec.id.as_str() == tool),
            read: format!("{requests:?}").contains(SAID),
        }
    }
}

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
    let server = Server::with_accounts_and_model(model.clone()).await;
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
        .map(|(_, body)| body.to_string().contains(MARKER) || body.to_string().contains(SAID))
        .collect();
    let expected = [
        true, true, false, false, false, false, true, true, true, true,
    ];
    assert_eq!(found, expected, "{hers:#?}");
    let mcpo = format!("/mcpo/{MARKER}/use_{MARKER}");
    let through_mcpo = key.post(&mcpo, json!({})).await;
    assert!(
        through_mcpo.1.to_string().contains(SAID),
        "{through_mcpo:?}"
    );
    let completion = |model: &str| json!({"model": model, "tool_ids": [tool], "messages": [{"role": "user", "content": tool}]});
    let (_, models) = olga.get("/v1/models").await;
    let name = models["data"][0]["id"].as_str().unwrap().to_owned();
    let complete = async |key: &Person<'_>, body: Value| {
        let before = model.requests().len();
        let answer = key.post("/v1/chat/completions", body).await;
        (answer, model.requests().split_off(before))
    };
    let ((status, answer), asked) = complete(&key, completion(&name)).await;
    assert_eq!(status, 200, "{answer}");
    let all = SeenByModel {
        offered: true,
        read: true,
    };
    assert_eq!(SeenByModel::of(&asked, &tool), all, "{asked:#?}");

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
            let names_it = text.contains(MARKER) || text.contains(SAID);
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
        assert!(!called.to_string().contains(SAID), "{called}");
        // By its id, among all that they have, and as her expert.
        let chosen = complete(&key, completion(&name)).await;
        let mut all = completion(&name);
        all.as_object_mut().unwrap().remove("tool_ids");
        let of_all = complete(&key, all).await;
        assert_eq!(of_all.0.0, 200, "{:?}", of_all.0);
        let of_guide = complete(&key, completion("expert/guide")).await;
        for ((_, answer), asked) in [chosen, of_all, of_guide] {
            assert!(!answer.to_string().contains(SAID), "{answer}");
            if !asked.is_empty() {
                let nothing = SeenByModel {
                    offered: false,
                    read: false,
                };
                assert_eq!(SeenByModel::of(&asked, &tool), nothing, "{asked:#?}");
            }
        }
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

/// Somebody at a server of its own process.
struct ServedPerson<'a> {
    served: &'a Served,
    cookie: String,
}

impl<'a> ServedPerson<'a> {
    async fn log_in(served: &'a Served, name: &str) -> Self {
        let body = json!({"email": email(name), "password": PASSWORD});
        let url = format!("{}/api/auth/login", served.address);
        let entered = served.client.post(url).json(&body).send().await.unwrap();
        let cookie = cookie_of(&entered);
        Self { served, cookie }
    }
}

impl Asks for ServedPerson<'_> {
    async fn ask_for(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let url = format!("{}{path}", self.served.address);
        let request = self.served.client.request(method.parse().unwrap(), url);
        let request = request.header("cookie", &self.cookie).json(&body);
        answer(request.send().await.unwrap()).await
    }
}

#[tokio::test]
async fn a_shell_sees_no_private_skill_or_expert_of_anybody_else() {
    let data = tempfile::tempdir().unwrap();
    let add = |name: &str, more: &[&str]| {
        let email = email(name);
        let words = ["add", "--email", &email, "--name", name, "--password-stdin"];
        stdout(&user(&data, &[&words, more].concat(), PASSWORD));
    };
    add("Ada", &[]);
    let mut served = Served::start_with(&data, |serve| serve.env_remove("TENON_SINGLE_USER"));
    let ada = ServedPerson::log_in(&served, "Ada").await;
    let new = json!({"name": "Olga", "email": email("Olga"), "password": PASSWORD});
    assert_eq!(ada.ask_for("POST", "/api/users", new).await.0, 201);
    let olga = ServedPerson::log_in(&served, "Olga").await;
    for (person, name) in [(&olga, MARKER), (&ada, "clubmoss")] {
        let mut skill = SkillFiles::new(name).body("Take the long road.\n").upload();
        skill["visibility"] = json!("private");
        let (status, skill) = person.ask_for("POST", "/api/skills", skill).await;
        assert_eq!(status, 201, "{skill}");
        let expert = json!({"title": format!("Guide of {name}"), "name": format!("guide-{name}"),
            "systemPrompt": "Take the long road.", "skills": [skill[0]["id"]]});
        let (status, expert) = person.ask_for("POST", "/api/experts", expert).await;
        assert_eq!(status, 201, "{expert}");
    }
    // The shell is the owner's: hers is there.
    let check = |when: &str| {
        for command in ["skill list", "expert list", "tools list"] {
            for json in [&["--json"][..], &[]] {
                let words: Vec<&str> = command.split(' ').chain(json.iter().copied()).collect();
                let listed = stdout(&in_shell(&data, &words));
                assert!(listed.contains("clubmoss"), "{command}, {when}: {listed}");
                assert!(!listed.contains(MARKER), "{command}, {when}: {listed}");
            }
        }
        for command in ["skill show", "expert export"] {
            let show = |name: &str| {
                let name = match command {
                    "expert export" => format!("guide-{name}"),
                    _ => name.to_owned(),
                };
                let words: Vec<&str> = command.split(' ').chain([name.as_str()]).collect();
                in_shell(&data, &words)
            };
            assert!(stdout(&show("clubmoss")).contains("clubmoss"));
            let refused = show(MARKER);
            assert!(!refused.status.success(), "{command}, {when}: {refused:?}");
            let said = String::from_utf8_lossy(&refused.stdout).into_owned();
            assert_eq!(said, "", "{command}, {when}");
        }
    };
    check("beside a server");
    served.signal("-TERM");
    assert!(ended(&mut served.child).success());
    check("alone");
}

fn in_shell(data: &TempDir, words: &[&str]) -> std::process::Output {
    let mut command = tenon(data, words);
    command.env_remove("TENON_SINGLE_USER").output().unwrap()
}
