//! The documents of one server, parsed: one, or those of all servers behind an mcpo.
//!
//! What comes new is merged into what is there: a document that came as it was
//! is not parsed again, and one that could not be read stays as it last was.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use tenon_domain::{CodedError, ErrorDetail};
use tenon_openapi::bundle;
use tenon_openapi::document;
use tenon_openapi::note::DocumentNote;
use tenon_openapi::operation::{Operation, ParsedDocument, SecurityScheme, SkippedOperation};
use url::Url;

use crate::openapi::OpenapiError;
use crate::openapi::description;
use crate::openapi::document_store::DocumentRecord;
use crate::openapi::fetch::{
    CacheValidators, CachedDocument, ContentFingerprint, DocumentBody, DocumentState,
    FetchedDocument, FetchedDocuments, FetchedSubDocument,
};
use crate::tool_note::ToolNote;

/// Never changed: the next one is made of it.
#[derive(Debug, Clone)]
pub(super) struct DocumentSet {
    pub(super) main: OpenapiDocument,
    /// Documents of the servers behind an mcpo; the main document only lists them.
    pub(super) subs: Option<Vec<OpenapiDocument>>,
}

/// One document.
#[derive(Debug, Clone)]
pub(super) struct OpenapiDocument {
    /// Empty for the main one.
    pub(super) name: String,
    /// None: somebody gave it.
    pub(super) url: Option<Url>,
    pub(super) fingerprint: ContentFingerprint,
    validators: CacheValidators,
    pub(super) content: Arc<DocumentContent>,
}

/// The parsed content of a document. Tools of the servers behind an mcpo are named "server/tool"
/// here.
#[derive(Debug, Default)]
pub(super) struct DocumentContent {
    pub(super) title: String,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) operations: Vec<Arc<Operation>>,
    pub(super) skipped: Vec<SkippedOperation>,
    /// Parts of operations that could not be read.
    pub(super) notes: Vec<DocumentNote>,
    /// Whether the document was bundled from several files.
    pub(super) has_files: bool,
    pub(super) schemes: Arc<Vec<SecurityScheme>>,
}

/// The result of loading or fetching documents.
#[derive(Debug)]
pub(super) struct DocumentUpdate {
    pub(super) set: DocumentSet,
    /// Problems to show to the owner.
    pub(super) problems: Vec<ErrorDetail>,
    /// Documents to write to the store, and the names of all that stay there.
    pub(super) to_store: Vec<DocumentRecord>,
    pub(super) names: Vec<String>,
}

impl DocumentSet {
    /// Parses stored documents. CPU-bound: call it on a blocking thread.
    pub(super) fn load(stored: Vec<DocumentRecord>) -> Result<DocumentUpdate, OpenapiError> {
        let (main, subs): (Vec<DocumentRecord>, Vec<DocumentRecord>) =
            stored.into_iter().partition(|one| one.name.is_empty());
        let main = main.into_iter().next().ok_or(OpenapiError::NotStored)?;
        let (main, is_list) = OpenapiDocument::from_stored(main)?;
        let mut problems = Vec::new();
        let mut documents = Vec::new();
        for kept in subs.into_iter().filter(|_| is_list) {
            let name = kept.name.clone();
            match OpenapiDocument::from_stored(kept) {
                Ok((document, _)) => documents.push(document),
                Err(why) => problems.push(ToolNote::of_server(&name, why.detail())),
            }
        }
        let set = Self {
            main,
            subs: is_list.then_some(documents),
        };
        Ok(DocumentUpdate {
            names: set.names(),
            set,
            problems,
            to_store: Vec::new(),
        })
    }

    /// The same, unless it is what there was before.
    pub(super) fn reload(
        before: Option<&Self>,
        stored: Vec<DocumentRecord>,
    ) -> Result<DocumentUpdate, OpenapiError> {
        let main = stored.iter().find(|one| one.name.is_empty());
        let fingerprint = main.map(|main| ContentFingerprint::of(&main.body));
        match before.filter(|before| Some(before.main.fingerprint) == fingerprint) {
            None => Self::load(stored),
            Some(before) => Ok(DocumentUpdate {
                set: before.clone(),
                problems: Vec::new(),
                to_store: Vec::new(),
                names: before.names(),
            }),
        }
    }

