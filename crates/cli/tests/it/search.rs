//! Finding again what was said, over HTTP.

use serde_json::{Value, json};
use tenon_llm::scripted::ScriptStep;

use crate::server::Server;

/// What was found, as "kind: text with [what] was looked for".
fn shown(hits: &Value) -> Vec<String> {
    let hits = hits.as_array().unwrap().iter();
    let shown = hits.map(|hit| {
        let pieces = hit["snippet"].as_array().unwrap().iter();
        let pieces = pieces.map(|piece| {
            if piece["found"].as_bool().unwrap() {
                format!("[{}]", piece["text"].as_str().unwrap())
            } else {
                piece["text"].as_str().unwrap().to_owned()
            }
        });
        format!(
            "{}: {}",
            hit["kind"].as_str().unwrap(),
            pieces.collect::<String>()
        )
    });
    shown.collect()
}

#[tokio::test]
async fn titles_words_and_tools_are_found() {
    let server = Server::scripted([
        vec![
            ScriptStep::text("Let me look."),
            ScriptStep::call(0, "builtin_calculate", &json!({"expression": "6 * 111"})),
            ScriptStep::stop(),
        ],
        vec![
            ScriptStep::text("我们去东京塔吧，it is 666."),
            ScriptStep::stop(),
        ],
    ])
    .await;
    let chat = server.new_chat().await;
    server.ask(&chat, "Where shall we go on Tuesday?").await;
    let check = async |question: &str, expected: &[&str]| {
        let (status, hits) = server.get(&format!("/api/search?q={question}")).await;
        assert_eq!(status, 200, "{hits}");
        assert_eq!(shown(&hits), expected, "{question}");
        hits
    };
    let question = "Where shall we go on [Tuesday]?";
    let hits = check(
        "tuesday",
        &[
            &format!("title: {question}"),
            &format!("message: {question}"),
        ],
    )
    .await;
    assert!(hits[0]["turnId"].is_null());
    assert!(hits[1]["turnId"].is_string());
    assert_eq!(hits[1]["chatId"], *chat);
    assert_eq!(hits[1]["title"], "Where shall we go on Tuesday?");
    check("东京塔", &["message: 我们去[东京塔]吧，it is 666."]).await;
    check("塔", &["message: 我们去东京[塔]吧，it is 666."]).await;
    check(
        "666",
        &[
            "message: 我们去东京塔吧，it is [666].",
            "call: Math/Calculate expression: 6 * 111 [666]",
        ],
    )
    .await;
    check("京东", &[]).await;
    check("tuesday%20wednesday", &[]).await;
    check("", &[]).await;
    check("%00%22*)%27", &[]).await;
    for bad in ["q=x&limit=many", "q=%FF&limit=-1"] {
        assert_eq!(
            server.get(&format!("/api/search?{bad}")).await.0,
            400,
            "{bad}"
        );
    }
    assert_eq!(server.get("/api/search").await.1, json!([]));

    // A new title takes the place of the former.
    let path = format!("/api/chats/{chat}");
    let renamed = server
        .request("PATCH", &path)
        .json(&json!({"title": "Plans", "archived": true}));
    renamed.send().await.unwrap();
    check("tuesday", &[&format!("message: {question}")]).await;
    let hits = check("plan", &["title: [Plan]s"]).await;
    assert_eq!(hits[0]["archived"], true);
}
