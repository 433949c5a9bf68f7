//! Nobody reaches what is not theirs: every route of the router and every frame
//! of the socket, tried by everybody who should not get through.
//!
//! A new route fails here until [`example`] has a valid request for it.

mod callers;
mod frames;
mod single_user;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tenon_domain::{CallId, SHOWN_PAGE, UserId};
use tenon_llm::scripted::ScriptStep;
use tenon_server::authorize::{KeyPolicy, OwnedResource, RouteAccess};
use tenon_server::route::Route;
use tenon_server::router::routes;
use tenon_store::Blob;

use crate::people::{Person, email};
use crate::server::{Server, answer};

const TITLE: &str = "olgas-secret-plan";

/// They stand for the ids of her chat and turn where those are not in a path.
const HER_CHAT: &str = "olgas-chat";
const HER_TURN: &str = "olgas-turn";

/// The same for the version of her skill.
const HER_SKILL_HASH: &str = "olgas-version";

const MODULE: &str = "class Tools:\n    def add(self, a: int) -> int:\n        return a\n";

/// Her browser.
const DEVICE: &str = "olgas-browser";

const THINGS: [OwnedResource; 13] = [
    OwnedResource::Chat,
    OwnedResource::Turn,
    OwnedResource::Call,
    OwnedResource::ModelCall,
    OwnedResource::Blob,
    OwnedResource::Folder,
    OwnedResource::File,
    OwnedResource::Key,
    OwnedResource::Session,
    OwnedResource::Source,
    OwnedResource::Expert,
    OwnedResource::Prompt,
    OwnedResource::Skill,
];

/// A valid request to a route. Where the route is for the owner of a thing,
/// the id in its path is that thing's and not this one.
struct Example {
    id: &'static str,
    query: &'static str,
    body: Option<Value>,
}

