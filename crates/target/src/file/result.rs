//! A file of a result, for whoever asks for it by name.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;

use async_trait::async_trait;
use bytes::Bytes;
use rustix::fs::OFlags;

use super::FileTarget;
use crate::port::{ResultFile, StageId, TargetFault, inside};

const PIECE_BYTES: u64 = 1 << 20;

struct Opened {
    file: Option<File>,
    path: String,
    length: u64,
    left: u64,
}

impl FileTarget {
    pub(super) fn open_file(
        &self,
        stage: &StageId,
        path: &str,
        range: Range<u64>,
    ) -> Result<Box<dyn ResultFile>, TargetFault> {
        inside(path)?;
        let missing = || TargetFault::bad(format!("the result's file {path:?} is missing"));
        let unread = |error| TargetFault::new(format!("read the result's file {path:?}"), error);
        let mut folder = self.stage_path(stage).join("out");
        let (above, name) = path.rsplit_once('/').map_or((None, path), |(above, name)| (Some(above), name));
        for one in above.into_iter().flat_map(|above| above.split('/')) {
            folder.push(one);
            // A link of the result may point anywhere on this machine; no manifest has a file below one.
            if !folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
                return Err(missing());
            }
        }
        let flags = i32::try_from(OFlags::NOFOLLOW.bits()).map_err(io::Error::other).map_err(unread)?;
        let mut file = match OpenOptions::new().read(true).custom_flags(flags).open(folder.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing()),
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                return Err(missing());
            }
            opened => opened.map_err(unread)?,
        };
        let metadata = file.metadata().map_err(unread)?;
        if !metadata.is_file() {
            return Err(missing());
        }
        let length = metadata.len();
        let (begin, end) = (range.start.min(length), range.end.min(length));
        file.seek(SeekFrom::Start(begin)).map_err(unread)?;
        let left = end.saturating_sub(begin);
        Ok(Box::new(Opened { file: Some(file), path: path.to_owned(), length, left }))
    }
}

#[async_trait]
impl ResultFile for Opened {
    fn length(&self) -> u64 {
        self.length
    }

    async fn next(&mut self) -> Result<Option<Bytes>, TargetFault> {
        let asked = self.left.min(PIECE_BYTES);
        let Some(mut file) = self.file.take().filter(|_| asked > 0) else { return Ok(None) };
        let read = tokio::task::spawn_blocking(move || {
            let mut piece = Vec::new();
            (&mut file).take(asked).read_to_end(&mut piece)?;
            Ok((file, piece))
        });
        let read = read.await.map_err(io::Error::other).and_then(|read| read);
        let (file, piece) =
            read.map_err(|error| TargetFault::new(format!("read the result's file {:?}", self.path), error))?;
        if u64::try_from(piece.len()).ok() != Some(asked) {
            return Err(TargetFault::bad(format!(
                "the result's file {:?} became shorter while it was read",
                self.path
            )));
        }
        (self.file, self.left) = (Some(file), self.left - asked);
        Ok(Some(piece.into()))
    }
}
