//! Vectors of texts, by which tools are found whose words differ from the request's.

use std::sync::Arc;

use async_trait::async_trait;

/// Makes vectors of texts, as a model with embeddings does.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// One vector for each text; None: not now. Whoever asks has the deadline.
    async fn embed(&self, texts: &[String]) -> Option<Vec<Embedding>>;
}

/// A vector of length one, a byte for each dimension: a quarter of the memory, and the same neighbours. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding(Arc<[i8]>);

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
            let scaled = values.iter().map(|value| (value / largest * 127.0) as i8);
            Self(scaled.collect())
        })
    }

    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| byte.cast_signed()).collect())
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|value| value.cast_unsigned()).collect()
    }

    /// The cosine of the angle between them; of models that differ in their dimensions there is none.
    pub fn similarity(&self, other: &Self) -> Option<f32> {
        if self.0.len() != other.0.len() {
            return None;
        }
        let pairs = self.0.iter().zip(&*other.0);
        let dot: i32 = pairs
            .map(|(one, other)| i32::from(*one) * i32::from(*other))
            .sum();
        Some(dot as f32 / (self.norm() * other.norm()))
    }

    fn norm(&self) -> f32 {
        let squares = self
            .0
            .iter()
            .map(|value| i32::from(*value) * i32::from(*value));
        (squares.sum::<i32>() as f32).sqrt().max(1.0)
    }
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