    /// The fetched documents, with what was there before where it has nothing better. Takes its time.
    pub(super) fn merge(
        before: Option<&Self>,
        fetched: FetchedDocuments,
    ) -> Result<DocumentUpdate, OpenapiError> {
        let mut to_store = Vec::new();
        let mut problems = Vec::new();
        let main = before.map(|set| &set.main);
        let main = OpenapiDocument::from_fetched("", fetched.main, main, &mut to_store)?;
        let subs = match fetched.subs {
            Some(subs) => Some(merge_subs(before, subs, &mut to_store, &mut problems)?),
            None => None,
        };
        if subs.as_ref().is_some_and(Vec::is_empty) {
            problems.push(ToolNote::NoOperationsOrServers.into());
        }
        let set = Self { main, subs };
        Ok(DocumentUpdate {
            names: set.names(),
            set,
            problems,
            to_store,
        })
    }

    /// The documents that describe operations.
    pub(super) fn documents(&self) -> &[OpenapiDocument] {
        match &self.subs {
            Some(subs) => subs,
            None => std::slice::from_ref(&self.main),
        }
    }

    /// Notes about parts of operations that could not be read.
    pub(super) fn notes(&self) -> Vec<ErrorDetail> {
        let documents = self.documents().iter();
        let notes = documents.flat_map(|document| {
            let own = document.content.notes.iter();
            own.map(|note| ToolNote::of_server(&document.name, ToolNote::of_document(note).into()))
        });
        notes.collect()
    }

    /// Validators for conditional requests. The index of an mcpo is small and is always fetched,
    /// because its links are followed.
    pub(super) fn cached(&self) -> Vec<CachedDocument> {
        self.documents()
            .iter()
            .filter_map(OpenapiDocument::cached)
            .collect()
    }

    /// The same as if none of it were kept: whatever comes is new.
    pub(super) fn without_fingerprints(&self) -> Self {
        let mut set = self.clone();
        let subs = set.subs.iter_mut().flatten();
        for document in std::iter::once(&mut set.main).chain(subs) {
            document.fingerprint = ContentFingerprint::default();
        }
        set
    }

    pub(super) fn names(&self) -> Vec<String> {
        let subs = self.subs.iter().flatten();
        let all = std::iter::once(&self.main).chain(subs);
        all.map(|document| document.name.clone()).collect()
    }
}

/// How many problems are listed if all servers fail.
const MAX_TOLD_PROBLEMS: usize = 3;

fn merge_subs(
    before: Option<&DocumentSet>,
    subs: Vec<FetchedSubDocument>,
    to_store: &mut Vec<DocumentRecord>,
    problems: &mut Vec<ErrorDetail>,
) -> Result<Vec<OpenapiDocument>, OpenapiError> {
    let before = before.and_then(|set| set.subs.as_deref());
    let count = subs.len();
    let mut failed = 0;
    let mut documents = Vec::new();
    for FetchedSubDocument { name, found } in subs {
        let old = before
            .into_iter()
            .flatten()
            .find(|document| document.name == name);
        let document = found
            .map_err(OpenapiError::from)
            .and_then(|found| OpenapiDocument::from_fetched(&name, found, old, to_store));
        match (document, old) {
            (Ok(document), _) => {
                let content = &document.content;
                if content.operations.is_empty() && content.skipped.is_empty() {
                    // This is how mcpo shows a server that failed to start.
                    let why = ToolNote::ServerWithoutTools.into();
                    problems.push(ToolNote::of_server(&name, why));
                }
                documents.push(document);
            }
            (Err(why), Some(old)) => {
                failed += 1;
                let stale = ToolNote::OfServerStale {
                    server: name.into(),
                    why: why.detail().into(),
                };
                problems.push(stale.into());
                documents.push(old.clone());
            }
            (Err(why), None) => {
                failed += 1;
                problems.push(ToolNote::of_server(&name, why.detail()));
            }
        }
    }
    if count > 0 && failed == count {
        problems.truncate(MAX_TOLD_PROBLEMS);
        let problems = std::mem::take(problems);
        return Err(OpenapiError::NoSubDocument { count, problems });
    }
    Ok(documents)
}

