//! Style, script and picture: in the binary, named by what is in them.
//!
//! Promises that a name stands for the same bytes for ever, so that a browser asks once.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use api::Problem;

use crate::answer::Trouble;

const STYLE: &str = include_str!("../assets/pages.css");
const SCRIPT: &str = include_str!("../assets/live.js");
const ICON: &str = include_str!("../assets/icon.svg");

/// A file by its name.
struct Asset {
    path: String,
    kind: &'static str,
    text: &'static str,
}

/// Where the files of a page are.
#[derive(Clone, Copy)]
pub(crate) struct Assets {
    pub(crate) style: &'static str,
    pub(crate) script: &'static str,
    pub(crate) icon: &'static str,
}

static ALL: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    let asset = |stem: &str, ending: &str, kind, text: &'static str| {
        let digest = blake3::hash(text.as_bytes()).to_hex();
        Asset { path: format!("/assets/{stem}-{}.{ending}", &digest[..16]), kind, text }
    };
    [
        asset("pages", "css", "text/css; charset=utf-8", STYLE),
        asset("live", "js", "text/javascript; charset=utf-8", SCRIPT),
        asset("icon", "svg", "image/svg+xml", ICON),
    ]
});

/// The paths of all of them.
pub(crate) fn assets() -> Assets {
    let [style, script, icon] = &*ALL;
    Assets { style: &style.path, script: &script.path, icon: &icon.path }
}

pub(crate) async fn asset(Path(name): Path<String>) -> Result<Response, Trouble> {
    let found = ALL.iter().find(|asset| asset.path.strip_prefix("/assets/") == Some(name.as_str()));
    let Some(asset) = found else { return Err(Problem::not_found("such file of a page").into()) };
    let headers =
        [(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    Ok((headers, asset.text).into_response())
}
