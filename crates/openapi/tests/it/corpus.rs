//! Every OpenAPI document inside the packages that `tests/setup` installs for this.
//!
//! Nobody here wrote them, and nobody wrote them for us. All schemas of what is read are
//! held against the meta-schema; of many, some are compiled as well. Usually a sample of the
//! documents is read, with `TORTURE_CORPUS` set all of them.

#![expect(clippy::print_stdout, reason = "the figures are worth seeing")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use tenon_openapi::operation::{Operation, ParsedDocument};
use tenon_openapi::{document, parse};

use crate::peer;

/// What has to be among them.
const NAMED: [&str; 4] = [
    "github.com/api.github.com.json",
    "stripe.com.json",
    "kubernetes.io.json",
    "twilio.com/",
];

/// In a document with more tools, about so many schemas are compiled: that takes a
/// hundred times as long as making them.
const COMPILED: usize = 20;

const METHODS: [&str; 9] = [
    "get", "put", "post", "delete", "options", "head", "patch", "trace", "query",
];

struct Row {
    document: String,
    bytes: usize,
    operations: usize,
    tools: usize,
    skipped: usize,
    compiled: usize,
    took: Duration,
    reasons: Vec<String>,
}

#[test]
fn documents_of_others_become_tools() {
    let files = documents();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut rows = Vec::new();
        while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            rows.extend(check(path));
        }
        rows
    };
    let mut rows = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        let rows = workers.map(|worker| worker.join().unwrap());
        rows.into_iter().flatten().collect::<Vec<Row>>()
    });
    rows.sort_by(|a, b| a.document.cmp(&b.document));
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let total = Row {
        document: format!("{} of {} files are documents", rows.len(), files.len()),
        bytes: sum(|row| row.bytes),
        operations: sum(|row| row.operations),
        tools: sum(|row| row.tools),
        skipped: sum(|row| row.skipped),
        compiled: sum(|row| row.compiled),
        took: rows.iter().map(|row| row.took).sum(),
        reasons: Vec::new(),
    };
    println!(
        "{:>9} {:>6} {:>6} {:>8} {:>8} {:>6}  document",
        "bytes", "opers.", "tools", "skipped", "compiled", "ms"
    );
    for row in rows.iter().chain([&total]) {
        println!(
            "{:>9} {:>6} {:>6} {:>8} {:>8} {:>6}  {}",
            row.bytes,
            row.operations,
            row.tools,
            row.skipped,
            row.compiled,
            row.took.as_millis(),
            row.document
        );
        for reason in &row.reasons {
            println!("{:>48}  {reason}", "");
        }
    }
    println!(
        "All schemas are held against the meta-schema. Of documents with more than {COMPILED} \
         tools every so many are compiled as well, all others all."
    );
    let least = if is_everything_read() {
        2_300
    } else {
        2_300 / SAMPLE_STEP
    };
    assert!(rows.len() > least, "only {} documents", rows.len());
    for name in NAMED {
        assert!(rows.iter().any(|row| row.document.contains(name)), "{name}");
    }
    assert!(
        total.tools * 1000 >= total.operations * 995,
        "too few tools"
    );
}

/// One of so many documents is in the sample. It is prime, so that no folder is left out for
/// the number of its files.
const SAMPLE_STEP: usize = 13;

fn is_sampled(number: usize, path: &Path) -> bool {
    let name = path.display().to_string();
    number.is_multiple_of(SAMPLE_STEP) || NAMED[..3].iter().any(|named| name.contains(named))
}

fn is_everything_read() -> bool {
    std::env::var_os("TORTURE_CORPUS").is_some()
}

