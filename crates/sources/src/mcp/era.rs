//! The first words, and finding out which a server understands.
//!
//! There are two eras. A server of the handshake era wants `initialize` before
//! anything else; one of the stateless era has no such thing and says what it
//! is when asked `server/discover`. Which it is shows only when it is asked,
//! and old servers take that badly in every way there is: with any error, with
//! silence, or by ending. None of that may keep us from the older words.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::task::TaskTracker;

use super::board::Board;
use super::fault::Fault;
use super::http::Http;
use super::link::{About, Era, NoLink};
use super::logs::Logs;
use super::process::Program;
use super::site::Site;
use super::sse::Sse;
use super::stdio::Stdio;
use super::talk::{Talk, Wire};

mod words;

pub(super) use words::STATELESS;
use words::{Introduction, discover, greet_after, handshake, shaken, stateless};

/// How long a server may think about a question it may not know. Python on a
/// busy machine needs six seconds to say anything at all.
const PROBE: Duration = Duration::from_secs(10);

/// A connection that is ready for use.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) talk: Talk,
    pub(super) era: Era,
    pub(super) about: About,
    /// It says when its list of tools changes.
    pub(super) tells_changes: bool,
}

/// What is known already of how a program speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    Ask,
    Handshake,
}

/// Starts a program and talks to it. One that ends when it is asked what it is gets a
/// second chance. One that is silent is waited for: it may be installing itself.
pub(super) async fn program(
    program: &Program,
    known: Era,
    logs: &Logs,
    endings: &TaskTracker,
) -> Result<Opened, NoLink> {
    if known != Era::Handshake {
        match start(program, First::Ask, logs, endings).await {
            Err(why) => return Err(NoLink::Failed(why)),
            Ok(Ok(opened)) => return Ok(opened),
            Ok(Err(Fault::Broken(_) | Fault::Unreached(_))) => {
                logs.note("It ended at the first words. Trying older ones.");
            }
            Ok(Err(fault)) => return Err(fault.no_link()),
        }
    }
    let second = start(program, First::Handshake, logs, endings).await;
    second.map_err(NoLink::Failed)?.map_err(Fault::no_link)
}

/// The outer error is that of a program that could not be started at all.
async fn start(
    program: &Program,
    first: First,
    logs: &Logs,
    endings: &TaskTracker,
) -> Result<Result<Opened, Fault>, String> {
    let board = Board::new(logs.clone());
    let stdio = Stdio::start(program, &board, endings).await?;
    let talk = Talk {
        wire: Wire::Stdio(stdio),
        board,
        meta: String::new(),
    };
    let spoke = match first {
        First::Handshake => handshake(&talk).await.map(Spoke::Handshake),
        First::Ask => ask_both(&talk).await,
    };
    Ok(spoke.map(|spoke| match spoke {
        Spoke::Stateless(introduction) => stateless(talk, introduction),
        Spoke::Handshake(introduction) => shaken(talk, Era::Handshake, introduction),
    }))
}

enum Spoke {
    Stateless(Introduction),
    Handshake(Introduction),
}

/// Asks what it is, and after a while without an answer greets it the old way
/// as well: whichever is answered first counts.
async fn ask_both(talk: &Talk) -> Result<Spoke, Fault> {
    let mut discovering = std::pin::pin!(discover(talk));
    let discovered = tokio::time::timeout(PROBE, &mut discovering).await;
    match discovered {
        Ok(Ok(introduction)) => Ok(Spoke::Stateless(introduction)),
        Ok(Err(fault @ (Fault::Broken(_) | Fault::Unreached(_) | Fault::LogIn { .. }))) => {
            Err(fault)
        }
        Ok(Err(fault)) => greet_after(talk, fault).await.map(Spoke::Handshake),
        Err(_) => {
            let mut greeting = std::pin::pin!(handshake(talk));
            tokio::select! {
                // Once it reads, it may have read and answered both.
                biased;
                Ok(introduction) = &mut discovering => Ok(Spoke::Stateless(introduction)),
                greeted = &mut greeting => match greeted {
                    // One that knows no handshake is about to answer the other question.
                    Err(Fault::Refused(_)) => discovering.await.map(Spoke::Stateless),
                    other => other.map(Spoke::Handshake),
                },
            }
        }
    }
}

/// Finds out what is at an address.
pub(super) async fn address(site: Arc<Site>, known: Era, logs: &Logs) -> Result<Opened, NoLink> {
    let opened = match known {
        Era::Sse => legacy(site.clone(), logs).await,
        Era::Unknown | Era::Stateless | Era::Handshake => {
            streamable(site.clone(), known, logs).await
        }
    };
    match opened {
        Ok(opened) => Ok(opened),
        Err(fault @ (Fault::LogIn { .. } | Fault::Broken(_) | Fault::Unreached(_))) => {
            Err(fault.no_link())
        }
        // It is not what it was.
        Err(_) if known != Era::Unknown => {
            let again = Box::pin(address(site, Era::Unknown, logs));
            again.await
        }
        Err(fault) => Err(fault.no_link()),
    }
}

async fn streamable(site: Arc<Site>, known: Era, logs: &Logs) -> Result<Opened, Fault> {
    let board = Board::new(logs.clone());
    let http = Http::new(site.clone(), board.clone());
    let talk = Talk {
        wire: Wire::Http(http.clone()),
        board,
        meta: String::new(),
    };
    let mut before = None;
    if known != Era::Handshake {
        http.speak(STATELESS);
        let discovered = tokio::time::timeout(PROBE, discover(&talk)).await;
        match discovered.unwrap_or(Err(Fault::Silent)) {
            Ok(introduction) => return Ok(stateless(talk, introduction)),
            Err(fault @ (Fault::LogIn { .. } | Fault::Broken(_) | Fault::Unreached(_))) => {
                return Err(fault);
            }
            Err(fault) => before = Some(fault),
        }
        http.speak("");
    }
    let greeted = match before {
        Some(fault) => greet_after(&talk, fault).await,
        None => handshake(&talk).await,
    };
    match greeted {
        Ok(introduction) => Ok(shaken(talk, Era::Handshake, introduction)),
        Err(fault @ (Fault::Refused(_) | Fault::Strange(_) | Fault::Status(400..=499, _)))
            if known == Era::Unknown =>
        {
            match legacy(site, logs).await {
                Ok(opened) => Ok(opened),
                Err(log_in @ Fault::LogIn { .. }) => Err(log_in),
                // What the newer transport said is what a person can use.
                Err(_) => Err(fault),
            }
        }
        Err(fault) => Err(fault),
    }
}

/// Legacy SSE, which is always of the handshake era.
pub(super) async fn legacy(site: Arc<Site>, logs: &Logs) -> Result<Opened, Fault> {
    let board = Board::new(logs.clone());
    let sse = Sse::start(site, board.clone()).await?;
    let talk = Talk {
        wire: Wire::Sse(sse),
        board,
        meta: String::new(),
    };
    let introduction = handshake(&talk).await?;
    Ok(shaken(talk, Era::Sse, introduction))
}
