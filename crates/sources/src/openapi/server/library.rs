//! The documents of one server, parsed: one, or those of all servers behind an mcpo.
//!
//! What comes new is merged into what is there: a document that came as it was
//! is not parsed again, and one that could not be read stays as it last was.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use url::Url;

use super::settings::Kept;
use crate::openapi::bundle;
use crate::openapi::discover;
use crate::openapi::document;
use crate::openapi::fetch::{Body, Found, FoundSub, Known, News, Print, Reading, Validators};
use crate::openapi::operation::{Operation, Parsed, Scheme, Skipped};
use crate::openapi::parse;

/// Never changed: the next one is made of it.
#[derive(Debug, Clone)]
pub(super) struct Library {
    pub(super) main: Volume,
    /// Of the servers behind an mcpo; the main document only lists them.
    pub(super) subs: Option<Vec<Volume>>,
}

/// One document.
#[derive(Debug, Clone)]
pub(super) struct Volume {
    /// Empty for the main one.
    pub(super) name: String,
    /// None: somebody gave it.
    pub(super) url: Option<Url>,
    pub(super) print: Print,
    validators: Validators,
    pub(super) content: Arc<Content>,
}

/// What a document says. The tools of an mcpo's servers are named "server/tool" here.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) title: String,
    pub(super) version: String,
    pub(super) description: String,
    pub(super) operations: Vec<Arc<Operation>>,
    pub(super) skipped: Vec<Skipped>,
    /// Sentences about what its tools go without.
    pub(super) notes: Vec<String>,
    /// It was made of several files.
    pub(super) has_files: bool,
    pub(super) schemes: Arc<Vec<Scheme>>,
}

/// What became of a reading.
#[derive(Debug)]
pub(super) struct Merged {
    pub(super) library: Library,
    /// Sentences about what is not as it should be.
    pub(super) problems: Vec<String>,
    /// What is to be kept, and the names of all that is.
    pub(super) keep: Vec<Kept>,
    pub(super) names: Vec<String>,
}

impl Library {
    /// Of what was kept. Takes its time: not for a thread that others wait for.
    pub(super) fn load(kept: Vec<Kept>) -> Result<Merged, String> {
        let (main, subs): (Vec<Kept>, Vec<Kept>) =
            kept.into_iter().partition(|kept| kept.name.is_empty());
        let main = main
            .into_iter()
            .next()
            .ok_or("The document is not kept any more: give it again.")?;
        let (main, is_list) = Volume::of_kept(main)?;
        let mut problems = Vec::new();
        let mut volumes = Vec::new();
        for kept in subs.into_iter().filter(|_| is_list) {
            let name = kept.name.clone();
            match Volume::of_kept(kept) {
                Ok((volume, _)) => volumes.push(volume),
                Err(why) => problems.push(format!("{name}: {why}")),
            }
        }
        let library = Self {
            main,
            subs: is_list.then_some(volumes),
        };
        Ok(Merged {
            names: library.names(),
            library,
            problems,
            keep: Vec::new(),
        })
    }

    /// The same, unless it is what there was before.
    pub(super) fn reload(before: Option<&Self>, kept: Vec<Kept>) -> Result<Merged, String> {
        let main = kept.iter().find(|kept| kept.name.is_empty());
        let print = main.map(|main| Print::of(&main.body));
        match before.filter(|before| Some(before.main.print) == print) {
            None => Self::load(kept),
            Some(before) => Ok(Merged {
                library: before.clone(),
                problems: Vec::new(),
                keep: Vec::new(),
                names: before.names(),
            }),
        }
    }

    /// This reading, with what was there before where it has nothing better. Takes its time.
    pub(super) fn merge(before: Option<&Self>, reading: Reading) -> Result<Merged, String> {
        let mut keep = Vec::new();
        let mut problems = Vec::new();
        let main = before.map(|library| &library.main);
        let main = Volume::of_found("", reading.main, main, &mut keep)?;
        let subs = match reading.subs {
            Some(subs) => Some(merge_subs(before, subs, &mut keep, &mut problems)?),
            None => None,
        };
        if subs.as_ref().is_some_and(Vec::is_empty) {
            problems.push("Its document describes no operations and names no servers.".into());
        }
        let library = Self { main, subs };
        Ok(Merged {
            names: library.names(),
            library,
            problems,
            keep,
        })
    }

    /// Those with operations.
    pub(super) fn volumes(&self) -> &[Volume] {
        match &self.subs {
            Some(subs) => subs,
            None => std::slice::from_ref(&self.main),
        }
    }

    /// What tools go without, as sentences.
    pub(super) fn notes(&self) -> Vec<String> {
        let volumes = self.volumes().iter();
        let notes = volumes.flat_map(|volume| {
            let own = volume.content.notes.iter();
            own.map(|note| match volume.name.as_str() {
                "" => note.clone(),
                name => format!("{name}: {note}"),
            })
        });
        notes.collect()
    }

    /// What need not be sent again. A list is small, and has to be followed every time.
    pub(super) fn known(&self) -> Vec<Known> {
        self.volumes().iter().filter_map(Volume::known).collect()
    }

