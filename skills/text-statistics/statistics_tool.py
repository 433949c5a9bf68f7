"""Figures of a text: the arguments are JSON on standard input, the result is JSON."""

import collections
import json
import re
import sys

HAN = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
WORD = rf"{HAN}|[^\W_]+(?:['’-][^\W_]+)*"


def words(text):
    # A run of letters ends where a Chinese character begins.
    spaced = re.sub(f"({HAN})", r" \1 ", text)
    return re.findall(WORD, spaced)


def count(text):
    sentences = [one for one in re.split(r"[.!?。！？]+", text) if one.strip()]
    return {
        "characters": len(text),
        "words": len(words(text)),
        "chineseCharacters": len(re.findall(HAN, text)),
        "sentences": len(sentences),
        "lines": len(text.splitlines()),
    }


def frequent(text, limit=10):
    counted = collections.Counter(word.lower() for word in words(text))
    return [{"word": word, "count": number} for word, number in counted.most_common(limit)]


if __name__ == "__main__":
    arguments = json.load(sys.stdin)
    run = {"count": count, "frequent": frequent}[sys.argv[1]]
    print(json.dumps(run(**arguments), ensure_ascii=False))
