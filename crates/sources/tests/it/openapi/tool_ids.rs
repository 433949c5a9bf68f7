//! Every operation of large documents gets a tool id of its own.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use tenon_domain::{SourceId, SourceInfo, SourceKind, tool_id};
use tenon_openapi::{document, parse};
use tenon_tools::{MemoryToolIdStore, ToolIdStore};

use crate::peer;

/// They have thousands of operations, and names of every kind.
const DOCUMENTS: [&str; 4] = [
    "github.com/api.github.com.json",
    "stripe.com.json",
    "kubernetes.io.json",
    "twilio.com/",
];

#[tokio::test]
async fn operations_of_large_documents_have_unique_tool_ids() {
    let mut files = Vec::new();
    find(&peer::installed("corpus/node_modules"), &mut files);
    for name in DOCUMENTS {
        let is_named = |path: &&PathBuf| path.display().to_string().contains(name);
        let path = files.iter().find(is_named);
        check(path.unwrap_or_else(|| panic!("{name} is not installed"))).await;
    }
}

async fn check(path: &Path) {
    let value = document::read(&std::fs::read(path).unwrap()).unwrap();
    let parsed = parse::parse(&value).unwrap();
    let source = SourceInfo {
        id: SourceId::new(path.display().to_string()),
        kind: SourceKind::Openapi,
        name: "corpus".into(),
        title: "Corpus".into(),
        owner: None,
    };
    let names = parsed.operations.iter();
    let names: Vec<&str> = names.map(|operation| operation.name.as_str()).collect();
    let ids = MemoryToolIdStore::default()
        .ids(&source, &names)
        .await
        .unwrap();
    let is_valid = ids.iter().all(|id| tool_id::is_valid(id.as_str()));
    assert!(is_valid, "{}", path.display());
    let unique: HashSet<_> = ids.iter().collect();
    assert_eq!(unique.len(), parsed.operations.len(), "{}", path.display());
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            find(&path, files);
        } else if kind.is_file() && path.extension().is_some_and(|end| end == "json") {
            files.push(path);
        }
    }
}
