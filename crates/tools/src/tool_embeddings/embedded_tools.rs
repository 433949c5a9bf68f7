//! The tools that have an embedding, and which of them are near a text.

use std::collections::HashMap;

use tenon_domain::ToolId;

use crate::embedding::Embedding;

/// How many of the nearest tools are kept.
const MAX_NEAREST: usize = 500;

/// A tool is near whose similarity stands out of all others' by so many standard deviations.
const MIN_DEVIATIONS: f32 = 1.0;

#[derive(Default)]
pub(super) struct EmbeddedTools {
    /// Another one means other embeddings.
    pub(super) generation: u64,
    pub(super) embeddings: Vec<(ToolId, Embedding)>,
}

/// The tools that are near a text, each with how many standard deviations its similarity is above
/// the mean of all. Similarities themselves mean little: each model has its own range.
pub(crate) type NearTools = HashMap<ToolId, f32>;

impl EmbeddedTools {
    pub(super) fn near(&self, query: &Embedding) -> NearTools {
        let similarities = self
            .embeddings
            .iter()
            .filter_map(|(id, embedding)| Some((embedding.similarity(query)?, id)));
        let similarities: Vec<(f32, &ToolId)> = similarities.collect();
        let (mean, deviation) = distribution(similarities.iter().map(|(value, _)| *value));
        let deviations = similarities
            .into_iter()
            .map(|(similarity, id)| ((similarity - mean) / deviation, id));
        let mut near: Vec<(f32, &ToolId)> = deviations
            .filter(|(deviations, _)| *deviations > MIN_DEVIATIONS)
            .collect();
        near.sort_by(|left, right| right.0.total_cmp(&left.0));
        near.truncate(MAX_NEAREST);
        let near = near.into_iter();
        near.map(|(deviations, id)| (id.clone(), deviations))
            .collect()
    }
}

/// The mean of values, and their standard deviation.
fn distribution(values: impl ExactSizeIterator<Item = f32> + Clone) -> (f32, f32) {
    let count = values.len().max(1) as f32;
    let mean = values.clone().sum::<f32>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f32>() / count;
    (mean, variance.sqrt().max(f32::MIN_POSITIVE))
}