fn example(route: &Route) -> Example {
    let plain = Example {
        id: "nothing",
        query: "",
        body: None,
    };
    let id = |id| Example {
        id,
        query: "",
        body: None,
    };
    let body = |body| Example {
        id: "nothing",
        query: "",
        body: Some(body),
    };
    let query = |query| Example {
        id: "nothing",
        query,
        body: None,
    };
    let account = |name: &str| json!({"name": name, "email": email(name), "password": "correct horse battery"});
    match (route.method.as_str(), route.path) {
        ("GET", "/tools/{id}") => id("builtin_calculate"),
        ("GET", "/info" | "/models" | "/endpoints" | "/ws" | "/openapi.json" | "/docs") => plain,
        ("GET", "/auth/oidc/start" | "/auth/oidc/callback") => plain,
        ("GET", "/auth/state" | "/auth/me" | "/auth/sessions" | "/keys") => plain,
        ("GET", "/users" | "/invites" | "/settings" | "/audit" | "/stats") => plain,
        ("GET", "/auth/invites/{token}") => plain,
        ("POST", "/auth/setup" | "/auth/sign-up") => body(account("Eve")),
        ("POST", "/auth/login") => body(json!({"email": "eve@x.org", "password": "12345678"})),
        ("POST", "/auth/logout") => plain,
        // His other ways in are tried after this one.
        ("POST", "/auth/logout-everywhere") => body(json!({"keepKeys": true})),
        ("DELETE", "/auth/switched-off") => plain,
        ("PATCH", "/auth/me") => body(json!({"name": "Somebody"})),
        ("DELETE", "/auth/sessions/{id}" | "/keys/{id}") => plain,
        ("POST", "/keys") => body(json!({"name": "a key"})),
        ("POST", "/users") => body(account("Mallory")),
        ("PATCH", "/users/{id}") => body(json!({"name": "Somebody"})),
        ("DELETE", "/users/{id}" | "/invites/{id}") => plain,
        ("POST", "/invites") => body(json!({})),
        ("PATCH", "/settings") => body(json!({"signUp": true})),
        ("GET", "/chats" | "/chats/{id}" | "/chats/{id}/messages" | "/blobs/{id}") => plain,
        ("GET", "/blobs/{id}/frame") => plain,
        ("POST", "/chats") => body(json!({})),
        // The model of these tests has nothing to say to anybody else.
        ("POST", "/chat/completions") => body(json!({
            "model": "another", "messages": [{"role": "user", "content": "hello"}],
        })),
        ("PATCH", "/chats/{id}") => body(json!({"title": "Theirs"})),
        ("DELETE", "/chats/{id}") => plain,
        ("POST", "/chats/{id}/turns") => body(json!({"text": "hello"})),
        ("POST", "/chats/{id}/branch") => body(json!({"turnId": HER_TURN})),
        ("POST", "/turns/{id}/cancel") => plain,
        ("GET", "/turns/{id}/trace" | "/model-calls/{id}") => plain,
        ("GET", "/calls/{id}") => plain,
        ("GET", "/calls") => query("?toolId=builtin_calculate"),
        ("POST", "/calls/{id}/answer") => body(json!({"verdict": "once"})),
        ("POST", "/calls/{id}/form") => body(json!({"formId": "nothing", "action": "decline"})),
        ("POST", "/chats/{id}/restore") => plain,
        ("GET", "/chats/{id}/export") => query("?format=json"),
        ("POST", "/chats/import") => body(json!({
            "format": "tenon.chat", "version": 1, "title": "Theirs", "createdAt": 1, "turns": [],
        })),
        ("GET", "/search") => query("?q=olgas-secret-plan"),
        ("GET" | "DELETE", "/chats/{id}/share") => plain,
        ("POST", "/chats/{id}/share") => body(json!({})),
        ("GET", "/shares" | "/shared/{token}") => plain,
        ("GET", "/tools") => query("?chatId=olgas-chat"),
        ("PATCH", "/tools") => body(json!({
            "layer": "chat", "chatId": HER_CHAT,
            "tools": [{"toolId": "builtin_calculate", "enabled": false}],
        })),
        ("GET", "/shell/tools" | "/shell/sources") => plain,
        ("GET" | "POST" | "DELETE", "/shell/mcp") => plain,
        ("POST", "/tools/{id}/call" | "/shell/tools/{id}/call") => Example {
            body: Some(json!({"arguments": {"expression": "6*7"}})),
            ..id("builtin_calculate")
        },
        ("GET", "/models/{id}") => id("builtin"),
        ("POST", "/models") => body(json!({
            "provider": "openai", "baseUrl": "http://127.0.0.1:9/v1", "model": "m",
        })),
        ("POST", "/models/discover") => body(json!({"baseUrl": "http://127.0.0.1:9/v1"})),
        ("PATCH", "/models/{id}") => body(json!({"name": "Theirs"})),
        ("DELETE", "/models/{id}") | ("POST", "/models/{id}/test") => plain,
        ("POST", "/models/{id}/evaluate") => body(json!({"prompts": 1})),
        (
            "GET",
            "/experts" | "/experts/{id}" | "/experts/{id}/file" | "/prompts" | "/prompts/servers",
        ) => plain,
        ("POST", "/experts/file") => body(json!({"text": "name: theirs\ntitle: Theirs"})),
        ("POST", "/experts") => body(json!({"title": "Theirs"})),
        ("PATCH", "/experts/{id}") => body(json!({"title": "Theirs"})),
        ("POST", "/experts/{id}/copy") | ("DELETE", "/experts/{id}" | "/prompts/{id}") => plain,
        ("POST", "/prompts") => body(json!({"command": "theirs", "text": "theirs"})),
        ("POST", "/prompts/servers") => body(json!({"name": "nothing"})),
        ("PATCH", "/prompts/{id}") => body(json!({"text": "Theirs"})),
        ("GET", "/skills" | "/skills/sandbox" | "/skills/{id}") => plain,
        ("GET", "/skills/{id}/file") => query("?path=SKILL.md"),
        ("POST", "/skills/preview" | "/skills") => body(skill_input("theirs")),
        ("PATCH", "/skills/{id}") => body(json!({"enabled": true})),
        ("DELETE", "/skills/{id}") => plain,
        ("GET", "/folders" | "/me/instructions" | "/files/{id}" | "/chats/{id}/settings") => plain,
        ("GET", "/image") => query("?url=http://127.0.0.1:9/x.png"),
        ("GET", "/preview" | "/shared/{token}/files/{id}") => plain,
        ("POST", "/folders") => body(json!({"name": "Theirs"})),
        ("PATCH", "/folders/{id}") => body(json!({"name": "Theirs"})),
        ("DELETE", "/folders/{id}" | "/files/{id}") => plain,
        ("PUT", "/me/instructions") => body(json!({"instructions": "Theirs"})),
        ("PUT", "/chats/{id}/settings") => body(json!({"instructions": "Theirs"})),
        ("POST", "/context") => body(json!({"text": "hello"})),
        // A file is no JSON.
        ("POST", "/files") => query("?name=theirs.txt"),
        ("POST", "/skills/{id}/version") => body(json!({"hash": HER_SKILL_HASH})),
        ("POST", "/tools/describe" | "/tools/create" | "/tools/create/stream") => {
            body(json!({"code": MODULE}))
        }
        ("POST", "/tools/try") => body(json!({"code": MODULE, "tool": "add"})),
        ("GET", "/sources" | "/sources/{id}" | "/sources/{id}/logs" | "/secrets") => plain,
        ("POST", "/sources") => body(json!({
            "kind": "mcp", "name": "theirs", "url": "https://127.0.0.1:9/mcp", "enabled": false,
        })),
        ("POST", "/sources/preview") => body(json!({
            "kind": "openapi", "name": "theirs", "document": {"openapi": "3.1.0", "paths": {}},
        })),
        ("POST", "/sources/{id}/refresh") => plain,
        ("POST", "/sources/import") => body(json!({
            "text": r#"{"theirs": {"url": "https://127.0.0.1:9/mcp", "disabled": true}}"#,
        })),
        ("PATCH", "/sources/{id}") => body(json!({"title": "Theirs"})),
        ("DELETE", "/sources/{id}") | ("POST", "/sources/{id}/restart") => plain,
        ("POST" | "DELETE", "/sources/{id}/login") => plain,
        ("GET", "/sources/callback" | "/sources/client") => plain,
        ("GET", "/devices" | "/devices/endpoints") => plain,
        ("DELETE", "/devices/{id}") => id(DEVICE),
        ("POST", "/devices/behind") => body(json!({
            "url": "http://localhost:8000/openapi.json", "document": {"openapi": "3.1.0"},
        })),
        ("PUT", "/devices/endpoints") => body(json!([])),
        ("PUT", "/secrets/{name}") => body(json!({"value": "everybody's"})),
        ("DELETE", "/secrets/{name}") => query("?mine=false"),
        _ => panic!(
            "{route:?} is new. Add a valid request for it to `example` in tests/it/access.rs, \
             and see to it that its class says for whom it is"
        ),
    }
}

