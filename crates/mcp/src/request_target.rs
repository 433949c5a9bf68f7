//! What a request is applied to, for its span: names that others chose are cut, and those of
//! resources and tasks left out, since they are too many.

use std::fmt;

use tracing::Span;

const MAX_NAME_BYTES: usize = 64;

/// The name of a method that nobody knows, in the words of OpenTelemetry.
const OTHER: &str = "_OTHER";

/// The requests of the protocol.
const METHODS: [&str; 23] = [
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
    "roots/list",
    "sampling/createMessage",
    "elicitation/create",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/cancel",
    "tasks/update",
    "subscriptions/listen",
    "server/discover",
];

/// The name of a span: a method and what it is applied to.
pub(crate) struct RequestTarget<'a> {
    pub(crate) method: &'a str,
    name: Option<&'a str>,
}

impl<'a> RequestTarget<'a> {
    pub(crate) fn new(method: &'a str, name: Option<&'a str>) -> Self {
        let is_named = matches!(method, "tools/call" | "prompts/get");
        Self {
            method: if METHODS.contains(&method) {
                method
            } else {
                OTHER
            },
            name: name
                .filter(|_| is_named)
                .map(|name| &name[..name.floor_char_boundary(MAX_NAME_BYTES)]),
        }
    }

    pub(crate) fn record(&self, span: &Span) {
        match (self.method, self.name) {
            ("tools/call", Some(tool)) => {
                span.record("gen_ai.operation.name", "execute_tool");
                span.record("gen_ai.tool.name", tool);
            }
            (_, Some(prompt)) => {
                span.record("gen_ai.prompt.name", prompt);
            }
            (_, None) => {}
        }
    }
}

impl fmt::Display for RequestTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method)?;
        match self.name {
            Some(name) => write!(f, " {name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_makes_endless_names_of_spans() {
        let check = |method: &str, name: Option<&str>, expected: &str| {
            let target = RequestTarget::new(method, name);
            assert_eq!(target.to_string(), expected);
        };
        check("tools/call", Some("add"), "tools/call add");
        check("tools/call", None, "tools/call");
        check("resources/read", Some("file:///a"), "resources/read");
        check("made/up", Some("add"), "_OTHER");
        let long = "界".repeat(100);
        let cut = format!("prompts/get {}", "界".repeat(21));
        check("prompts/get", Some(&long), &cut);
    }
}
