"""The OpenAPI document on stdin has to be valid by the schema and the rules of its version."""

import json
import sys

from openapi_spec_validator import validate

validate(json.load(sys.stdin))
print("valid")