    /// The same as if none of it were kept: whatever comes is new.
    pub(super) fn unkept(&self) -> Self {
        let mut library = self.clone();
        let subs = library.subs.iter_mut().flatten();
        for volume in std::iter::once(&mut library.main).chain(subs) {
            volume.print = Print::default();
        }
        library
    }

    pub(super) fn names(&self) -> Vec<String> {
        let subs = self.subs.iter().flatten();
        let all = std::iter::once(&self.main).chain(subs);
        all.map(|volume| volume.name.clone()).collect()
    }
}

fn merge_subs(
    before: Option<&Library>,
    subs: Vec<FoundSub>,
    keep: &mut Vec<Kept>,
    problems: &mut Vec<String>,
) -> Result<Vec<Volume>, String> {
    let before = before.and_then(|library| library.subs.as_deref());
    let count = subs.len();
    let mut failed = 0;
    let mut volumes = Vec::new();
    for FoundSub { name, found } in subs {
        let old = before
            .into_iter()
            .flatten()
            .find(|volume| volume.name == name);
        let volume = found.and_then(|found| Volume::of_found(&name, found, old, keep));
        match (volume, old) {
            (Ok(volume), _) => {
                let content = &volume.content;
                if content.operations.is_empty() && content.skipped.is_empty() {
                    // So an mcpo shows one that did not come up.
                    problems.push(format!("{name}: It has no tools. It may not be running."));
                }
                volumes.push(volume);
            }
            (Err(why), Some(old)) => {
                failed += 1;
                problems.push(format!("{name}: {why} What it offered last is listed."));
                volumes.push(old.clone());
            }
            (Err(why), None) => {
                failed += 1;
                problems.push(format!("{name}: {why}"));
            }
        }
    }
    if count > 0 && failed == count {
        let shown = &problems[..problems.len().min(3)];
        return Err(format!(
            "None of the {count} servers behind it could be read. {}",
            shown.join(" ")
        ));
    }
    Ok(volumes)
}

impl Volume {
    fn of_kept(kept: Kept) -> Result<(Self, bool), String> {
        let document = document::read(&kept.body).map_err(|wrong| wrong.to_string())?;
        let is_list = kept.name.is_empty() && !discover::has_paths(&document);
        let content = Content::of(&kept.name, &document)?;
        let volume = Self {
            name: kept.name,
            url: Url::parse(&kept.url).ok(),
            print: Print::of(&kept.body),
            validators: Validators {
                etag: kept.etag,
                last_modified: kept.last_modified,
            },
            content: Arc::new(content),
        };
        Ok((volume, is_list))
    }

    fn of_found(
        name: &str,
        found: Found,
        before: Option<&Self>,
        keep: &mut Vec<Kept>,
    ) -> Result<Self, String> {
        let Found { url, news } = found;
        let body = match (news, before) {
            (News::New(body), _) => *body,
            (News::Same { validators, bytes }, Some(before)) => {
                let volume = Self {
                    url: Some(url),
                    validators,
                    ..before.clone()
                };
                keep.extend(bytes.map(|bytes| volume.kept(bytes)));
                return Ok(volume);
            }
            // Nobody asks so.
            (News::Same { .. }, None) => return Err("It was not sent.".into()),
        };
        let print = Print::of(&body.bytes);
        let Body {
            bytes,
            document,
            validators,
        } = body;
        let is_same = |before: &&Self| before.print == print && before.url.as_ref() == Some(&url);
        let same = before.filter(is_same);
        // A list is never asked for by its validators: what says the same is kept already.
        let is_kept = same.is_some();
        let content = match same {
            Some(before) => before.content.clone(),
            None => {
                let document = match document {
                    Some(document) => document,
                    None => document::read(&bytes).map_err(|wrong| wrong.to_string())?,
                };
                Arc::new(Content::of(name, &document)?)
            }
        };
        let volume = Self {
            name: name.to_owned(),
            url: Some(url),
            print,
            validators,
            content,
        };
        if !is_kept {
            keep.push(volume.kept(bytes));
        }
        Ok(volume)
    }

    /// As it came just now.
    fn kept(&self, body: Vec<u8>) -> Kept {
        let Validators {
            etag,
            last_modified,
        } = self.validators.clone();
        Kept {
            name: self.name.clone(),
            url: self.url.as_ref().map(Url::to_string).unwrap_or_default(),
            body,
            etag,
            last_modified,
            fetched_at: SystemTime::now(),
        }
    }

    fn known(&self) -> Option<Known> {
        Some(Known {
            name: self.name.clone(),
            url: self.url.clone()?,
            validators: self.validators.clone(),
            print: self.print,
            has_files: self.content.has_files,
        })
    }
}

impl Content {
    fn of(name: &str, document: &Value) -> Result<Self, String> {
        let parsed = parse::parse(document).map_err(|wrong| wrong.to_string())?;
        let Parsed {
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
                let tool = &mut operation.tool;
                let title = tool.title.as_deref().unwrap_or(&tool.name);
                tool.title = Some(format!("{name}/{title}"));
                tool.name = format!("{name}/{}", tool.name);
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
