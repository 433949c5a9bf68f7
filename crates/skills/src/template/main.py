"""Reads the arguments as JSON from standard input and writes the result to standard output.

What is written to standard error is shown as progress while the tool runs.
"""

import json
import sys

arguments = json.load(sys.stdin)
words = arguments["text"].split()
print(json.dumps({"words": len(words)}))
