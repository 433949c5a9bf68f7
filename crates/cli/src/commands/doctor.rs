//! `tenon doctor`: why a page cannot use a tool server, and what mends it.
//!
//! It opens no store and no folder: it can be run anywhere.

use std::fmt;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;

use super::say;
use crate::doctor::{
    AddressError, DoctorRequest, OwnHeader, OwnHeaderError, examine, read_address, read_origin,
};

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

/// Which argument cannot be used, and why. It repeats none of them.
#[derive(Debug, thiserror::Error)]
enum DoctorUsageError {
    #[error("<URL> cannot be used: {0}")]
    Url(AddressError),
    #[error("--origin cannot be used: {0}")]
    Origin(AddressError),
    #[error("--header cannot be used: {0}")]
    Header(#[from] OwnHeaderError),
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

    fn read(&self) -> Result<DoctorRequest, DoctorUsageError> {
        let page = self.origin.as_deref().unwrap_or(ORIGIN);
        let headers = self.headers.iter().map(|text| OwnHeader::read(text));
        Ok(DoctorRequest {
            url: read_address(&self.url).map_err(DoctorUsageError::Url)?,
            page: read_origin(page).map_err(DoctorUsageError::Origin)?,
            headers: headers.collect::<Result<_, _>>()?,
        })
    }
}
