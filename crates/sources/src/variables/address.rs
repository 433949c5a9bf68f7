//! Values inside an address: none leads elsewhere than whoever wrote the address meant.
//!
//! A value after the host is percent-encoded, one in the host may only be a part of a name.
//! Only everybody's value at the very beginning (`${BASE}/mcp`) is taken as it is: an admin
//! set it, and it stands for the address itself.

use url::{Origin, Url};

use super::{MisplacedVariable, Substitution, TextSegment, VariableReference, segments};
use tenon_net::percent::{PercentEncodeSet, encode};

/// Where in an address something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UrlPosition {
    Start,
    /// Between scheme and path, including user info and port.
    Host,
    Path,
    /// In the query or behind it.
    Query,
}

impl Substitution<'_> {
    pub(super) fn address(&mut self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        // The same address with no values filled in after the host: both must have the same origin.
        let mut meant = String::with_capacity(text.len());
        for segment in segments(text) {
            let reference = match segment {
                TextSegment::Variable(reference) => reference,
                TextSegment::Text(text) => {
                    filled.push_str(text);
                    meant.push_str(text);
                    continue;
                }
            };
            let Some(value) = reference.value(self.value) else {
                self.missing.push(reference.variable);
                continue;
            };
            match position(&filled) {
                // A default value was written by the author of the address, so it needs no check.
                _ if reference.otherwise == Some(&value) => {
                    filled.push_str(&value);
                    meant.push_str(&value);
                }
                here @ (UrlPosition::Start | UrlPosition::Host) => {
                    let is_address = here == UrlPosition::Start && !reference.is_personal();
                    if !is_address && !fits_host(&reference, &value) {
                        let variable = reference.variable.to_string().into();
                        self.refused = Some(MisplacedVariable::InHost { variable });
                    }
                    filled.push_str(&value);
                    meant.push_str(&value);
                }
                UrlPosition::Path if matches!(value.as_str(), "." | "..") => {
                    let variable = reference.variable.to_string().into();
                    self.refused = Some(MisplacedVariable::InPath { variable });
                }
                UrlPosition::Path | UrlPosition::Query => {
                    filled.push_str(&encode(&value, PercentEncodeSet::Unreserved));
                    meant.push('1');
                }
            }
        }
        let is_elsewhere = || filled != meant && origin(&filled) != origin(&meant);
        if self.refused.is_none() && is_elsewhere() {
            self.refused = Some(MisplacedVariable::LeadsElsewhere);
        }
        filled
    }
}

/// Where that stands which comes after this, as browsers and our client read addresses.
pub(super) fn position(before: &str) -> UrlPosition {
    if before.is_empty() {
        return UrlPosition::Start;
    }
    let Some((_scheme, rest)) = before.split_once(':') else {
        return UrlPosition::Host;
    };
    let rest = rest.trim_start_matches(['/', '\\']);
    match rest.find(['/', '\\', '?', '#']) {
        None => UrlPosition::Host,
        Some(at) if rest[at..].contains(['?', '#']) => UrlPosition::Query,
        Some(_) => UrlPosition::Path,
    }
}

/// An admin may say the port as well.
fn fits_host(reference: &VariableReference<'_>, value: &str) -> bool {
    let fits = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '-' | '.')
            || (c == ':' && !reference.is_personal())
    };
    !value.is_empty() && value.chars().all(fits)
}

/// None if it is not an address; opening it reports the error.
fn origin(address: &str) -> Option<Origin> {
    Url::parse(address).ok().map(|url| url.origin())
}
