//! Vectors of texts, by which tools are found whose words differ from the request's.

use std::sync::Arc;

use async_trait::async_trait;

/// Makes vectors of texts, as a model with embeddings does. Whoever asks has the deadline.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Embeds descriptions of tools, one vector for each text. The vectors may be stored.
    async fn embed_tools(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbedderError>;

    /// Embeds a query of a person, which must not be stored.
    async fn embed_query(&self, text: &str) -> Result<Embedding, EmbedderError>;
}

/// Why there are no vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedderError {
    /// Something in these texts is not taken.
    Rejected,
    /// The model broke on these texts. Others may have theirs, and these later.
    Failed,
    /// None are made now, whatever the texts.
    Unavailable,
}

/// The direction of a vector, a byte for each dimension: a quarter of the memory, and nearly the
/// same neighbours. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    values: Arc<[i8]>,
    norm: f32,
}

impl Embedding {
    /// None: it has no direction.
    pub fn new(values: &[f32]) -> Option<Self> {
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        let is_usable = length.is_finite() && length > 0.0;
        // The largest part of a vector of many dimensions is far below one.
        let largest = values
            .iter()
            .fold(0.0_f32, |max, value| max.max(value.abs()));
        is_usable.then(|| {
            let scaled = values
                .iter()
                .map(|value| (value / largest * 127.0).round() as i8);
            Self::of(scaled.collect())
        })
    }

    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self::of(bytes.iter().map(|byte| byte.cast_signed()).collect())
    }

    fn of(values: Arc<[i8]>) -> Self {
        let norm = (dot(&values, &values) as f32).sqrt().max(1.0);
        Self { values, norm }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.values
            .iter()
            .map(|value| value.cast_unsigned())
            .collect()
    }

    /// The cosine of the angle between them; of models that differ in their dimensions there is
    /// none.
    pub fn similarity(&self, other: &Self) -> Option<f32> {
        let is_comparable = self.values.len() == other.values.len();
        is_comparable.then(|| dot(&self.values, &other.values) as f32 / (self.norm * other.norm))
    }
}

fn dot(one: &[i8], other: &[i8]) -> i32 {
    let pairs = one.iter().zip(other);
    pairs
        .map(|(one, other)| i32::from(*one) * i32::from(*other))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_angle_between_vectors_survives_a_byte_for_each_dimension() {
        let of = |values: &[f32]| Embedding::new(values).unwrap();
        let (east, north) = (of(&[3.0, 0.0]), of(&[0.0, 0.01]));
        assert_eq!(east.similarity(&north), Some(0.0));
        let between = of(&[1.0, 1.0]).similarity(&east).unwrap();
        assert!((between - 0.5_f32.sqrt()).abs() < 0.01, "{between}");
        assert_eq!(east.similarity(&of(&[1.0, 0.0, 0.0])), None);
        assert_eq!(Embedding::from_bytes(&east.to_bytes()), east);
        for wrong in [&[0.0, 0.0][..], &[f32::NAN], &[f32::INFINITY], &[]] {
            assert_eq!(Embedding::new(wrong), None, "{wrong:?}");
        }
    }
}