/// Olga, who owns one of everything; Bob, who owns nothing; Ada, who is an admin.
struct AccessFixture<'a> {
    server: &'a Server,
    ada: Person<'a>,
    olga: Person<'a>,
    bob: Person<'a>,
    chat: String,
    turn: String,
    call: String,
    model_call: String,
    blob: String,
    share: String,
    key: String,
    hint: String,
    session: String,
    source: String,
    expert: String,
    prompt: String,
    skill: String,
    folder: String,
    file: String,
    skill_hash: String,
}

impl<'a> AccessFixture<'a> {
    async fn new(server: &'a Server) -> Self {
        let ada = Person::set_up(server, "Ada").await;
        let olga = ada.add("Olga").await;
        let bob = ada.add("Bob").await;
        let (_, chat) = olga.post("/api/chats", json!({"title": TITLE})).await;
        let chat = text(&chat["id"]);
        let mut page = olga.socket().await.unwrap();
        page.subscribe(&chat, 0).await;
        let path = format!("/api/chats/{chat}");
        let said = json!({"text": "what is 6*7"});
        let (_, started) = olga.post(&format!("{path}/turns"), said).await;
        page.until_finished().await;
        let (_, messages) = olga.get(&format!("{path}/messages")).await;
        let call = text(&messages[1]["toolCalls"][0]["id"]);
        let turn = text(&started["turnId"]);
        let (_, trace) = olga.get(&format!("/api/turns/{turn}/trace")).await;
        let bytes = Blob {
            media_type: SHOWN_PAGE.into(),
            data: TITLE.into(),
        };
        let owner = UserId::new(&olga.id);
        let by = CallId::new(&call);
        let stored = server.app.store.put_blob(&owner, &by, bytes);
        let blob = stored.await.unwrap().0;
        let (_, share) = olga.post(&format!("{path}/share"), json!({})).await;
        let new = json!({"name": "olgas-key"});
        let (_, key) = olga.post("/api/keys", new).await;
        let other = server.app.store.create_session(&owner, "olgas-browser", "");
        let (_, session) = other.await.unwrap();
        let new = json!({
            "kind": "mcp", "name": "olgas-server", "url": "https://olgas.example", "enabled": false,
        });
        let (_, source) = olga.post("/api/sources", new).await;
        let new = json!({"title": "olgas-expert", "systemPrompt": "olgas-system-prompt"});
        let (_, expert) = olga.post("/api/experts", new).await;
        let new = json!({"command": "olgas-command", "text": "olgas-text"});
        let (_, prompt) = olga.post("/api/prompts", new).await;
        let (_, skills) = olga.post("/api/skills", skill_input("olgas-skill")).await;
        let new = json!({"name": "olgas-folder", "instructions": "olgas-folder-instructions"});
        let (_, folder) = olga.post("/api/folders", new).await;
        let mine = json!({"instructions": "olgas-instructions"});
        assert_eq!(
            olga.send("PUT", "/api/me/instructions", Some(mine)).await.0,
            200
        );
        let adding = server
            .app
            .files
            .add(&owner, "olgas-file.txt", "olgas-words".into());
        let file = adding.await.unwrap();
        let secret = json!({"value": "olgas-token", "mine": true});
        let named = "/api/secrets/OLGAS_NAME";
        assert_eq!(olga.send("PUT", named, Some(secret)).await.0, 204);
        Self {
            server,
            ada,
            bob,
            chat,
            turn,
            call,
            model_call: text(&trace["modelCalls"][0]["id"]),
            blob,
            share: text(&share["token"]),
            key: text(&key["id"]),
            hint: text(&key["hint"]),
            session: session.id.0,
            source: text(&source["id"]),
            expert: text(&expert["id"]),
            prompt: text(&prompt["id"]),
            skill: text(&skills[0]["id"]),
            folder: text(&folder["id"]),
            file: file.id.0,
            skill_hash: text(&skills[0]["hash"]),
            olga,
        }
    }

