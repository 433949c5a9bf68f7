//! Log lines as JSON: one object a line, with the ids of the trace it belongs to.

use std::fmt;

use chrono::{SecondsFormat, Utc};
use opentelemetry::trace::TraceContextExt;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

pub(super) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = JsonFields::default();
        event.record(&mut fields);
        let metadata = event.metadata();
        let mut line = json!({
            "timestamp": Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true),
            "level": metadata.level().as_str(),
            "target": metadata.target(),
            "message": fields.message,
        });
        if !fields.others.is_empty() {
            line["fields"] = Value::Object(fields.others);
        }
        let context = opentelemetry::Context::current();
        let span = context.span();
        let ids = span.span_context();
        if ids.is_valid() {
            line["trace_id"] = ids.trace_id().to_string().into();
            line["span_id"] = ids.span_id().to_string().into();
        }
        writeln!(writer, "{line}")
    }
}

/// What an event says.
#[derive(Default)]
struct JsonFields {
    message: String,
    others: Map<String, Value>,
}

impl JsonFields {
    fn add(&mut self, field: &Field, value: impl Into<Value>) {
        self.others.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for JsonFields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.add(field, value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    /// What was written.
    #[derive(Debug, Clone, Default)]
    struct WrittenLines(Arc<Mutex<Vec<u8>>>);

    impl Write for WrittenLines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for WrittenLines {
        type Writer = Self;

        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    #[test]
    fn a_line_is_an_object_whatever_is_said() {
        let written = WrittenLines::default();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(written.clone())
            .event_format(JsonLines)
            .finish();
        let hostile = "a \"quote\"\nand a \u{1b}[31mline";
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(count = 3, is_new = true, name = hostile, "{hostile}");
        });
        let written = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        assert_eq!(written.lines().count(), 1, "{written}");
        let mut line: Value = serde_json::from_str(&written).unwrap();
        let at = line["timestamp"].take();
        assert!(at.as_str().unwrap().ends_with('Z'), "{at}");
        let expected = json!({
            "timestamp": null,
            "level": "INFO",
            "target": module_path!(),
            "message": hostile,
            "fields": {"count": 3, "is_new": true, "name": hostile},
        });
        assert_eq!(line, expected);
    }
}
