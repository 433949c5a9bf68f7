//! Tokens for Tenon itself: fetched once, kept, renewed.

use super::*;

#[tokio::test(start_paused = true)]
async fn one_token_is_fetched_for_all_and_kept_until_shortly_before_it_ends() {
    const ASKED: &str =
        "POST /token Basic bWU6cyUyRmU= grant_type=client_credentials&scope=read+more";
    let sender = ScriptedSender::answering([token("one")]);
    let credentials = credentials(&sender, &[("client", client(None))], &[]);
    let operation = operation(&[&["client:read more"]]);
    let calls = (0..20).map(|_| credentials.call(&operation, request()));
    for result in futures::future::join_all(calls).await {
        assert_eq!(result.unwrap(), ToolOutput::text("ok"));
    }
    let seen = sender.seen();
    assert_eq!(
        seen.iter()
            .filter(|line| line.starts_with("POST"))
            .collect::<Vec<_>>(),
        [ASKED]
    );
    assert_eq!(
        seen.iter()
            .filter(|line| *line == "GET /x Bearer one")
            .count(),
        20
    );

    // It lasts 100 seconds, and the last quarter is not counted on.
    tokio::time::sleep(Duration::from_secs(73)).await;
    credentials.call(&operation, request()).await.unwrap();
    assert_eq!(sender.seen(), ["GET /x Bearer one"]);
    tokio::time::sleep(Duration::from_secs(3)).await;
    sender.answers.lock().unwrap().push_back(token("two"));
    credentials.call(&operation, request()).await.unwrap();
    assert_eq!(sender.seen(), [ASKED, "GET /x Bearer two"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_does_not_take_the_token_away() {
    let sender = ScriptedSender::answering([token("one")]);
    let credentials = credentials(&sender, &[("client", client(None))], &[]);
    let operation = operation(&[&["client"]]);
    let call = credentials.call(&operation, request());
    assert!(
        tokio::time::timeout(Duration::from_millis(50), call)
            .await
            .is_err()
    );
    credentials.call(&operation, request()).await.unwrap();
    assert_eq!(sender.seen().len(), 2);
}

/// Takes every request, and never answers.
struct Silent;

#[async_trait]
impl RequestSender for Silent {
    async fn send(
        &self,
        _: OpenapiRequest,
        _: Option<Duration>,
    ) -> Result<OpenapiResponse, ToolError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_is_not_waited_for_without_end() {
    let held = [("client", client(None))];
    let credentials = Credentials {
        sender: Arc::new(Silent),
        ..credentials(&ScriptedSender::answering([]), &held, &[])
    };
    let operation = operation(&[&["client"]]);
    let call = credentials.call(&operation, request());
    let ended = tokio::time::timeout(Duration::from_secs(30), call).await;
    let error = ended.unwrap().unwrap_err();
    assert!(error.message.contains("it does not answer"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_refused_is_renewed_once() {
    let sender = ScriptedSender::answering([token("one"), answer_of(401, ""), token("two")]);
    let credentials = credentials(&sender, &[("client", client(None))], &[]);
    let operation = operation(&[&["client"]]);
    credentials.call(&operation, request()).await.unwrap();
    let fetched = "POST /token Basic bWU6cyUyRmU= grant_type=client_credentials";
    assert_eq!(
        sender.seen(),
        [fetched, "GET /x Bearer one", fetched, "GET /x Bearer two"]
    );

    sender
        .answers
        .lock()
        .unwrap()
        .extend([answer_of(401, ""), token("three"), answer_of(401, "")]);
    let error = credentials.call(&operation, request()).await.unwrap_err();
    assert!(error.message.starts_with("HTTP 401"), "{error}");
    assert_eq!(
        sender.seen(),
        ["GET /x Bearer two", fetched, "GET /x Bearer three"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_is_not_wanted_in_a_header_goes_into_the_form() {
    let sender = ScriptedSender::answering([
        answer_of(401, ""),
        token("one"),
        answer_of(200, "ok"),
        token("two"),
    ]);
    let credentials = credentials(
        &sender,
        &[("bearer", client(Some("http://b.example/oauth")))],
        &[],
    );
    let operation = operation(&[&["bearer"]]);
    credentials.call(&operation, request()).await.unwrap();
    let form = "POST /oauth grant_type=client_credentials&client_id=me&client_secret=s%2Fe";
    assert_eq!(
        sender.seen(),
        [
            "POST /oauth Basic bWU6cyUyRmU= grant_type=client_credentials",
            form,
            "GET /x Bearer one"
        ]
    );
    tokio::time::sleep(Duration::from_secs(200)).await;
    credentials.call(&operation, request()).await.unwrap();
    assert_eq!(sender.seen(), [form, "GET /x Bearer two"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_no_token_is_named_and_not_asked_at_once_again() {
    let check = async |answers: [OpenapiResponse; 2], expected: &str| {
        let sender = ScriptedSender::answering(answers);
        let credentials = credentials(&sender, &[("client", client(None))], &[]);
        let operation = operation(&[&["client"]]);
        let error = credentials.call(&operation, request()).await.unwrap_err();
        let whole = format!(
            "The request was not sent, because no token could be obtained from a.example for `client`: {expected}."
        );
        assert_eq!(error.message, whole);
        let asked = sender.seen().len();
        assert_eq!(
            credentials.call(&operation, request()).await.unwrap_err(),
            error
        );
        assert!(sender.seen().is_empty());
        sender.answers.lock().unwrap().clear();
        sender.answers.lock().unwrap().push_back(token("one"));
        tokio::time::sleep(Duration::from_secs(6)).await;
        credentials.call(&operation, request()).await.unwrap();
        asked
    };
    let no = || answer_of(500, "");
    let invalid = || {
        answer_of(
            400,
            r#"{"error":"invalid_client","error_description":"who\n\u202eare you?"}"#,
        )
    };
    assert_eq!(check([no(), no()], "it answered 500").await, 1);
    assert_eq!(
        check(
            [invalid(), invalid()],
            "it said invalid_client who are you?"
        )
        .await,
        2
    );
    assert_eq!(
        check(
            [answer_of(200, r#"{"error":"nope"}"#), no()],
            "it said nope"
        )
        .await,
        1
    );
    assert_eq!(
        check(
            [answer_of(200, "<html>"), no()],
            "its answer contains no token"
        )
        .await,
        1
    );
    let broken = answer_of(200, r#"{"access_token":"a\r\nb"}"#);
    assert_eq!(check([broken, no()], "its token is not valid").await, 1);
    let other = answer_of(200, r#"{"access_token":"a","token_type":"DPoP"}"#);
    assert_eq!(
        check(
            [other, no()],
            "it issues tokens of a type that Tenon cannot use"
        )
        .await,
        1
    );
    let long = answer_of(
        200,
        &format!(r#"{{"access_token":"a","x":"{}"}}"#, "a".repeat(300_000)),
    );
    assert_eq!(check([long, no()], "the answer is too long").await, 1);
}

#[test]
fn a_document_sends_no_secret_in_the_clear() {
    use tenon_openapi::security::TokenUrl;
    let check = |said, base: &str, expected: Result<&str, &str>| {
        let base = Url::parse(base).unwrap();
        match (token::endpoint("s", said, &base), expected) {
            (Ok(url), Ok(expected)) => assert_eq!(url.as_str(), expected),
            (Err(error), Err(expected)) => assert!(error.message.contains(expected), "{error}"),
            (found, _) => panic!("{said:?}: {found:?}"),
        }
    };
    let https = "https://a.example/v1/openapi.json";
    check(
        TokenUrl::Document("token"),
        https,
        Ok("https://a.example/v1/token"),
    );
    check(
        TokenUrl::Document("https://b.example/t"),
        https,
        Ok("https://b.example/t"),
    );
    check(
        TokenUrl::Document("http://b.example/t"),
        https,
        Err("not https"),
    );
    check(
        TokenUrl::Configured("http://b.example/t"),
        https,
        Ok("http://b.example/t"),
    );
    check(
        TokenUrl::Document("http://b.example/t"),
        "http://a.example",
        Ok("http://b.example/t"),
    );
    check(
        TokenUrl::Configured("file:///t"),
        https,
        Err("neither http nor https"),
    );
    check(
        TokenUrl::Document("https://"),
        https,
        Err("is not a valid address"),
    );
}