    fn id_of(&self, thing: OwnedResource) -> &str {
        match thing {
            OwnedResource::Chat => &self.chat,
            OwnedResource::Turn => &self.turn,
            OwnedResource::Call => &self.call,
            OwnedResource::ModelCall => &self.model_call,
            OwnedResource::Blob => &self.blob,
            OwnedResource::Folder => &self.folder,
            OwnedResource::File => &self.file,
            OwnedResource::Key => &self.key,
            OwnedResource::Session => &self.session,
            OwnedResource::Source => &self.source,
            OwnedResource::Expert => &self.expert,
            OwnedResource::Prompt => &self.prompt,
            OwnedResource::Skill => &self.skill,
        }
    }

    /// What nobody but Olga should ever read.
    fn markers(&self) -> [&str; 32] {
        [
            TITLE,
            "olgas-key",
            "olgas-browser",
            "olgas-server",
            "olgas-token",
            "OLGAS_NAME",
            "olgas-expert",
            "olgas-system-prompt",
            "olgas-command",
            "olgas-text",
            "olgas-folder",
            "olgas-folder-instructions",
            "olgas-instructions",
            "olgas-file",
            "olgas-words",
            &self.folder,
            &self.file,
            &self.expert,
            "olgas-skill",
            &self.skill,
            &self.skill_hash,
            &self.prompt,
            &self.source,
            &self.chat,
            &self.turn,
            &self.call,
            &self.model_call,
            &self.blob,
            &self.share,
            &self.key,
            &self.hint,
            &self.session,
        ]
    }

