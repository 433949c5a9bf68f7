//! All operations of a document, in its order.

use reqwest::Method;
use serde_json::{Map, Value};
use tenon_domain::{Annotations, ToolDefinition};

use super::names::{Names, operation_name};
use super::notes::ParameterNotes;
use super::refs::pointer;
use super::{MAX_DESCRIPTION, MAX_OPERATIONS, MAX_TITLE, Reading, Version};
use super::{body, input, parameters, security, servers};
use crate::openapi::operation::{Operation, Skipped};
use crate::text;

const METHODS: [&str; 9] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
];

/// A reason may quote the document.
const MAX_WHY: usize = 400;
const MAX_PLACE: usize = 200;

/// A path no server has.
const MAX_PATH: usize = 2000;

struct Operations<'r, 'd> {
    reading: &'r Reading<'d>,
    names: Names,
    read: Vec<Operation>,
    skipped: Vec<Skipped>,
    notes: ParameterNotes,
    /// Those beyond the last that is read.
    more: usize,
}

/// All that is in a document.
pub(super) struct OperationList {
    pub(super) operations: Vec<Operation>,
    pub(super) skipped: Vec<Skipped>,
    /// Sentences.
    pub(super) notes: Vec<String>,
}

/// What holds for all operations of a path: itself, and what it refers to.
struct Item<'d> {
    objects: Vec<&'d Map<String, Value>>,
}

pub(super) fn read<'d>(reading: &Reading<'d>, paths: &'d Map<String, Value>) -> OperationList {
    let mut operations = Operations {
        reading,
        names: Names::default(),
        read: Vec::new(),
        skipped: Vec::new(),
        notes: ParameterNotes::default(),
        more: 0,
    };
    let count = paths
        .values()
        .filter_map(|item| item.as_object())
        .map(Map::len);
    reading
        .reader
        .expect(count.sum::<usize>().min(MAX_OPERATIONS));
    for (path, item) in paths {
        if !path.starts_with("x-") {
            operations.path(path, item);
        }
    }
    if operations.more > 0 {
        operations.skipped.push(Skipped {
            place: format!("{} more", operations.more),
            why: format!("Only the first {MAX_OPERATIONS} operations are read."),
        });
    }
    OperationList {
        operations: operations.read,
        skipped: operations.skipped,
        notes: operations.notes.sentences(),
    }
}

