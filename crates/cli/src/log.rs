//! The log on standard error, for people or as JSON, and the layers of telemetry beside it.

mod json;

use std::io::IsTerminal;

use tenon_app::config::LogFormat;
use tracing_subscriber::filter::{FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt};

use json::JsonLines;

/// One of several that see spans and events; each has its own filter.
pub type LogLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// Starts the log. `level` is that of the command, unless `TENON_LOG` says otherwise.
pub fn start(level: &str, format: LogFormat, layers: Vec<LogLayer>) {
    let quiet =
        format!("{level},sqlx=warn,sea_orm=warn,sea_orm_migration=warn,hyper=warn,reqwest=warn");
    let filter = EnvFilter::try_from_env("TENON_LOG").unwrap_or_else(|_| EnvFilter::new(quiet));
    if format == LogFormat::Json {
        std::panic::set_hook(Box::new(log_panic));
    }
    subscriber(filter, format, layers).init();
}

fn subscriber(
    filter: EnvFilter,
    format: LogFormat,
    mut layers: Vec<LogLayer>,
) -> impl SubscriberInitExt {
    // Spans are for traces: lines do not repeat where they are. Where nobody follows traces, no
    // span is enabled then, and none costs anything.
    let events = filter_fn(|metadata| metadata.is_event());
    let filter = filter.and(events.with_max_level_hint(LevelFilter::TRACE));
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines: LogLayer = match format {
        LogFormat::Text => {
            let is_terminal = std::io::stderr().is_terminal();
            lines.with_ansi(is_terminal).with_filter(filter).boxed()
        }
        LogFormat::Json => lines.event_format(JsonLines).with_filter(filter).boxed(),
    };
    layers.push(lines);
    tracing_subscriber::registry().with(layers)
}

/// Whoever reads JSON cannot read what Rust prints.
fn log_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let location = panic.location().map(ToString::to_string);
    let message = panic.payload_as_str().unwrap_or("no message");
    tracing::error!(location, panic = message, "a thread panicked");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_span_is_made_where_nobody_follows_traces() {
        for format in [LogFormat::Text, LogFormat::Json] {
            let subscriber = subscriber(EnvFilter::new("trace"), format, Vec::new());
            let _default = subscriber.set_default();
            assert!(tracing::event_enabled!(tracing::Level::TRACE));
            assert!(tracing::info_span!("turn").is_disabled());
            assert!(!tracing::span_enabled!(target: "tenon_content", tracing::Level::INFO));
        }
    }
}