    async fn send(&self, person: &Person<'_>, route: &Route) -> (u16, Value) {
        let id = match route.access {
            RouteAccess::Owner(thing) => self.id_of(thing),
            RouteAccess::Admin if route.path.starts_with("/users/") => &self.olga.id,
            RouteAccess::Open
            | RouteAccess::User
            | RouteAccess::Admin
            | RouteAccess::Key
            | RouteAccess::Shell => example(route).id,
        };
        self.send_about(person, route, id).await
    }

    async fn send_about(&self, person: &Person<'_>, route: &Route, id: &str) -> (u16, Value) {
        let example = example(route);
        let path = match (route.path.find('{'), route.path.find('}')) {
            (Some(from), Some(to)) => {
                format!("{}{id}{}", &route.path[..from], &route.path[to + 1..])
            }
            _ => route.path.to_owned(),
        };
        let hers = |text: &str| {
            text.replace(HER_CHAT, &self.chat)
                .replace(HER_TURN, &self.turn)
                .replace(HER_SKILL_HASH, &self.skill_hash)
        };
        let path = format!("/api{path}{}", hers(example.query));
        let body = example
            .body
            .map(|body| hers(&body.to_string()).parse().unwrap());
        person.send(route.method.as_str(), &path, body).await
    }

    /// A route that is said to be for everybody gives nothing of hers for her ids.
    async fn try_her_ids(&self, person: &Person<'_>, route: &Route) {
        if !route.path.contains('{') {
            return;
        }
        for thing in THINGS {
            let id = self.id_of(thing);
            let (status, body) = self.send_about(person, route, id).await;
            let is_refused = (400..500).contains(&status);
            assert!(is_refused, "{route:?} about a {thing:?}: {status} {body}");
        }
    }

    /// Logged in anew: some routes end the session that uses them.
    async fn bob_again(&self) -> Person<'a> {
        let bob = UserId::new(&self.bob.id);
        let session = self.server.app.store.create_session(&bob, "", "");
        let (token, _) = session.await.unwrap();
        let mut again = self.bob.clone();
        again.shows = Some(("cookie", format!("tenon={}", token.0)));
        again
    }

    /// All that Olga sees of her own.
    async fn snapshot(&self) -> Vec<(String, Value)> {
        let mut seen = Vec::new();
        for route in routes() {
            let is_hers = matches!(route.access, RouteAccess::User | RouteAccess::Owner(_));
            // Neither is of anything that she has.
            let is_of_things = !["/ws", "/image"].contains(&route.path);
            if route.method == "GET" && is_hers && is_of_things {
                let (status, body) = self.send(&self.olga, &route).await;
                assert_eq!(status, 200, "{route:?}: {body}");
                seen.push((format!("{route:?}"), body));
            }
        }
        seen
    }
}

/// Instructions alone, which everybody may have for themself.
fn skill_input(name: &str) -> Value {
    let text = format!("---\nname: {name}\ndescription: Of {name}.\n---\nSteps of {name}.\n");
    json!({"fileName": "SKILL.md", "content": STANDARD.encode(text)})
}

fn script() -> Vec<Vec<ScriptStep>> {
    vec![
        vec![
            ScriptStep::call(0, "builtin_calculate", &json!({"expression": "6*7"})),
            ScriptStep::stop(),
        ],
        vec![ScriptStep::text(TITLE), ScriptStep::stop()],
    ]
}