impl<'d> Operations<'_, 'd> {
    fn path(&mut self, path: &str, item: &'d Value) {
        let mut objects: Vec<&'d Map<String, Value>> = item.as_object().into_iter().collect();
        match self.reading.reader.refs.follow(item) {
            Ok(Value::Object(target)) => {
                if !objects.iter().any(|own| std::ptr::eq(*own, target)) {
                    objects.push(target);
                }
            }
            // Nothing is there, and nothing is missing.
            Ok(Value::Null) => return,
            Ok(_) => {
                let place = pointer(&["paths", path]);
                return self.skip(path, format!("`{place}` is not an object."));
            }
            Err(lost) => self.skip(path, lost.why("What can be done there")),
        }
        let item = Item { objects };
        for object in &item.objects {
            for (method, operation) in *object {
                let method = method.to_ascii_lowercase();
                if METHODS.contains(&method.as_str()) {
                    self.operation(&method, path, &item, operation);
                }
            }
            let others = object
                .get("additionalOperations")
                .and_then(Value::as_object);
            for (method, operation) in others.into_iter().flatten() {
                self.operation(method, path, &item, operation);
            }
        }
    }

    fn operation(&mut self, method: &str, path: &str, item: &Item<'d>, operation: &'d Value) {
        if operation.is_null() {
            return;
        }
        if self.is_full() {
            self.more += 1;
            return;
        }
        let shown = method.to_ascii_uppercase();
        match self.read(&shown, path, item, operation) {
            Ok(operation) => self.read.push(operation),
            Err(why) => self.skip(&format!("{shown} {path}"), why),
        }
    }

    fn read(
        &mut self,
        method: &str,
        path: &str,
        item: &Item<'d>,
        operation: &'d Value,
    ) -> Result<Operation, String> {
        let reading = self.reading;
        let operation = reading.reader.refs.follow(operation);
        let operation = operation.map_err(|lost| lost.why("What it does"))?;
        let Value::Object(operation) = operation else {
            let place = pointer(&["paths", path, &method.to_ascii_lowercase()]);
            return Err(format!("`{place}` is not an object."));
        };
        if path.len() > MAX_PATH {
            return Err(format!("Its path is longer than {MAX_PATH} bytes."));
        }
        let http_method = Method::from_bytes(method.as_bytes());
        let http_method = http_method.map_err(|_| "Its method is none of HTTP's.".to_owned())?;

        let lists = [item.get("parameters"), operation.get("parameters")];
        let mut lists = parameters::read(reading, path, &lists)?;
        let dropped = std::mem::take(&mut lists.dropped);
        let body = body::read(reading, operation, &lists)?;
        let input = input::assemble(reading, lists.parameters, body);

        let text = |word| operation.get(word).and_then(Value::as_str).map(str::trim);
        let text = |word| text(word).filter(|text| !text.is_empty());
        let wish = text("operationId").map(|id| text::line(id, MAX_TITLE));
        let wish = wish.unwrap_or_else(|| operation_name(method, path));
        let said = text("description").or(text("summary"));
        let description = match said {
            Some(said) => text::block(said, MAX_DESCRIPTION),
            None => text::line(&format!("{method} {path}"), MAX_PLACE),
        };
        let place = text::line(&format!("{method} {path}"), MAX_PLACE);
        for why in dropped {
            self.notes
                .lacks_parameter(&place, text::line(&why, MAX_WHY));
        }
        let mut annotations = annotations(method);
        annotations.deprecated = operation.get("deprecated") == Some(&Value::Bool(true));
        Ok(Operation {
            tool: ToolDefinition {
                name: self.names.give(&wish),
                title: text("summary").map(|summary| text::line(summary, MAX_TITLE)),
                description,
                input_schema: input.schema.into(),
                annotations,
            },
            method: http_method,
            path: match path.starts_with('/') {
                true => path.to_owned(),
                false => format!("/{path}"),
            },
            servers: self.servers(item, operation),
            parameters: input.parameters,
            headers: lists.headers,
            body: input.body,
            security: security::needs(operation.get("security"), reading.document.get("security")),
        })
    }

    fn servers(&self, item: &Item<'d>, operation: &Map<String, Value>) -> Vec<String> {
        let document = self.reading.document;
        match self.reading.version {
            Version::Swagger2 => servers::from_host(operation.get("schemes"), document),
            Version::Openapi30 | Version::Openapi31 => {
                let lists = [
                    operation.get("servers"),
                    item.get("servers"),
                    document.get("servers"),
                ];
                servers::servers(&lists).unwrap_or_else(|| vec!["/".into()])
            }
        }
    }

    fn skip(&mut self, place: &str, why: String) {
        if self.is_full() {
            self.more += 1;
            return;
        }
        self.skipped.push(Skipped {
            place: text::line(place, MAX_PLACE),
            why: text::line(&why, MAX_WHY),
        });
    }

    fn is_full(&self) -> bool {
        self.read.len() + self.skipped.len() >= MAX_OPERATIONS
    }
}

impl<'d> Item<'d> {
    fn get(&self, word: &str) -> Option<&'d Value> {
        self.objects.iter().find_map(|object| object.get(word))
    }
}

/// What HTTP says a method does.
fn annotations(method: &str) -> Annotations {
    let reads = ["GET", "HEAD", "OPTIONS", "QUERY", "TRACE"].contains(&method);
    Annotations {
        read_only: reads,
        destructive: method == "DELETE",
        idempotent: reads || ["PUT", "DELETE"].contains(&method),
        open_world: true,
        ..Annotations::default()
    }
}
