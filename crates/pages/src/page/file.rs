//! A file of a result, looked at without opening it.
//!
//! Promises: text is shown as text; a picture is sent only when its first bytes are those of a picture, under that type,
//! and with nothing allowed beside it. Does not send files to keep: the API's route does, and never to be opened.

use std::sync::Arc;

use api::v1::Code;
use api::{FileBody, Problem};
use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use futures_util::TryStreamExt as _;
use protocol::JobId;
use web::Caller;

use super::id;
use crate::Desk;
use crate::answer::{Frame, Reply, page};
use crate::view::words::{in_url, size};

/// Bytes of a text that are shown.
const TEXT: u64 = 64 << 10;
/// The largest picture that is shown.
const PICTURE: u64 = 8 << 20;
/// What a picture may do when it is opened alone.
const POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

#[derive(Template)]
#[template(path = "file.html")]
struct FilePage {
    frame: Frame,
    job: String,
    path: String,
    download: String,
    image: Option<String>,
    text: Option<String>,
    cut: bool,
    size: String,
    digest: String,
}

async fn bytes(body: FileBody) -> Result<Vec<u8>, Problem> {
    body.bytes
        .try_fold(Vec::new(), |mut all, part| async move {
            all.extend_from_slice(&part);
            Ok(all)
        })
        .await
}

/// The type of a picture that every browser shows and that holds no script, by its first bytes.
fn picture(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The bytes as text, where they are some; a letter that was cut at the end is left out.
fn text(bytes: &[u8], cut: bool) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.to_owned()),
        Err(error) if cut && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok().map(str::to_owned)
        }
        Err(_) => None,
    }
}

pub(crate) async fn file(
    State(desk): State<Arc<Desk>>,
    Extension(caller): Extension<Caller>,
    Path((job, path)): Path<(String, String)>,
) -> Reply {
    let job: JobId = id("job", &job)?;
    let body = desk.api.result_file(job, &path, 0..TEXT).await?;
    let (length, digest) = (body.length, body.digest.clone().unwrap_or_default());
    let begin = bytes(body).await?;
    let cut = length > TEXT;
    let is_picture = picture(&begin).is_some() && length <= PICTURE;
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let shown = FilePage {
        frame: Frame::of(&caller, "jobs", name),
        job: job.to_string(),
        download: format!("/v1/jobs/{job}/result/files/{}", in_url(&path)),
        image: is_picture.then(|| format!("/jobs/{job}/images/{}", in_url(&path))),
        text: if is_picture { None } else { text(&begin, cut) },
        cut,
        size: size(length),
        digest,
        path,
    };
    Ok(page(StatusCode::OK, &shown))
}

pub(crate) async fn image(State(desk): State<Arc<Desk>>, Path((job, path)): Path<(String, String)>) -> Reply {
    let job: JobId = id("job", &job)?;
    let none = || Problem::new(Code::NotFound, "there is no picture that could be shown under this name");
    let body = desk.api.result_file(job, &path, 0..PICTURE).await?;
    if body.length > PICTURE {
        return Err(none().into());
    }
    let bytes = bytes(body).await?;
    let kind = picture(&bytes).ok_or_else(none)?;
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "private, max-age=3600"),
    ];
    Ok((headers, bytes).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_first_bytes_and_a_drawing_with_scripts_is_none() {
        assert_eq!(picture(b"\x89PNG\r\n\x1a\nrest"), Some("image/png"));
        assert_eq!(picture(b"GIF89a"), Some("image/gif"));
        assert_eq!(
            picture(b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>"),
            None
        );
        assert_eq!(picture(b"<html>"), None);
    }

    #[test]
    fn text_is_text_and_a_cut_letter_is_left_out() {
        assert_eq!(text("naïve".as_bytes(), false).as_deref(), Some("naïve"));
        assert_eq!(text(&"na\u{ef}".as_bytes()[..3], true).as_deref(), Some("na"));
        assert_eq!(text(&"na\u{ef}".as_bytes()[..3], false), None);
        assert_eq!(text(b"a\0b", false), None);
    }
}