fn documents() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for part in ["corpus/node_modules", "venv-corpus/lib"] {
        walk(&peer::installed(part), &mut files);
    }
    files.sort();
    if !is_everything_read() {
        let sample = files.into_iter().enumerate();
        let sample = sample.filter(|(number, path)| is_sampled(*number, path));
        files = sample.map(|(_, path)| path).collect();
    }
    // The long ones first, so that no worker is left alone with one.
    files.sort_by_key(|path| std::cmp::Reverse(path.metadata().map_or(0, |data| data.len())));
    files
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if kind.is_dir() {
            walk(&path, files);
        } else if kind.is_file() && ["json", "yaml", "yml"].contains(&extension.as_ref()) {
            files.push(path);
        }
    }
}

/// None: it is no OpenAPI document.
fn check(path: &Path) -> Option<Row> {
    let bytes = std::fs::read(path).unwrap();
    let started = Instant::now();
    // Some are broken for the tests of those who ship them.
    let value = document::read(&bytes).ok()?;
    let says = |word| value.get(word).is_some_and(|said| !said.is_object());
    let is_document = says("openapi") || says("swagger");
    if !is_document || !value.get("paths").is_some_and(Value::is_object) {
        return None;
    }
    let name = path.display().to_string();
    let name = name.rsplit("node_modules/").next().unwrap_or(&name);
    let name = name
        .rsplit("site-packages/")
        .next()
        .unwrap_or(name)
        .to_owned();
    let parsed = parse::parse(&value).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    let took = started.elapsed();

    check_names(&name, &parsed.operations);
    for operation in &parsed.operations {
        check_schema(&name, operation);
    }
    let step = parsed.operations.len().div_ceil(COMPILED).max(1);
    let compiled = parsed.operations.iter().step_by(step);
    let compiled = compiled.map(|operation| compile(&name, operation)).count();
    Some(Row {
        bytes: bytes.len(),
        operations: operations(&value),
        tools: parsed.operations.len(),
        skipped: parsed.skipped.len(),
        compiled,
        took,
        reasons: reasons(&parsed),
        document: name,
    })
}

/// As many as the document has, counted by hand.
fn operations(document: &Value) -> usize {
    let paths = document["paths"].as_object().unwrap();
    let items = paths.iter().filter(|(path, _)| !path.starts_with("x-"));
    items
        .map(|(_, item)| {
            let place = item.get("$ref").and_then(Value::as_str);
            let elsewhere = place.and_then(|place| document.pointer(place.strip_prefix('#')?));
            let count = |item: &Value| {
                let methods = item.as_object().into_iter().flatten();
                let methods = methods.filter(|(word, said)| {
                    METHODS.contains(&word.to_ascii_lowercase().as_str()) && !said.is_null()
                });
                methods.count()
            };
            match (place, elsewhere) {
                (Some(_), None) => count(item) + 1,
                (_, elsewhere) => count(item) + elsewhere.map_or(0, count),
            }
        })
        .sum()
}

fn check_names(document: &str, operations: &[Operation]) {
    let names: HashSet<&str> = operations.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names.len(), operations.len(), "{document}");
    assert!(!names.contains(""), "{document}");
}

fn check_schema(document: &str, operation: &Operation) {
    let schema = &operation.input_schema.value();
    let name = &operation.name;
    if let Err(error) = jsonschema::draft202012::meta::validate(schema) {
        panic!("{document}, {name}: {error}\n{schema:#}");
    }
    assert_eq!(schema["type"], "object", "{document}, {name}");
    let length = schema.to_string().len();
    assert!(length < 128 * 1024, "{document}, {name}: {length} bytes");
    for parameter in &operation.parameters {
        let field = &schema["properties"][&parameter.input];
        assert!(field.is_object(), "{document}, {name}: {parameter:?}");
    }
}

fn compile(document: &str, operation: &Operation) {
    let (schema, name) = (&operation.input_schema.value(), &operation.name);
    if let Err(error) = jsonschema::draft202012::new(schema) {
        panic!("{document}, {name}: {error}\n{schema:#}");
    }
}

fn reasons(parsed: &ParsedDocument) -> Vec<String> {
    let reasons = parsed.skipped.iter().take(5);
    reasons
        .map(|skipped| format!("{}: {}", skipped.operation, skipped.reason))
        .collect()
}
