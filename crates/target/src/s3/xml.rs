//! What S3 answers and is told in XML.

use std::fmt::Write as _;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A page of a listing.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Listing {
    pub is_truncated: bool,
    pub next_continuation_token: Option<String>,
    pub encoding_type: Option<String>,
    pub contents: Vec<Object>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Object {
    pub key: String,
    pub size: u64,
    pub last_modified: String,
}

/// A page of unfinished uploads.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Uploads {
    pub is_truncated: bool,
    pub next_key_marker: Option<String>,
    pub next_upload_id_marker: Option<String>,
    pub encoding_type: Option<String>,
    pub upload: Vec<Begun>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Begun {
    pub key: String,
    pub upload_id: String,
    pub initiated: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Initiated {
    pub upload_id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Written {
    #[serde(rename = "ETag")]
    pub etag: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Deleted {
    #[serde(rename = "Error")]
    pub errors: Vec<Undeleted>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Undeleted {
    pub key: String,
    #[serde(default)]
    pub code: String,
    #[serde(default)]
    pub message: String,
}

/// Why a request was refused.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Reason {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Versioning {
    pub status: Option<String>,
}

pub(super) fn read<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    quick_xml::de::from_reader(body).ok()
}

/// A refusal that came under a status of success, as those of long copies do.
pub(super) fn hidden_reason(body: &[u8]) -> Option<Reason> {
    let text = std::str::from_utf8(body).ok()?.trim_start();
    let root =
        text.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>")).map_or(text, |(_, rest)| rest);
    root.trim_start().starts_with("<Error").then(|| read(body).unwrap_or_default())
}

pub(super) fn complete<'a>(etags: impl Iterator<Item = (u32, &'a str)>) -> String {
    let mut body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">".to_owned();
    for (number, etag) in etags {
        let etag = quick_xml::escape::escape(etag);
        // Writing to a string does not fail.
        let _ = write!(body, "<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>");
    }
    body + "</CompleteMultipartUpload>"
}

pub(super) fn delete<'a>(keys: impl Iterator<Item = &'a str>) -> String {
    let mut body = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>".to_owned();
    for key in keys {
        let _ = write!(body, "<Object><Key>{}</Key></Object>", quick_xml::escape::escape(key));
    }
    body + "</Delete>"
}
