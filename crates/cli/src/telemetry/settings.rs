//! Whether and where telemetry is sent: OpenTelemetry's own variables, and the settings file below them.

use std::time::Duration;

use tenon_app::config::TelemetryConfig;

/// Where the standard says nothing else.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetrySettings {
    pub(super) traces: bool,
    pub(super) metrics: bool,
    /// Messages, inputs and results are sent as well.
    pub(super) content: bool,
    pub(super) timeout: Duration,
    /// Of the settings file. The exporters read the variables themselves.
    base_url: Option<String>,
}

impl TelemetrySettings {
    pub fn new(config: &TelemetryConfig) -> Self {
        Self::read(config, |name| std::env::var(name).ok())
    }

    /// For commands that are over in a moment.
    pub fn off() -> Self {
        let disabled = |name: &str| (name == "OTEL_SDK_DISABLED").then(|| "true".to_owned());
        Self::read(&TelemetryConfig::default(), disabled)
    }

    fn read(config: &TelemetryConfig, variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &str| {
            let value = variable(name)?.trim().to_owned();
            Some(value).filter(|value| !value.is_empty())
        };
        let is_true = |name| variable(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let is_disabled = is_true("OTEL_SDK_DISABLED");
        let common = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
        let base_url = config.endpoint.clone().filter(|_| common.is_none());
        let is_on = |endpoint: &str, exporter: &str| {
            let has_endpoint =
                common.is_some() || base_url.is_some() || variable(endpoint).is_some();
            let is_wanted = variable(exporter).is_none_or(|exporter| exporter == "otlp");
            has_endpoint && is_wanted && !is_disabled
        };
        let millis = variable("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|text| text.parse().ok());
        Self {
            traces: is_on("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER"),
            metrics: is_on(
                "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
                "OTEL_METRICS_EXPORTER",
            ),
            content: match variable("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT") {
                Some(captures) => captures.eq_ignore_ascii_case("true"),
                None => config.content,
            },
            timeout: millis.map_or(EXPORT_TIMEOUT, Duration::from_millis),
            base_url,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.traces || self.metrics
    }

    /// Where one of both goes, unless a variable says so.
    pub(super) fn endpoint(&self, path: &str) -> Option<String> {
        let variable = match path {
            "v1/traces" => "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            _ => "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
        };
        let base_url = self.base_url.as_deref()?.trim_end_matches('/');
        std::env::var_os(variable)
            .is_none()
            .then(|| format!("{base_url}/{path}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_unless_somebody_says_where() {
        let check = |variables: &[(&str, &str)], endpoint: Option<&str>, expected: (bool, bool)| {
            let config = TelemetryConfig {
                endpoint: endpoint.map(str::to_owned),
                content: false,
            };
            let settings = TelemetrySettings::read(&config, |name| {
                let found = variables.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| (*value).to_owned())
            });
            let found = (settings.traces, settings.metrics);
            assert_eq!(found, expected, "{variables:?} {endpoint:?}");
        };
        let here = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        check(&[], None, (false, false));
        check(&[], Some("http://127.0.0.1:4318"), (true, true));
        check(&[here], None, (true, true));
        check(
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")],
            None,
            (false, false),
        );
        check(&[here, ("OTEL_SDK_DISABLED", "TRUE")], None, (false, false));
        check(
            &[here, ("OTEL_TRACES_EXPORTER", "none")],
            None,
            (false, true),
        );
        check(
            &[here, ("OTEL_METRICS_EXPORTER", "none")],
            None,
            (true, false),
        );
        let traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:1/x");
        check(&[traces], None, (true, false));
    }

    #[test]
    fn the_base_url_of_the_file_gets_the_paths_of_the_standard() {
        let config = TelemetryConfig {
            endpoint: Some("http://127.0.0.1:4318/".into()),
            content: true,
        };
        let settings = TelemetrySettings::read(&config, |_| None);
        assert!(settings.content);
        let traces = settings.endpoint("v1/traces");
        assert_eq!(traces.as_deref(), Some("http://127.0.0.1:4318/v1/traces"));
    }
}
