//! One room by its URL.

use std::sync::Arc;

use thiserror::Error;

use crate::file::FileTarget;
use crate::port::Target;

/// A URL that names no room here.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct OpenError(pub String);

/// Opens `file:PATH` (also `file:///PATH`) or `s3://bucket/prefix?…`. Asks nothing of the store yet.
///
/// # Errors
/// When the URL is neither, or its options are wrong.
pub fn open(url: &str) -> Result<Arc<dyn Target>, OpenError> {
    if let Some(path) = url.strip_prefix("file:") {
        let path = path.strip_prefix("//").filter(|path| path.starts_with('/')).unwrap_or(path);
        if path.is_empty() {
            return Err(OpenError("the target file: has no path; file:/var/lib/remora is one".to_owned()));
        }
        return Ok(Arc::new(FileTarget::new(path)));
    }
    if url.starts_with("s3:") {
        return open_s3(url);
    }
    let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
    Err(OpenError(format!("the target's URL begins with {scheme:?}; allowed are file: and s3:")))
}

#[cfg(feature = "s3")]
fn open_s3(url: &str) -> Result<Arc<dyn Target>, OpenError> {
    let options = crate::s3::S3Options::parse(url)?;
    Ok(Arc::new(crate::s3::S3Target::open(options)?))
}

#[cfg(not(feature = "s3"))]
fn open_s3(_: &str) -> Result<Arc<dyn Target>, OpenError> {
    Err(OpenError("this build knows no s3: targets; it was made without the feature s3".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_may_be_written_in_two_ways_and_other_things_are_refused() {
        for url in ["file:/a/b", "file:///a/b"] {
            let stage = crate::StageId {
                job: protocol::JobId(1),
                token: protocol::Token(1),
                attempt: protocol::AttemptId(1),
            };
            let result = open(url).unwrap().local_result(&stage).unwrap();
            assert!(result.starts_with("/a/b"), "{}", result.display());
        }
        for url in ["file:", "ftp://x", "x", "s3:x"] {
            assert!(open(url).is_err(), "{url}");
        }
    }
}
