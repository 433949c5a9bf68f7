//! Whether and where telemetry is sent: OpenTelemetry's own variables, and the settings file below
//! them.

use std::time::Duration;

use tenon_app::config::TelemetryConfig;

/// Where the standard says nothing else.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// The URL they are sent to, if they are.
    pub(super) traces: Option<String>,
    pub(super) metrics: Option<String>,
    /// Messages, inputs and results are sent as well.
    pub(super) content: bool,
    pub(super) timeout: Duration,
    /// What a variable asks for and cannot have: there is OTLP over HTTP as protobuf alone.
    pub unsupported_protocol: Option<String>,
}

impl TelemetrySettings {
    pub fn new(config: &TelemetryConfig) -> Self {
        Self::read(config, |name| std::env::var(name).ok())
    }

    /// For commands that are over in a moment.
    pub fn off() -> Self {
        Self::read(&TelemetryConfig::default(), |_| None)
    }

    fn read(config: &TelemetryConfig, variable: impl Fn(&str) -> Option<String>) -> Self {
        // For the standard, an empty one is not set.
        let variable = |name: &str| {
            let value = variable(name)?.trim().to_owned();
            Some(value).filter(|value| !value.is_empty())
        };
        let is_true = |value: &String| value.eq_ignore_ascii_case("true");
        let is_disabled = variable("OTEL_SDK_DISABLED").is_some_and(|value| is_true(&value));
        let of_file = config.endpoint.clone().filter(|url| !url.is_empty());
        let base_url = variable("OTEL_EXPORTER_OTLP_ENDPOINT").or(of_file);
        let url = |endpoint: &str, exporter: &str, path: &str| {
            if is_disabled || variable(exporter).is_some_and(|exporter| exporter != "otlp") {
                return None;
            }
            let base_url = base_url.as_deref().map(|url| url.trim_end_matches('/'));
            variable(endpoint).or_else(|| Some(format!("{}/{path}", base_url?)))
        };
        let content = variable("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT");
        let millis = variable("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|text| text.parse().ok());
        let protocol = variable("OTEL_EXPORTER_OTLP_PROTOCOL");
        Self {
            traces: url(
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                "OTEL_TRACES_EXPORTER",
                "v1/traces",
            ),
            metrics: url(
                "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
                "OTEL_METRICS_EXPORTER",
                "v1/metrics",
            ),
            content: content.map_or(config.content, |content| is_true(&content)),
            timeout: millis.map_or(EXPORT_TIMEOUT, Duration::from_millis),
            unsupported_protocol: protocol.filter(|protocol| protocol != "http/protobuf"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        variables: &[(&str, &str)],
        endpoint: Option<&str>,
        content: bool,
    ) -> TelemetrySettings {
        let config = TelemetryConfig {
            endpoint: endpoint.map(str::to_owned),
            content,
        };
        TelemetrySettings::read(&config, |name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_is_sent_unless_somebody_says_where() {
        let check = |variables: &[(&str, &str)], endpoint, expected: (&str, &str)| {
            let settings = read(variables, endpoint, false);
            let url = |url: Option<String>| url.unwrap_or_default();
            let found = (url(settings.traces), url(settings.metrics));
            let found = (&*found.0, &*found.1);
            assert_eq!(found, expected, "{variables:?} {endpoint:?}");
        };
        const COMMON: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
        const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        let (here, file) = ((COMMON, "http://a:1"), Some("http://file:1/base/"));
        let both = ("http://a:1/v1/traces", "http://a:1/v1/metrics");
        let both_of_file = (
            "http://file:1/base/v1/traces",
            "http://file:1/base/v1/metrics",
        );
        check(&[], None, ("", ""));
        check(&[], Some(""), ("", ""));
        check(&[], file, both_of_file);
        check(&[here], None, both);
        check(&[here], file, both);
        check(&[(COMMON, " ")], None, ("", ""));
        check(&[(COMMON, ""), (TRACES, "")], file, both_of_file);
        check(&[(TRACES, "http://b:1/x")], None, ("http://b:1/x", ""));
        check(
            &[here, (TRACES, "http://b:1/x")],
            None,
            ("http://b:1/x", both.1),
        );
        check(&[here, ("OTEL_SDK_DISABLED", "TRUE")], None, ("", ""));
        check(
            &[here, ("OTEL_TRACES_EXPORTER", "none")],
            None,
            ("", both.1),
        );
        check(
            &[here, ("OTEL_METRICS_EXPORTER", "none")],
            None,
            (both.0, ""),
        );
        check(&[here, ("OTEL_TRACES_EXPORTER", "otlp")], None, both);
    }

    #[test]
    fn content_is_sent_only_where_the_operator_says_so() {
        const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
        assert!(!read(&[], None, false).content);
        assert!(read(&[], None, true).content);
        assert!(read(&[(CONTENT, "True")], None, false).content);
        assert!(!read(&[(CONTENT, "false")], None, true).content);
    }

    #[test]
    fn what_a_variable_cannot_have_is_known() {
        const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let settings = read(variables, None, false);
            assert_eq!(settings.unsupported_protocol.as_deref(), expected);
        };
        check(&[], None);
        check(&[(PROTOCOL, "http/protobuf")], None);
        check(&[(PROTOCOL, "grpc")], Some("grpc"));
    }
}
