//! What a step costs in connections.

use std::sync::Arc;

use super::fake::say;

#[tokio::test]
async fn a_connection_is_used_again_for_the_next_step() {
    use axum::serve::ListenerExt;
    use futures::{StreamExt, stream};
    use std::sync::atomic::{AtomicUsize, Ordering};

    let _ = rustls::crypto::ring::default_provider().install_default();
    let opened = Arc::new(AtomicUsize::new(0));
    let count = opened.clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let listener = listener.tap_io(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    // The last bytes come a moment after the last word.
    let answer = || async {
        let words = format!("data: {}\n\ndata: [DONE]\n\n", say("Hello"));
        let pieces = stream::iter([words, "\n".to_owned()]).then(|piece| async {
            if piece == "\n" {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
            Ok::<_, std::convert::Infallible>(piece)
        });
        axum::body::Body::from_stream(pieces)
    };
    let router = axum::Router::new().fallback(answer);
    tokio::spawn(async move { axum::serve(listener, router).await });

    let provider = tenon_llm::connect(tenon_llm::Remote {
        name: "Fake".into(),
        format: tenon_domain::WireFormat::Openai,
        base_url: url,
        key: None,
        model: "m".into(),
        parameters: serde_json::Map::new(),
        tools: tenon_domain::ToolUse::Native,
        context_tokens: None,
        reports_progress: false,
    });
    for _ in 0..3 {
        let request = tenon_llm::ModelRequest {
            messages: vec![tenon_domain::Message::User { text: "hi".into() }],
            ..tenon_llm::ModelRequest::default()
        };
        tenon_llm::complete(&*provider, request).await.unwrap();
        // A tool runs for a while.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(opened.load(Ordering::Relaxed), 1);
}
