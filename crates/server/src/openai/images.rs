//! Pictures in the messages of a chat completion request.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tenon_app::app::App;
use tenon_app::auth::CurrentUser;
use tenon_domain::{BlobId, Message, UserImage};
use tenon_net::media_type::essence;

use super::error::{invalid_option, too_long};
use crate::error::ApiError;

/// The kinds of picture that every provider takes, and how much of one, as Base64.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024;

/// In one request; as many as models take.
const MAX_IMAGES: usize = 64;

/// Where this server shows what it keeps.
const BLOB_PATH: &str = "/api/blobs/";

/// A picture, as a message names it.
#[derive(Debug)]
pub(super) enum ClientImage {
    Inline(UserImage),
    /// One that Tenon keeps: the output of a tool.
    Blob(BlobId),
}

/// A picture that Tenon keeps, and the message it belongs into.
#[derive(Debug)]
pub(super) struct StoredImage {
    pub(super) message: usize,
    pub(super) blob: BlobId,
}

impl ClientImage {
    /// Reads a part of a message. None: it is no picture.
    pub(super) fn read(part: &Value) -> Option<Result<Self, ApiError>> {
        let image = match part["type"].as_str() {
            Some("image_url" | "input_image") => &part["image_url"],
            _ => return None,
        };
        let url = image["url"].as_str().or(image.as_str());
        Some(Self::at(url.unwrap_or_default()))
    }

    fn at(url: &str) -> Result<Self, ApiError> {
        if let Some(data) = url.strip_prefix("data:") {
            return inline(data).map(Self::Inline);
        }
        let blob = url.split_once(BLOB_PATH).map(|(_, id)| id);
        let blob = blob.filter(|id| !id.is_empty() && id.bytes().all(is_id_byte));
        let blob = blob.ok_or_else(|| {
            invalid_option(
                "image_url",
                "a `data:` URL with the picture in it, or the address of a file that Tenon keeps (/api/blobs/…): Tenon fetches no pictures from elsewhere",
            )
        })?;
        Ok(Self::Blob(BlobId::new(blob)))
    }
}

fn is_id_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

fn inline(data: &str) -> Result<UserImage, ApiError> {
    let wrong = || {
        invalid_option(
            "image_url",
            "`data:image/png;base64,…` (or jpeg, gif, webp)",
        )
    };
    let (head, data) = data.split_once(',').ok_or_else(wrong)?;
    let media_type = head.strip_suffix(";base64").ok_or_else(wrong)?;
    let image = checked(media_type, data.trim())?;
    STANDARD.decode(&*image.data).map_err(|_| wrong())?;
    Ok(image)
}

fn checked(media_type: &str, data: &str) -> Result<UserImage, ApiError> {
    let mut media_type = essence(media_type);
    if media_type == "image/jpg" {
        media_type = "image/jpeg".to_owned();
    }
    if !IMAGE_TYPES.contains(&media_type.as_str()) {
        return Err(invalid_option(
            "image_url",
            "a picture of the type png, jpeg, gif or webp",
        ));
    }
    if data.len() > MAX_IMAGE_BYTES {
        let mib = MAX_IMAGE_BYTES >> 20;
        return Err(too_long(format!(
            "A picture is longer than {mib} MiB as Base64. Send a smaller one."
        )));
    }
    Ok(UserImage {
        media_type,
        data: Arc::from(data),
        name: None,
    })
}

/// Refuses more pictures than a model takes.
pub(super) fn check_count(images: usize) -> Result<(), ApiError> {
    if images <= MAX_IMAGES {
        Ok(())
    } else {
        Err(too_long(format!(
            "At most {MAX_IMAGES} pictures can come along."
        )))
    }
}

/// Adds the pictures that Tenon keeps of this user.
pub(super) async fn load(
    app: &App,
    user: &CurrentUser,
    stored: Vec<StoredImage>,
    messages: &mut [Message],
) -> Result<(), ApiError> {
    for StoredImage { message, blob } in stored {
        let blob = app.store.blob(&user.id, &blob).await?;
        let image = checked(&blob.media_type, &STANDARD.encode(&blob.data))?;
        if let Some(Message::User { images, .. }) = messages.get_mut(message) {
            images.push(image);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(url: &str, expected: Option<&str>) {
        let part = json!({"type": "image_url", "image_url": {"url": url}});
        let read = ClientImage::read(&part).unwrap();
        let read = read.ok().map(|image| match image {
            ClientImage::Inline(image) => format!("{} {}", image.media_type, image.data),
            ClientImage::Blob(blob) => format!("blob {blob}"),
        });
        assert_eq!(read.as_deref(), expected, "{url}");
    }

    #[test]
    fn pictures_come_along_or_are_kept_here() {
        check("data:image/png;base64,AAAA", Some("image/png AAAA"));
        check("data:IMAGE/JPG;base64,AAAA", Some("image/jpeg AAAA"));
        check("/api/blobs/01-ab", Some("blob 01-ab"));
        check("http://localhost:8366/api/blobs/01-ab", Some("blob 01-ab"));
        check("data:image/png;base64,no!", None);
        check("data:image/png,AAAA", None);
        check("data:image/svg+xml;base64,AAAA", None);
        check("https://example.com/cat.png", None);
        check("/api/blobs/../users", None);
        check("", None);
    }
}
