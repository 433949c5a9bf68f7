//! `/metrics`, read by the official parser of Prometheus' text format.

use std::collections::BTreeSet;
use std::process::Stdio;

use serde_json::{Value, json};
use tenon_app::config::Config;
use tenon_domain::Usage;
use tenon_llm::ModelDelta;
use tenon_llm::scripted::ScriptStep;
use tokio::io::AsyncWriteExt;

use crate::peer::{installed, ours};
use crate::people::Person;
use crate::server::{Server, TEST_TIMEOUT};

/// The samples of an exposition, as the official parser reads them: names with labels, and values.
async fn parsed(text: &str) -> Value {
    let mut parser = tokio::process::Command::new(installed("venv/bin/python"));
    parser
        .arg(ours("metrics.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut parser = parser.kill_on_drop(true).spawn().unwrap();
    let mut stdin = parser.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).await.unwrap();
    drop(stdin);
    let output = tokio::time::timeout(TEST_TIMEOUT, parser.wait_with_output());
    let output = output.await.unwrap().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn text(person: &Person<'_>) -> (u16, String) {
    let response = person.request("GET", "/metrics").send().await.unwrap();
    let status = response.status().as_u16();
    (status, response.text().await.unwrap())
}

fn counted() -> ScriptStep {
    ScriptStep::Say(ModelDelta::Usage(Usage {
        input_tokens: 100,
        output_tokens: 7,
        ..Usage::default()
    }))
}

#[tokio::test]
async fn admins_and_their_keys_read_what_was_counted() {
    let sum = ScriptStep::call(0, "builtin_calculate", &json!({"expression": "6*7"}));
    let server = Server::with_accounts([
        vec![sum, ScriptStep::stop()],
        vec![ScriptStep::text("42"), counted(), ScriptStep::stop()],
        vec![ScriptStep::text("Hello."), counted(), ScriptStep::stop()],
    ])
    .await;
    let ada = Person::set_up(&server, "Ada").await;
    let bob = ada.add("Bob").await;
    assert_eq!(text(&Person::nobody(&server)).await.0, 401);
    assert_eq!(text(&bob).await.0, 403);

    let question = json!({"messages": [{"role": "user", "content": "6*7"}]});
    let (status, _) = bob.post("/v1/chat/completions", question).await;
    assert_eq!(status, 200);
    let wrong = json!({"arguments": {"expression": 7}});
    bob.post("/api/tools/builtin_calculate/call", wrong).await;
    let (_, chat) = bob.post("/api/chats", json!({})).await;
    let chat = json!({
        "messages": [{"role": "user", "content": "Hello"}], "chat_id": chat["id"],
    });
    assert_eq!(bob.post("/v1/chat/completions", chat).await.0, 200);
    let _page = ada.socket().await.unwrap();

    let (status, exposition) = text(&ada.key("read").await).await;
    assert_eq!(status, 200, "{exposition}");
    let samples = parsed(&exposition).await;
    let check = |sample: &str, expected: f64| {
        let value = samples[sample].as_f64();
        assert_eq!(value, Some(expected), "{sample} in {exposition}");
    };
    let source = "kind=builtin,source=math";
    check(
        &format!("tenon_tool_calls_total{{{source},outcome=done}}"),
        1.0,
    );
    check(
        &format!("tenon_tool_calls_total{{{source},outcome=invalid_input}}"),
        1.0,
    );
    check(
        &format!("tenon_tool_call_seconds_bucket{{{source},le=+Inf}}"),
        1.0,
    );
    check(&format!("tenon_tool_call_seconds_count{{{source}}}"), 1.0);
    check("tenon_turns_total{kind=completion,outcome=done}", 1.0);
    check("tenon_turns_total{kind=turn,outcome=done}", 1.0);
    let model = "model=Scripted model";
    for (direction, tokens) in [("input", 200.0), ("output", 14.0)] {
        let sample = format!("tenon_model_tokens_total{{{model},direction={direction}}}");
        check(&sample, tokens);
    }
    check("tenon_sockets_open{}", 1.0);
    check("tenon_audit_entries_lost_total{}", 0.0);
    check("tenon_http_requests_total{area=v1,status=2xx}", 2.0);
    assert!(exposition.contains("tenon_sources{kind=\"builtin\",state=\"ready\"}"));
}

#[tokio::test]
async fn an_operator_can_leave_the_metrics_open() {
    let config = Config {
        open_metrics: true,
        ..Config::default()
    };
    let server = Server::with_config(config).await;
    let (status, exposition) = text(&Person::nobody(&server)).await;
    assert_eq!(status, 200);
    assert!(
        exposition.contains("tenon_build_info{version="),
        "{exposition}"
    );
}

/// All queries of a dashboard: of its panels, and of its variables.
fn queries(dashboard: &Value, found: &mut Vec<String>) {
    match dashboard {
        Value::Array(all) => all.iter().for_each(|one| queries(one, found)),
        Value::Object(all) => {
            for (name, value) in all {
                match value {
                    Value::String(query) if name == "expr" || name == "query" => {
                        found.push(query.clone());
                    }
                    other => queries(other, found),
                }
            }
        }
        _ => {}
    }
}

#[tokio::test]
async fn the_dashboard_asks_for_what_is_exported_and_for_all_of_it() {
    let file = ours("../../docs/grafana-dashboard.json");
    let dashboard: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let mut found = Vec::new();
    queries(&dashboard, &mut found);
    assert!(found.len() > 10, "{found:?}");
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = found.iter().flat_map(|query| query.split(|c| !is_name(c)));
    let asked: BTreeSet<&str> = words.filter(|word| word.starts_with("tenon_")).collect();

    let config = Config {
        open_metrics: true,
        ..Config::default()
    };
    let server = Server::with_config(config).await;
    let (_, exposition) = text(&Person::nobody(&server)).await;
    let mut exported = BTreeSet::new();
    let mut families = Vec::new();
    for line in exposition.lines() {
        let Some(family) = line.strip_prefix("# TYPE ") else {
            continue;
        };
        let (name, kind) = family.split_once(' ').unwrap();
        families.push(name);
        let ends = match kind {
            "histogram" => &["_bucket", "_sum", "_count"][..],
            _ => &[""],
        };
        exported.extend(ends.iter().map(|end| format!("{name}{end}")));
    }
    for name in &asked {
        assert!(exported.contains(*name), "{name} is not among {exported:?}");
    }
    for family in families {
        let is_shown = asked.iter().any(|name| name.starts_with(family));
        assert!(is_shown, "no panel shows {family}");
    }
}
