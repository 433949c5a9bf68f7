//! Masks secrets in a recorded request, and shortens it for storage.

use serde_json::{Map, Value};
use tenon_domain::text::shorten;
use url::Url;

use crate::Remote;

/// Stands for a secret.
const MASK: &str = "•••";

/// Shorter values may be part of any word, so they are not masked.
const MIN_SECRET_CHARS: usize = 6;

/// A request is kept up to here.
const MAX_REQUEST_BYTES: usize = 256 * 1024;

/// How long a text in a request may be where the whole is too long, tried one after the other.
const TEXT_LIMITS: [usize; 5] = [32_000, 8_000, 2_000, 500, 120];

/// How many messages stay at the beginning and the end of a conversation that is still too long.
const KEPT_MESSAGES: (usize, usize) = (2, 40);

/// Signatures and pictures say nothing to people; this much tells them apart.
const OPAQUE_CHARS: usize = 32;

/// A longer text under one of these names is for machines alone.
const OPAQUE_NAMES: [&str; 5] = [
    "signature",
    "thought_signature",
    "thoughtSignature",
    "encrypted_content",
    "data",
];

/// A parameter with one of these in its name is a secret.
const SECRET_NAMES: [&str; 8] = [
    "apikey",
    "authorization",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "cookie",
];

/// What a request is about. What people say is not searched for names of secrets.
const CONVERSATION: [&str; 4] = ["messages", "system", "tools", "response_format"];

/// A request and the beginning of its response, as people may read them.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedExchange {
    pub url: String,
    /// The request's JSON; a text where it is too long even when all in it is shortened.
    pub request: Value,
    pub response: String,
}

/// What is replaced in every text, the longest first.
#[derive(Clone)]
pub(super) struct Mask(Vec<(String, String)>);

impl Mask {
    pub(super) fn new(remote: &Remote) -> Self {
        let mut secrets: Vec<String> = remote.key.iter().cloned().collect();
        if let Ok(url) = Url::parse(&remote.base_url) {
            secrets.extend(url.password().map(str::to_owned));
            secrets.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
            // Query values are masked in their encoded form, too.
            let query = url.query().unwrap_or_default().split('&');
            secrets.extend(query.filter_map(|pair| Some(pair.split_once('=')?.1.to_owned())));
        }
        for (name, value) in &remote.parameters {
            collect_secrets(name, value, &mut secrets);
        }
        secrets.retain(|secret| secret.chars().count() >= MIN_SECRET_CHARS);
        let masked = secrets.into_iter().map(|secret| (secret, MASK.to_owned()));
        let mut mask = Self(masked.collect());
        mask.sort();
        mask
    }

    pub(super) fn add_redactions(&mut self, redactions: &[(String, String)]) {
        let new = redactions.iter().filter(|(text, _)| !text.is_empty());
        self.0.extend(new.cloned());
        self.sort();
    }

    fn sort(&mut self) {
        self.0
            .sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        self.0.dedup();
    }

    pub(super) fn apply(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for (secret, shown) in &self.0 {
            if masked.contains(secret.as_str()) {
                masked = masked.replace(secret.as_str(), shown);
            }
        }
        masked
    }

    pub(super) fn exchange(&self, url: &str, request: &[u8], head: &[u8]) -> MaskedExchange {
        let request = match serde_json::from_slice(request) {
            Ok(request) => self.request(request),
            Err(_) => Value::String(self.apply(&String::from_utf8_lossy(request))),
        };
        MaskedExchange {
            url: self.url(url),
            request: bounded(request),
            response: self.apply(&String::from_utf8_lossy(head)),
        }
    }

    fn request(&self, mut request: Value) -> Value {
        if let Value::Object(fields) = &mut request {
            for (name, value) in fields {
                if !CONVERSATION.contains(&name.as_str()) {
                    mask_secrets(name, value);
                }
            }
        }
        self.walk("", &mut request);
        request
    }

