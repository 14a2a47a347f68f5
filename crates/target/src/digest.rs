//! Digests of local files.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use crate::manifest::Digest;

/// The digest of everything in an open file.
///
/// # Errors
/// When the file cannot be read.
pub fn digest_of(mut file: &File) -> io::Result<Digest> {
    file.seek(SeekFrom::Start(0))?;
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file)?;
    Ok(Digest(*hasher.finalize().as_bytes()))
}
