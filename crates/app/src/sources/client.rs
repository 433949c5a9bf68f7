//! The OAuth client that somebody registered for Tenon at a server.

use tenon_domain::McpClient;

use super::error::SourceError;
use super::input_error::SourceInputError;

/// Bounds client ids and secrets, signed ones (JWT) included.
const MAX_TEXT_BYTES: usize = 2_048;

/// What somebody says about it. What is left out stays.
#[derive(Debug, Default)]
pub(super) struct ClientChange {
    pub(super) id: Option<Option<String>>,
    pub(super) secret: Option<Option<String>>,
    /// The server moved, so the old secret must not be sent to the new address.
    pub(super) moves: bool,
}

impl ClientChange {
    pub(super) fn of(self, old: Option<McpClient>) -> Result<Option<McpClient>, SourceError> {
        let id = self
            .id
            .unwrap_or_else(|| old.as_ref().map(|old| old.id.clone()));
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            return match self.secret {
                Some(Some(_)) => Err(SourceInputError::NoClientId.into()),
                Some(None) | None => Ok(None),
            };
        };
        let stays = old.filter(|old| old.id == id && !self.moves);
        let secret = self
            .secret
            .unwrap_or_else(|| stays.and_then(|old| old.secret));
        let client = McpClient {
            id,
            secret: secret.filter(|secret| !secret.is_empty()),
        };
        check(&client)?;
        Ok(Some(client))
    }
}

pub(super) fn check(client: &McpClient) -> Result<(), SourceError> {
    let is_fine = |text: &str| text.len() <= MAX_TEXT_BYTES && !text.contains(char::is_control);
    if is_fine(&client.id) && client.secret.as_deref().is_none_or(is_fine) {
        Ok(())
    } else {
        Err(SourceInputError::Client.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type ClientField<'a> = Option<Option<&'a str>>;

    #[track_caller]
    fn check_change(
        old: Option<(&str, &str)>,
        (id, secret, moves): (ClientField<'_>, ClientField<'_>, bool),
        expected: Result<Option<(&str, Option<&str>)>, ()>,
    ) {
        let old = old.map(|(id, secret)| McpClient {
            id: id.into(),
            secret: Some(secret.into()),
        });
        let owned = |given: ClientField<'_>| given.map(|given| given.map(str::to_owned));
        let change = ClientChange {
            id: owned(id),
            secret: owned(secret),
            moves,
        };
        let found = change.of(old).map_err(drop);
        let expected = expected.map(|expected| {
            expected.map(|(id, secret)| McpClient {
                id: id.into(),
                secret: secret.map(str::to_owned),
            })
        });
        assert_eq!(found, expected, "{id:?} {secret:?} {moves}");
    }

    #[test]
    fn what_is_left_out_stays_unless_it_would_go_elsewhere() {
        let old = Some(("tenon", "hidden"));
        check_change(
            old,
            (None, None, false),
            Ok(Some(("tenon", Some("hidden")))),
        );
        check_change(old, (None, None, true), Ok(Some(("tenon", None))));
        check_change(old, (Some(None), None, false), Ok(None));
        check_change(
            old,
            (Some(Some("other")), None, false),
            Ok(Some(("other", None))),
        );
        check_change(old, (None, Some(None), false), Ok(Some(("tenon", None))));
        check_change(
            old,
            (None, Some(Some("new")), true),
            Ok(Some(("tenon", Some("new")))),
        );
        check_change(None, (None, None, false), Ok(None));
        check_change(None, (Some(Some("")), None, false), Ok(None));
        check_change(None, (None, Some(Some("new")), false), Err(()));
        check_change(None, (Some(Some("a\nb")), None, false), Err(()));
    }
}