#[tokio::test]
async fn nobody_gets_through_a_route_that_is_not_for_them() {
    let server = Server::with_accounts(script()).await;
    let fixture = AccessFixture::new(&server).await;
    let nobody = Person::nobody(&server);
    let program = fixture.bob.key("full").await;
    let before = fixture.snapshot().await;

    for route in routes() {
        let bob = fixture.bob_again().await;
        match route.access {
            RouteAccess::Open => {
                let (status, body) = fixture.send(&nobody, &route).await;
                assert_ne!(status, 500, "{route:?}: {body}");
                keeps_secrets(&fixture, &route, &body);
                fixture.try_her_ids(&bob, &route).await;
                continue;
            }
            RouteAccess::User => {
                for stranger in [&bob, &program] {
                    let (status, body) = fixture.send(stranger, &route).await;
                    assert!(status < 500, "{route:?}: {status} {body}");
                    keeps_secrets(&fixture, &route, &body);
                }
                fixture.try_her_ids(&bob, &route).await;
            }
            RouteAccess::Owner(_) => {
                let (status, body) = fixture.send(&bob, &route).await;
                assert_eq!(status, 404, "{route:?}, by a stranger: {body}");
                keeps_secrets(&fixture, &route, &body);
                let (status, body) = fixture.send(&program, &route).await;
                let expected = match route.keys {
                    KeyPolicy::None => 403,
                    KeyPolicy::All | KeyPolicy::Full => 404,
                };
                assert_eq!(status, expected, "{route:?}, by a stranger's key: {body}");
            }
            RouteAccess::Admin => {
                for stranger in [&bob, &program] {
                    let (status, body) = fixture.send(stranger, &route).await;
                    assert_eq!(status, 403, "{route:?}, by no admin: {body}");
                }
            }
            RouteAccess::Key => {
                let (status, body) = fixture.send(&bob, &route).await;
                assert_eq!(status, 401, "{route:?}, without a key: {body}");
            }
            RouteAccess::Shell => {
                for stranger in [&bob, &program, &fixture.ada] {
                    let (status, body) = fixture.send(stranger, &route).await;
                    assert_eq!(status, 401, "{route:?}, by no command: {body}");
                }
            }
        }
        let (status, body) = fixture.send(&nobody, &route).await;
        assert_eq!(status, 401, "{route:?}, by nobody: {body}");
        assert_eq!(body["error"]["code"], "not_logged_in", "{route:?}");
    }
    assert_eq!(
        fixture.snapshot().await,
        before,
        "nothing of it has changed"
    );

    // It was not for a mistake in the requests: the owner gets through with the same.
    let mut theirs = routes();
    theirs.retain(|route| matches!(route.access, RouteAccess::Owner(_)));
    // What goes, goes last, and the chat after all that is in it; then it comes back.
    theirs.sort_by_key(|route| match (route.method.as_str(), route.path) {
        (_, "/chats/{id}/restore") => 3,
        ("DELETE", "/chats/{id}") => 2,
        ("DELETE", _) => 1,
        _ => 0,
    });
    for route in theirs {
        let (status, body) = fixture.send(&fixture.olga, &route).await;
        let got_through = (200..300).contains(&status) || status == 409;
        assert!(got_through, "{route:?}, by its owner: {status} {body}");
    }
}

fn keeps_secrets(fixture: &AccessFixture<'_>, route: &Route, body: &Value) {
    let body = body.to_string();
    for marker in fixture.markers() {
        assert!(!body.contains(marker), "{route:?} tells {marker}: {body}");
    }
}

#[tokio::test]
async fn another_site_gets_nothing_done_with_somebodys_cookie() {
    let server = Server::with_accounts([]).await;
    let ada = Person::set_up(&server, "Ada").await;
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let request = ada.request("POST", "/api/chats").json(&json!({}));
        let (status, _) = answer(request.header(name, value).send().await.unwrap()).await;
        assert_eq!(status, 403, "{name}: {value}");
    }
    let request = ada
        .request("GET", "/api/chats")
        .header("host", "evil.example");
    assert_eq!(answer(request.send().await.unwrap()).await.0, 421);
    assert_eq!(ada.get("/api/chats").await.1, json!([]));
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}