    fn walk(&self, name: &str, value: &mut Value) {
        match value {
            Value::String(text) => {
                if is_opaque(name, text) {
                    *text = shortened_with_length(text, OPAQUE_CHARS);
                }
                let is_affected = |(secret, _): &(String, String)| text.contains(secret.as_str());
                if self.0.iter().any(is_affected) {
                    *text = self.apply(text);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(name, item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.walk(name, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Without a password, and without the values of its query.
    fn url(&self, url: &str) -> String {
        let Ok(mut parsed) = Url::parse(url) else {
            return self.apply(url);
        };
        // Neither can fail where there is a host.
        let _ = parsed.set_username("");
        let _ = parsed.set_password(None);
        let names: Vec<String> = parsed
            .query_pairs()
            .map(|(name, _)| name.into_owned())
            .collect();
        parsed.set_query(None);
        let query: Vec<String> = names.iter().map(|name| format!("{name}={MASK}")).collect();
        let query = if query.is_empty() {
            String::new()
        } else {
            format!("?{}", query.join("&"))
        };
        self.apply(&format!("{parsed}{query}"))
    }
}

/// Collects secrets from parameters set by a person, which are sent unchanged.
fn collect_secrets(name: &str, value: &Value, secrets: &mut Vec<String>) {
    match value {
        Value::String(text) if is_secret_name(name) => {
            secrets.push(text.clone());
            secrets.extend(text.strip_prefix("Bearer ").map(str::to_owned));
        }
        Value::Object(fields) => {
            let fields = fields.iter();
            fields.for_each(|(name, value)| collect_secrets(name, value, secrets));
        }
        Value::Array(items) => {
            let items = items.iter();
            items.for_each(|item| collect_secrets(name, item, secrets));
        }
        _ => {}
    }
}

fn mask_secrets(name: &str, value: &mut Value) {
    match value {
        Value::String(text) if is_secret_name(name) => MASK.clone_into(text),
        Value::Object(fields) => {
            for (name, value) in fields {
                mask_secrets(name, value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask_secrets(name, item)),
        _ => {}
    }
}

fn is_secret_name(name: &str) -> bool {
    let mut plain = name.to_lowercase();
    plain.retain(|char| char.is_alphanumeric());
    SECRET_NAMES.iter().any(|secret| plain.contains(secret))
}

fn is_opaque(name: &str, text: &str) -> bool {
    let is_long = text.len() > 4 * OPAQUE_CHARS;
    let is_data = || text.starts_with("data:") && text.contains(";base64,");
    let is_named = || OPAQUE_NAMES.contains(&name) && !text.contains(char::is_whitespace);
    is_long && (is_data() || is_named())
}

/// The beginning of each long text is kept; of a long conversation its beginning and its end.
fn bounded(mut request: Value) -> Value {
    if size(&request) <= MAX_REQUEST_BYTES {
        return request;
    }
    for limit in TEXT_LIMITS {
        shorten_texts(&mut request, limit);
        if size(&request) <= MAX_REQUEST_BYTES {
            return request;
        }
    }
    if let Value::Object(fields) = &mut request {
        drop_middle(fields);
    }
    if size(&request) <= MAX_REQUEST_BYTES {
        return request;
    }
    Value::String(shorten(&request.to_string(), MAX_REQUEST_BYTES / 8).into_owned())
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

fn shortened_with_length(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    let head: String = text.chars().take(limit).collect();
    format!("{head}… ({length} characters)")
}

fn shorten_texts(value: &mut Value, limit: usize) {
    match value {
        Value::String(text) if text.len() > limit => {
            *text = shortened_with_length(text, limit);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shorten_texts(item, limit)),
        Value::Object(fields) => fields
            .values_mut()
            .for_each(|value| shorten_texts(value, limit)),
        _ => {}
    }
}

/// Tools by their names alone, and the messages in the middle by their number.
fn drop_middle(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(tools)) = fields.get_mut("tools") {
        for tool in tools.iter_mut() {
            let name = tool.pointer("/function/name").or_else(|| tool.get("name"));
            *tool = name.cloned().unwrap_or(Value::Null);
        }
    }
    let (first, last) = KEPT_MESSAGES;
    if let Some(Value::Array(messages)) = fields.get_mut("messages")
        && messages.len() > first + last
    {
        let left_out = messages.len() - first - last;
        let note = Value::String(format!("… ({left_out} messages)"));
        messages.splice(first..first + left_out, [note]);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tenon_domain::{ToolUse, WireFormat};

    use super::*;

    fn remote(parameters: Value) -> Remote {
        Remote {
            name: "Mine".into(),
            format: WireFormat::Openai,
            base_url: "https://ada:pass-word@models.example/v1?key=in-the-address".into(),
            key: Some("sk-in-the-header".into()),
            model: "m".into(),
            parameters: parameters.as_object().cloned().unwrap(),
            tools: ToolUse::Native,
            context_tokens: None,
            tool_budget: None,
            reports_progress: false,
        }
    }

    fn exchange(parameters: Value, request: &Value, head: &str) -> MaskedExchange {
        let mask = Mask::new(&remote(parameters));
        let url = "https://ada:pass-word@models.example/v1?key=in-the-address/chat/completions";
        mask.exchange(url, request.to_string().as_bytes(), head.as_bytes())
    }

    #[test]
    fn no_key_is_left_wherever_it_stands() {
        let parameters = json!({"extra": {"x-api-key": "of-a-parameter", "top_k": 3}});
        let request = json!({
            "messages": [{"role": "user", "content": "my key is sk-in-the-header, token: pass"}],
            "extra": {"x-api-key": "of-a-parameter", "top_k": 3},
            "max_tokens": 9,
        });
        let head = r#"{"error": "Incorrect key sk-in-the-header at ?key=in-the-address"}"#;
        let seen = exchange(parameters, &request, head);
        assert_eq!(seen.url, "https://models.example/v1?key=•••");
        assert_eq!(
            seen.request,
            json!({
                "messages": [{"role": "user", "content": "my key is •••, token: pass"}],
                "extra": {"x-api-key": "•••", "top_k": 3},
                "max_tokens": 9,
            })
        );
        assert_eq!(
            seen.response,
            r#"{"error": "Incorrect key ••• at ?key=•••"}"#
        );
    }

    #[test]
    fn who_is_no_admin_reads_a_name_in_the_place_of_an_address() {
        let mut mask = Mask::new(&remote(json!({})));
        mask.add_redactions(&[("models.example".into(), "Mine".into())]);
        let seen = mask.exchange("https://models.example/v1", b"{}", b"at models.example");
        assert_eq!(seen.url, "https://Mine/v1");
        assert_eq!(seen.response, "at Mine");
    }

    #[test]
    fn signatures_and_pictures_are_shortened() {
        let long = "A".repeat(5_000);
        let request = json!({"messages": [
            {"thinking": "hm", "signature": long},
            {"image_url": {"url": format!("data:image/png;base64,{long}")}},
            {"input": {"data": format!("{long} {long}")}},
        ]});
        let seen = exchange(json!({}), &request, "").request;
        let short = format!("{}… (5000 characters)", "A".repeat(32));
        assert_eq!(seen["messages"][0]["signature"], short);
        let picture = seen["messages"][1]["image_url"]["url"].as_str().unwrap();
        assert!(picture.len() < 100, "{picture}");
        assert_eq!(seen["messages"][2], request["messages"][2]);
    }

    #[test]
    fn a_long_request_is_kept_within_its_bound_and_stays_json() {
        let one_text = json!({"messages": [{"content": "字".repeat(1_000_000)}], "stream": true});
        let many: Vec<Value> = (0..20_000)
            .map(|number| json!({"content": number}))
            .collect();
        let many_messages = json!({"messages": many, "tools": [{"name": "a", "schema": {}}]});
        for request in [&one_text, &many_messages] {
            let seen = exchange(json!({}), request, "").request;
            assert!(size(&seen) <= MAX_REQUEST_BYTES);
            assert!(seen["messages"].is_array(), "{seen}");
        }
        let seen = exchange(json!({}), &many_messages, "").request;
        assert_eq!(seen["messages"][2], "… (19958 messages)");
        assert_eq!(seen["tools"], json!(["a"]));
        let odd = json!({"others": (0..200_000).collect::<Vec<_>>()});
        let seen = exchange(json!({}), &odd, "").request;
        assert!(seen.is_string() && size(&seen) <= MAX_REQUEST_BYTES);
    }
}
