//! Why a server makes no vectors: whether its texts are to blame decides what is asked next.

use serde_json::{Value, json};
use tenon_domain::WireFormat;
use tenon_llm::embeddings::{EmbeddingFault, embed};

use super::SOON;
use crate::fake::{Act, Fake};

#[tokio::test]
async fn only_what_the_texts_may_be_to_blame_for_is_worth_another_batch() {
    let check = async |act: Act, expected: &str| {
        let what = format!("{act:?}");
        let fake = Fake::start([act]).await;
        let remote = fake.remote(WireFormat::Openai);
        let texts = ["a", "b"].map(String::from);
        let kind = match embed(&remote, &texts).await.unwrap_err() {
            EmbeddingFault::Rejected(_) => "rejected",
            EmbeddingFault::Failed(_) => "failed",
            EmbeddingFault::Unavailable(_) => "unavailable",
        };
        assert_eq!(kind, expected, "{what}");
    };
    let error = |status: u16, message: &str| {
        let body = json!({"error": {"message": message}});
        Act::json(status, &body)
    };
    check(error(400, "The input is not valid."), "rejected").await;
    check(error(400, "The input is too long."), "rejected").await;
    check(error(413, ""), "rejected").await;

    check(error(500, "NaN in the output"), "failed").await;
    check(error(502, ""), "failed").await;
    check(error(504, ""), "failed").await;
    let vectors = |count: usize| -> Value {
        let vector = json!({"embedding": [1.0, 2.0]});
        json!({"data": vec![vector; count]})
    };
    check(Act::json(200, &vectors(1)), "failed").await;

    check(error(401, "no"), "unavailable").await;
    check(error(404, "no"), "unavailable").await;
    check(Act::status(429, SOON, ""), "unavailable").await;
    check(error(503, "Loading model"), "unavailable").await;
    check(Act::SayAndReset(Vec::new()), "unavailable").await;
}
