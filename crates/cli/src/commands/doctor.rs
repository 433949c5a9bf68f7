//! `tenon doctor`: why a page cannot use a tool server, and what mends it.
//!
//! It opens no store and no folder: it can be run anywhere.

use std::fmt;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::say;
use crate::doctor::{DoctorRequest, OwnHeader, examine, read_address, read_origin};

/// Where Tenon is unless told otherwise.
const ORIGIN: &str = "http://127.0.0.1:8366";

/// What clap answers wrong use with.
const WRONG_USE: u8 = 2;

// The arguments are texts, parsed below: clap prints what it cannot parse, and there may be a key
// in it.
#[derive(Args)]
pub(super) struct Doctor {
    /// Where the server is: `8000`, `localhost:8000`, or a whole address
    url: String,
    /// Where people open Tenon, such as https://tenon.example; http://127.0.0.1:8366 by default
    #[arg(long, value_name = "URL")]
    origin: Option<String>,
    /// A header that the page sends along, such as 'Authorization: Bearer KEY'; may be given
    /// several times
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// Say it as JSON
    #[arg(long)]
    json: bool,
}

impl fmt::Debug for Doctor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Doctor")
    }
}

impl Doctor {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let question = match self.read() {
            Ok(question) => question,
            Err(why) => {
                eprintln!("error: {why}\n\nFor more information, try '--help'.");
                return Ok(ExitCode::from(WRONG_USE));
            }
        };
        if !self.json {
            let page = question.page.origin().ascii_serialization();
            let default = match self.origin {
                None => " (no --origin was given)",
                Some(_) => "",
            };
            say(format_args!(
                "Asking {} as a page at {page} would{default}\n",
                question.url
            ));
        }
        let report = examine(question).await?;
        if self.json {
            say(serde_json::to_string_pretty(&report)?)
        } else {
            say(report.to_text().trim_end())
        }
        Ok(if report.ok {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    /// The error is a sentence that repeats nothing.
    fn read(&self) -> Result<DoctorRequest, String> {
        let url = read_address(&self.url);
        let page = read_origin(self.origin.as_deref().unwrap_or(ORIGIN));
        let headers = self.headers.iter().map(|text| OwnHeader::read(text));
        Ok(DoctorRequest {
            url: url.map_err(|why| format!("<URL> cannot be used: {why}"))?,
            page: page.map_err(|why| format!("--origin cannot be used: {why}"))?,
            headers: headers
                .collect::<Result<_, _>>()
                .map_err(|why| format!("--header cannot be used: {why}"))?,
        })
    }
}
