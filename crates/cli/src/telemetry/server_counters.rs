//! What `/metrics` counts, for a receiver of OpenTelemetry. Names are those of Prometheus as its
//! exporters make them of ours: `tenon.tool_calls` there is `tenon_tool_calls_total`.

use opentelemetry::KeyValue;
use opentelemetry::metrics::{AsyncInstrument, Meter};
use tenon_server::metrics::{MetricFamily, MetricKind, SampleValue, ServerMetrics};

pub(super) fn observe(meter: &Meter, metrics: &ServerMetrics) {
    for family in metrics.families() {
        let name = otel_name(family.name);
        let metrics = metrics.clone();
        let observe = move |observer: &dyn AsyncInstrument<f64>| {
            let families = metrics.families();
            let of_name = families.iter().filter(|other| other.name == family.name);
            of_name.for_each(|family| observe_family(family, observer));
        };
        match family.kind {
            MetricKind::Counter => {
                let counter = meter.f64_observable_counter(name);
                let counter = counter.with_description(family.help);
                counter.with_callback(observe).build();
            }
            MetricKind::Gauge => {
                let gauge = meter.f64_observable_gauge(name);
                gauge
                    .with_description(family.help)
                    .with_callback(observe)
                    .build();
            }
            // How long calls take is measured on their spans.
            MetricKind::Histogram => {}
        }
    }
}

fn observe_family(family: &MetricFamily, observer: &dyn AsyncInstrument<f64>) {
    for sample in &family.samples {
        let labels = sample.labels.iter();
        let labels = labels.map(|(name, text)| KeyValue::new(*name, text.clone()));
        if let SampleValue::Number(number) = sample.value {
            observer.observe(number, &labels.collect::<Vec<_>>());
        }
    }
}

fn otel_name(name: &str) -> String {
    let name = name.strip_suffix("_total").unwrap_or(name);
    name.replacen('_', ".", 1)
}