impl OpenapiDocument {
    fn from_stored(kept: DocumentRecord) -> Result<(Self, bool), OpenapiError> {
        let document = document::read(&kept.body)?;
        let is_list = kept.name.is_empty() && !description::has_tools(&document);
        let content = DocumentContent::of(&kept.name, &document)?;
        let document = Self {
            name: kept.name,
            url: Url::parse(&kept.url).ok(),
            fingerprint: ContentFingerprint::of(&kept.body),
            validators: CacheValidators {
                etag: kept.etag,
                last_modified: kept.last_modified,
            },
            content: Arc::new(content),
        };
        Ok((document, is_list))
    }

    fn from_fetched(
        name: &str,
        found: FetchedDocument,
        before: Option<&Self>,
        to_store: &mut Vec<DocumentRecord>,
    ) -> Result<Self, OpenapiError> {
        let FetchedDocument { url, state } = found;
        let body = match (state, before) {
            (DocumentState::Modified(body), _) => *body,
            (DocumentState::Unmodified { validators, bytes }, Some(before)) => {
                let document = Self {
                    url: Some(url),
                    validators,
                    ..before.clone()
                };
                to_store.extend(bytes.map(|bytes| document.stored(bytes)));
                return Ok(document);
            }
            // Unreachable: conditional requests are only sent for documents we have.
            (DocumentState::Unmodified { .. }, None) => return Err(OpenapiError::NotSent),
        };
        let fingerprint = ContentFingerprint::of(&body.bytes);
        let DocumentBody {
            bytes,
            document,
            validators,
        } = body;
        let is_same =
            |before: &&Self| before.fingerprint == fingerprint && before.url.as_ref() == Some(&url);
        let same = before.filter(is_same);
        // A list is never asked for by its validators: what says the same is kept already.
        let is_kept = same.is_some();
        let content = match same {
            Some(before) => before.content.clone(),
            None => {
                let document = match document {
                    Some(document) => document,
                    None => document::read(&bytes)?,
                };
                Arc::new(DocumentContent::of(name, &document)?)
            }
        };
        let document = Self {
            name: name.to_owned(),
            url: Some(url),
            fingerprint,
            validators,
            content,
        };
        if !is_kept {
            to_store.push(document.stored(bytes));
        }
        Ok(document)
    }

    /// The record to store, with the bytes just received.
    fn stored(&self, body: Vec<u8>) -> DocumentRecord {
        let CacheValidators {
            etag,
            last_modified,
        } = self.validators.clone();
        DocumentRecord {
            name: self.name.clone(),
            url: self.url.as_ref().map(Url::to_string).unwrap_or_default(),
            body,
            etag,
            last_modified,
            fetched_at: SystemTime::now(),
        }
    }

    fn cached(&self) -> Option<CachedDocument> {
        Some(CachedDocument {
            name: self.name.clone(),
            url: self.url.clone()?,
            validators: self.validators.clone(),
            fingerprint: self.fingerprint,
            has_files: self.content.has_files,
        })
    }
}

impl DocumentContent {
    fn of(name: &str, document: &Value) -> Result<Self, OpenapiError> {
        let parsed = description::parse(document)?;
        let ParsedDocument {
            title,
            version,
            description,
            operations,
            skipped,
            notes,
            schemes,
        } = parsed;
        let operations = operations.into_iter().map(|mut operation| {
            if !name.is_empty() {
                let title = operation.title.as_deref().unwrap_or(&operation.name);
                operation.title = Some(format!("{name}/{title}"));
                operation.name = format!("{name}/{}", operation.name);
            }
            Arc::new(operation)
        });
        Ok(Self {
            title,
            version,
            description,
            operations: operations.collect(),
            skipped,
            notes,
            has_files: bundle::has_files(document),
            schemes: Arc::new(schemes),
        })
    }
}
