//! All operations of a document, in its order.

use http::Method;
use serde_json::{Map, Value};
use tenon_text as text;

use super::names::{OperationNames, operation_name};
use super::notes::ParameterNotes;
use super::references::pointer;
use super::{
    MAX_DESCRIPTION_CHARS, MAX_OPERATIONS, MAX_PATH_BYTES, MAX_TITLE_CHARS, ParseContext,
    SpecVersion,
};
use super::{body, input, parameters, security, servers};
use crate::note::{DocumentNote, OperationError, OperationPart};
use crate::operation::{Operation, SkippedOperation};

const METHODS: [&str; 9] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
];

const MAX_SHOWN_OPERATION_CHARS: usize = 200;

struct OperationReader<'r, 'd> {
    reading: &'r ParseContext<'d>,
    names: OperationNames,
    read: Vec<Operation>,
    skipped: Vec<SkippedOperation>,
    notes: ParameterNotes,
    /// Those beyond the last that is read.
    more: usize,
}

/// All that is in a document.
pub(super) struct OperationList {
    pub(super) operations: Vec<Operation>,
    pub(super) skipped: Vec<SkippedOperation>,
    pub(super) notes: Vec<DocumentNote>,
}

/// What holds for all operations of a path: itself, and what it refers to.
struct PathItem<'d> {
    objects: Vec<&'d Map<String, Value>>,
}

pub(super) fn read<'d>(reading: &ParseContext<'d>, paths: &'d Map<String, Value>) -> OperationList {
    let mut operations = OperationReader {
        reading,
        names: OperationNames::default(),
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
        operations.skipped.push(SkippedOperation {
            operation: String::new(),
            reason: OperationError::TooManyOperations {
                count: operations.more,
                max: MAX_OPERATIONS,
            },
        });
    }
    OperationList {
        operations: operations.read,
        skipped: operations.skipped,
        notes: operations.notes.finish(),
    }
}

impl<'d> OperationReader<'_, 'd> {
    fn path(&mut self, path: &str, item: &'d Value) {
        let mut objects: Vec<&'d Map<String, Value>> = item.as_object().into_iter().collect();
        match self.reading.reader.references.follow(item) {
            Ok(Value::Object(target)) => {
                if !objects.iter().any(|own| std::ptr::eq(*own, target)) {
                    objects.push(target);
                }
            }
            // Nothing is there, and nothing is missing.
            Ok(Value::Null) => return,
            Ok(_) => {
                let error = OperationError::NotAnObject(pointer(&["paths", path]));
                return self.skip(path, error);
            }
            Err(error) => {
                self.skip(path, OperationPart::PathItem.unresolved(error));
            }
        }
        let item = PathItem { objects };
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

    fn operation(&mut self, method: &str, path: &str, item: &PathItem<'d>, operation: &'d Value) {
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
            Err(error) => self.skip(&format!("{shown} {path}"), error),
        }
    }

    fn read(
        &mut self,
        method: &str,
        path: &str,
        item: &PathItem<'d>,
        operation: &'d Value,
    ) -> Result<Operation, OperationError> {
        let reading = self.reading;
        let operation = reading.reader.references.follow(operation);
        let operation = operation.map_err(|error| OperationPart::Operation.unresolved(error))?;
        let Value::Object(operation) = operation else {
            let place = pointer(&["paths", path, &method.to_ascii_lowercase()]);
            return Err(OperationError::NotAnObject(place));
        };
        if path.len() > MAX_PATH_BYTES {
            return Err(OperationError::PathTooLong {
                max_bytes: MAX_PATH_BYTES,
            });
        }
        let http_method = Method::from_bytes(method.as_bytes());
        let http_method = http_method.map_err(|_| OperationError::InvalidMethod)?;

        let lists = [item.get("parameters"), operation.get("parameters")];
        let mut lists = parameters::read(reading, path, &lists)?;
        let dropped = std::mem::take(&mut lists.dropped);
        let body = body::read(reading, operation, &lists)?;
        let input = input::assemble(reading, lists.parameters, body);

        let text = |word| operation.get(word).and_then(Value::as_str).map(str::trim);
        let text = |word| text(word).filter(|text| !text.is_empty());
        let wish = text("operationId").map(|id| text::line(id, MAX_TITLE_CHARS));
        let wish = wish.unwrap_or_else(|| operation_name(method, path));
        let description = match text("description").or(text("summary")) {
            Some(text) => text::block(text, MAX_DESCRIPTION_CHARS),
            None => text::line(&format!("{method} {path}"), MAX_SHOWN_OPERATION_CHARS),
        };
        let shown = text::line(&format!("{method} {path}"), MAX_SHOWN_OPERATION_CHARS);
        for error in dropped {
            self.notes.lacks_parameter(&shown, error);
        }
        Ok(Operation {
            name: self.names.give(&wish),
            title: text("summary").map(|summary| text::line(summary, MAX_TITLE_CHARS)),
            description,
            input_schema: input.schema.into(),
            deprecated: operation.get("deprecated") == Some(&Value::Bool(true)),
            method: http_method,
            path: if path.starts_with('/') {
                path.to_owned()
            } else {
                format!("/{path}")
            },
            servers: self.servers(item, operation),
            parameters: input.parameters,
            headers: lists.headers,
            body: input.body,
            security: security::needs(operation.get("security"), reading.document.get("security")),
        })
    }

    fn servers(&self, item: &PathItem<'d>, operation: &Map<String, Value>) -> Vec<String> {
        let document = self.reading.document;
        match self.reading.version {
            SpecVersion::Swagger2 => servers::from_host(operation.get("schemes"), document),
            SpecVersion::Openapi30 | SpecVersion::Openapi31 => {
                let lists = [
                    operation.get("servers"),
                    item.get("servers"),
                    document.get("servers"),
                ];
                servers::servers(&lists).unwrap_or_else(|| vec!["/".into()])
            }
        }
    }

    fn skip(&mut self, operation: &str, error: OperationError) {
        if self.is_full() {
            self.more += 1;
            return;
        }
        self.skipped.push(SkippedOperation {
            operation: text::line(operation, MAX_SHOWN_OPERATION_CHARS),
            reason: error,
        });
    }

    fn is_full(&self) -> bool {
        self.read.len() + self.skipped.len() >= MAX_OPERATIONS
    }
}

impl<'d> PathItem<'d> {
    fn get(&self, word: &str) -> Option<&'d Value> {
        self.objects.iter().find_map(|object| object.get(word))
    }
}
