//! The list of a server's models, in whatever form it comes.

use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    pub model: String,
    pub context_tokens: Option<u64>,
}

/// `{"data":[{"id":…}]}`, `{"models":[{"name":…}]}` or the bare list.
pub(crate) fn models(list: &Value) -> Option<Vec<ListedModel>> {
    let entries = [&list["data"], &list["models"], list]
        .into_iter()
        .find_map(Value::as_array)?;
    let mut models: Vec<ListedModel> = entries.iter().filter_map(listed_model).collect();
    models.sort_by(|a, b| a.model.cmp(&b.model));
    models.dedup_by(|a, b| a.model == b.model);
    Some(models)
}

fn listed_model(entry: &Value) -> Option<ListedModel> {
    let model = ["id", "name", "model"]
        .iter()
        .find_map(|name| entry[*name].as_str())
        .or(entry.as_str())?;
    if model.is_empty() || model.contains(char::is_control) || !can_chat(model) {
        return None;
    }
    let context = [
        "/context_length",
        "/max_model_len",
        "/max_context_length",
        "/context_window",
        "/max_input_tokens",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ];
    Some(ListedModel {
        model: model.to_owned(),
        context_tokens: context
            .iter()
            .find_map(|place| entry.pointer(place)?.as_u64())
            .filter(|tokens| *tokens > 0),
    })
}

/// False for models that embed, transcribe or draw instead of chatting.
fn can_chat(model: &str) -> bool {
    const NON_CHAT_NAMES: [&str; 16] = [
        "embed",
        "whisper",
        "tts-",
        "-tts",
        "dall-e",
        "moderation",
        "gpt-image",
        "-realtime",
        "-transcribe",
        "sora-",
        "babbage-",
        "davinci-",
        "rerank",
        "minilm",
        "bge-",
        "e5-",
    ];
    let model = model.to_lowercase();
    !NON_CHAT_NAMES.iter().any(|other| model.contains(other))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_read_in_all_their_forms() {
        let check = |list: Value, expected: Option<&[&str]>| {
            let found = models(&list);
            let names: Option<Vec<&str>> = found.as_ref().map(|found| {
                found
                    .iter()
                    .map(|listed_model| listed_model.model.as_str())
                    .collect()
            });
            assert_eq!(names.as_deref(), expected, "{list}");
        };
        check(
            json!({"data": [{"id": "b"}, {"id": "a"}, {"id": "a"}]}),
            Some(&["a", "b"]),
        );
        check(
            json!({"models": [{"name": "llama3.2:latest"}]}),
            Some(&["llama3.2:latest"]),
        );
        check(json!([{"id": "a"}, "b", 7]), Some(&["a", "b"]));
        check(
            json!({"data": [{"id": "text-embedding-3"}, {"id": "gpt-5"}]}),
            Some(&["gpt-5"]),
        );
        check(json!({"hello": "world"}), None);
        check(json!("models"), None);
    }

    #[test]
    fn a_context_is_taken_where_it_is_told() {
        let found = models(&json!({"data": [{"id": "a", "max_model_len": 32768}]})).unwrap();
        assert_eq!(found[0].context_tokens, Some(32_768));
    }
}
