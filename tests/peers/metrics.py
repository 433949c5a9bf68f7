"""Prometheus' own parser: an exposition on stdin, its samples as JSON on stdout."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

samples = {}
for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        labels = ",".join(f"{name}={value}" for name, value in sample.labels.items())
        name = f"{sample.name}{{{labels}}}"
        assert name not in samples, name
        samples[name] = sample.value
json.dump(samples, sys.stdout)
