//! Detects small models by name. They get fewer tools and shorter prompts, because they read
//! slowly, choose badly among many tools and have small contexts.

use super::Remote;

/// A context of fewer tokens is filled by tools in their full length.
const SMALL_CONTEXT_TOKENS: u64 = 16 * 1024;

/// Billions of parameters, up to which a model is small.
const SMALL_BILLIONS: f64 = 4.0;

/// Fewer millions in a name are no size: `1m` is the length of a context.
const MIN_MILLIONS: f64 = 50.0;

/// Whether a model gets the compact form of its tools.
pub fn is_small(remote: &Remote) -> bool {
    is_small_model(&remote.model, remote.context_tokens)
}

/// The same for a model that nobody is connected to.
pub fn is_small_model(model: &str, context_tokens: Option<u64>) -> bool {
    context_tokens.is_some_and(|tokens| tokens < SMALL_CONTEXT_TOKENS)
        || billions(model).is_some_and(|size| size <= SMALL_BILLIONS)
}

/// The size that a model's name says: `qwen2.5-coder:1.5b-instruct`, `gemma-3-270m`. The largest
/// one counts: of `qwen3-30b-a3b`, three are active at a time.
fn billions(model: &str) -> Option<f64> {
    let words = model.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words.filter_map(size).reduce(f64::max)
}

fn size(word: &str) -> Option<f64> {
    // `e4b`: the effective number of parameters in memory.
    let word = word.strip_prefix(['e', 'E']).unwrap_or(word);
    let number = word.get(..word.len().checked_sub(1)?)?;
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number: f64 = number.parse().ok()?;
    match word.as_bytes().last()? {
        b'b' | b'B' => Some(number),
        b'm' | b'M' if number >= MIN_MILLIONS => Some(number / 1_000.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_are_models_whose_name_or_context_says_so() {
        for (model, context, expected) in [
            ("Qwen2.5-Coder-1.5B-Instruct-Q4_K_M.gguf", None, true),
            ("llama3.2:3b-instruct-q4_K_M", Some(131_072), true),
            ("google/gemma-3-270m", None, true),
            ("gemma3n:e4b", None, true),
            ("qwen3:4b", None, true),
            ("model.gguf", Some(8_192), true),
            ("qwen2.5:7b", Some(4_096), true),
            ("qwen2.5:7b", Some(32_768), false),
            ("qwen3-30b-a3b", None, false),
            ("mixtral-8x7b", None, false),
            ("qwen2.5-14b-instruct-1m", None, false),
            ("some-model-1m", None, false),
            ("phi-3-medium-4k", None, false),
            ("gpt-4.1-mini", None, false),
            ("gpt-4.1", Some(16_384), false),
            ("", None, false),
            ("b", None, false),
            ("模型-3b", None, true),
            ("1e3b", None, false),
        ] {
            assert_eq!(is_small_model(model, context), expected, "{model}");
        }
    }
}
