//! What is to be seen of what was read, and what is different in it.

use url::Url;

use super::library::Merged;
use super::offer::{About, Change, Offer};

pub(super) struct Seen {
    pub(super) merged: Merged,
    pub(super) offer: Offer,
    pub(super) about: About,
    pub(super) change: Change,
}

impl Seen {
    /// Takes its time: not for a thread that others wait for.
    pub(super) fn of(mut merged: Merged, base_url: Option<&Url>, before: &Offer) -> Self {
        let offer = Offer::of(&merged.library, base_url);
        merged.problems.extend(offer.homeless().map(str::to_owned));
        merged.problems.extend(offer.other_hosts());
        merged.problems.extend(merged.library.notes());
        Self {
            about: About::of(&merged.library),
            change: offer.since(before),
            offer,
            merged,
        }
    }
}
