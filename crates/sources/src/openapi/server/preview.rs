//! A look at a server before it is saved: nothing is kept and nothing is called.

use std::sync::Arc;
use std::time::SystemTime;

use tenon_domain::{OpenapiConfig, ToolDefinition};
use tokio::sync::Semaphore;
use url::Url;

use super::library::{Library, Merged};
use super::line::Line;
use super::offer::{About, Offer};
use super::settings::Kept;
use crate::apart::turn;
use crate::openapi::caller::Caller;
use crate::openapi::fetch::{self, Question, Unread};
use crate::openapi::operation::{Scheme, Skipped};

/// What would come of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    pub title: String,
    pub version: String,
    pub tools: Vec<ToolDefinition>,
    pub skipped: Vec<Skipped>,
    /// What it needs to know who asks.
    pub schemes: Vec<Scheme>,
    /// The servers behind it, if it is an mcpo.
    pub servers: Vec<String>,
    /// Sentences about what is not as it should be.
    pub notes: Vec<String>,
}

/// Reads the document of a server whose variables are filled in. The error says what was
/// tried and what came back.
///
/// `parses` is how many documents may be parsed at once.
pub async fn preview(
    config: OpenapiConfig,
    caller: &Caller,
    parses: &Arc<Semaphore>,
) -> Result<Preview, Unread> {
    let line = Line::new(config, caller)?;
    let Some(url) = &line.url else {
        return Err("There is no address to look at.".to_owned().into());
    };
    let question = Question {
        url,
        headers: &line.headers,
        known: &[],
        anew: true,
        within: fetch::WITHIN,
    };
    let reading = fetch::read(caller, &question).await?;
    let turn = turn(parses).await;
    let base_url = line.base_url.clone();
    let work = turn.work(move || {
        let merged = Library::merge(None, reading)?;
        Ok(seen(merged, base_url.as_ref(), true))
    });
    Ok(work.await?)
}

/// The same for a document that somebody gives; `is_placed` where they say as well where its
/// server is.
pub async fn preview_document(
    body: Vec<u8>,
    is_placed: bool,
    parses: &Arc<Semaphore>,
) -> Result<Preview, String> {
    let kept = Kept {
        name: String::new(),
        url: String::new(),
        body,
        etag: None,
        last_modified: None,
        fetched_at: SystemTime::now(),
    };
    let turn = turn(parses).await;
    let work = move || Library::load(vec![kept]).map(|merged| seen(merged, None, is_placed));
    turn.work(work).await
}

fn seen(merged: Merged, base_url: Option<&Url>, is_placed: bool) -> Preview {
    let offer = Offer::of(&merged.library, base_url);
    let about = About::of(&merged.library);
    let mut notes = merged.problems;
    if offer.len() == 0 && about.skipped.is_empty() && notes.is_empty() {
        notes.push("The document describes no operations.".into());
    }
    notes.extend(offer.other_hosts());
    notes.extend(merged.library.notes());
    let homeless = offer.homeless().filter(|_| !is_placed);
    notes.extend(homeless.map(str::to_owned));
    if offer.cut {
        notes.push("It has more tools than are listed.".into());
    }
    Preview {
        title: about.title,
        version: about.version,
        tools: offer.tools(),
        skipped: about.skipped,
        schemes: about.schemes,
        servers: about.servers,
        notes,
    }
}
