//! Vectors of texts, as OpenAI's API and those that follow it make them: `POST /embeddings`.

use serde::Deserialize;
use serde_json::json;
use tenon_domain::ErrorDetail;

use crate::remote::http;
use crate::remote::provider_error::ProviderError;
use crate::{ModelFault, Remote};

/// A batch of long vectors, written as text.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// No model has more.
const MAX_DIMENSIONS: usize = 16_384;

#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Vec<EmbeddingEntry>,
}

#[derive(Deserialize)]
struct EmbeddingEntry {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Why there are no vectors.
#[derive(Debug)]
pub enum EmbeddingFault {
    /// These texts are not taken; others may be.
    Rejected(ErrorDetail),
    /// The server failed on this request. Other requests, or this one later, may succeed.
    Failed(ErrorDetail),
    /// The server is unreachable or denies access, whatever the texts.
    Unavailable(ErrorDetail),
}

/// One vector for each text, all of the same length.
pub async fn embed(remote: &Remote, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingFault> {
    let asked = json!({"model": remote.model, "input": texts, "encoding_format": "float"});
    let response = http::post(remote, "/embeddings", &asked).await?;
    let body = http::read(response, MAX_BODY_BYTES).await;
    let vectors = body.and_then(|body| read(&body, texts.len()));
    vectors.ok_or_else(|| {
        let what = "something else than one vector for each text";
        let error = ProviderError::unexpected_response(remote, what);
        // Fewer texts may be answered as they should be.
        EmbeddingFault::Failed(error.detail())
    })
}

impl From<ProviderError> for EmbeddingFault {
    fn from(error: ProviderError) -> Self {
        match error {
            ProviderError::Rejected { .. } | ProviderError::ContextFull { .. } => {
                Self::Rejected(error.detail())
            }
            ProviderError::Busy {
                fault: ModelFault::ServerError { .. },
                ..
            } => Self::Failed(error.detail()),
            ProviderError::Busy { .. } | ProviderError::Refused { .. } => {
                Self::Unavailable(error.detail())
            }
        }
    }
}

fn read(body: &str, count: usize) -> Option<Vec<Vec<f32>>> {
    let mut entries = serde_json::from_str::<EmbeddingsResponse>(body).ok()?.data;
    // A stable sort: without numbers they are in the order of the texts.
    entries.sort_by_key(|entry| entry.index);
    let dimensions = entries.first()?.embedding.len();
    let fits = |entry: &EmbeddingEntry| {
        let is_finite = entry.embedding.iter().all(|value| value.is_finite());
        entry.embedding.len() == dimensions && is_finite
    };
    let is_whole = entries.len() == count && (1..=MAX_DIMENSIONS).contains(&dimensions);
    (is_whole && entries.iter().all(fits))
        .then(|| entries.into_iter().map(|entry| entry.embedding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_the_texts_or_not_at_all() {
        let check = |body: &str, expected: Option<&[[f32; 2]]>| {
            let found = read(body, 2);
            let found: Option<Vec<[f32; 2]>> =
                found.map(|found| found.iter().map(|one| [one[0], one[1]]).collect());
            assert_eq!(found.as_deref(), expected, "{body}");
        };
        let both = Some(&[[1.0, 2.0], [3.0, 4.0]][..]);
        check(
            r#"{"data": [{"embedding": [1, 2]}, {"embedding": [3, 4]}]}"#,
            both,
        );
        let swapped =
            r#"{"data": [{"index": 1, "embedding": [3, 4]}, {"index": 0, "embedding": [1, 2]}]}"#;
        check(swapped, both);
        for wrong in [
            "",
            "{}",
            r#"{"data": []}"#,
            r#"{"data": [{"embedding": [1, 2]}]}"#,
            r#"{"data": [{"embedding": [1, 2]}, {"embedding": [3]}]}"#,
            r#"{"data": [{"embedding": []}, {"embedding": []}]}"#,
            r#"{"data": [{"embedding": [1e99, 2]}, {"embedding": [3, 4]}]}"#,
            r#"{"data": [{"embedding": "AAAA"}, {"embedding": "AAAA"}]}"#,
        ] {
            check(wrong, None);
        }
    }
}
