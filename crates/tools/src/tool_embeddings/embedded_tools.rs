//! The tools that have an embedding, and which of them are near a text.

use std::sync::Arc;

use tenon_domain::ToolId;

use crate::embedding::Embedding;

/// How many of the nearest tools are kept.
const MAX_NEAREST: usize = 100;

/// A tool is near whose similarity stands out of all others' by so many standard deviations. The
/// rest is in an order, too, that means nothing.
const MIN_DEVIATIONS: f32 = 2.5;

#[derive(Default)]
pub(super) struct EmbeddedTools {
    /// Another one means other embeddings.
    pub(super) generation: u64,
    pub(super) embeddings: Vec<(ToolId, Embedding)>,
}

impl EmbeddedTools {
    pub(super) fn nearest(&self, query: &Embedding) -> Arc<[ToolId]> {
        let similarities = self
            .embeddings
            .iter()
            .filter_map(|(id, embedding)| Some((embedding.similarity(query)?, id)));
        let mut near: Vec<(f32, &ToolId)> = similarities.collect();
        let threshold = threshold(near.iter().map(|(similarity, _)| *similarity));
        near.retain(|(similarity, _)| *similarity > threshold);
        near.sort_by(|left, right| right.0.total_cmp(&left.0));
        near.truncate(MAX_NEAREST);
        near.into_iter().map(|(_, id)| id.clone()).collect()
    }
}

fn threshold(values: impl ExactSizeIterator<Item = f32> + Clone) -> f32 {
    let count = values.len().max(1) as f32;
    let mean = values.clone().sum::<f32>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f32>() / count;
    mean + MIN_DEVIATIONS * variance.sqrt()
}
