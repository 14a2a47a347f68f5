//! An attempt's log: a head, then numbered tail segments of which the last two are kept.
//!
//! Promises: never more than the limit on disk; what is cut away is marked when read. A reader may follow
//! while it is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use protocol::limit;

use crate::port::{LogReader, LogSink};

/// Bytes kept from the beginning.
pub(crate) const HEAD_BYTES: u64 = limit::LOG_BYTES / 2;
/// Bytes of one tail segment; between one and two of them are kept.
pub(crate) const SEGMENT_BYTES: u64 = limit::LOG_BYTES / 4;

fn segment_path(base: &Path, segment: u64) -> PathBuf {
    if segment == 0 {
        return base.to_owned();
    }
    let mut name = base.file_name().unwrap_or_default().to_owned();
    name.push(format!(".tail{segment}"));
    base.with_file_name(name)
}

fn capacity(segment: u64) -> u64 {
    if segment == 0 { HEAD_BYTES } else { SEGMENT_BYTES }
}

/// Writes a log. Made at the first byte, so that silent attempts leave no file.
pub(crate) struct LogWriter {
    base: PathBuf,
    file: Option<File>,
    segment: u64,
    room: u64,
}

impl LogWriter {
    pub(crate) fn new(base: PathBuf) -> Self {
        Self { base, file: None, segment: 0, room: HEAD_BYTES }
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.room == 0 {
                self.next_segment()?;
            }
            let take = usize::try_from(self.room).unwrap_or(usize::MAX).min(bytes.len());
            let (now, later) = bytes.split_at(take);
            self.open()?.write_all(now)?;
            self.room -= u64::try_from(take).unwrap_or(self.room);
            bytes = later;
        }
        Ok(())
    }

    fn open(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            let path = segment_path(&self.base, self.segment);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            self.file = Some(OpenOptions::new().create(true).append(true).open(path)?);
        }
        self.file.as_mut().ok_or_else(|| io::Error::other("the log was just opened"))
    }

    fn next_segment(&mut self) -> io::Result<()> {
        self.file = None;
        self.segment += 1;
        self.room = SEGMENT_BYTES;
        if self.segment >= 3 {
            fs::remove_file(segment_path(&self.base, self.segment - 2))?;
        }
        Ok(())
    }
}

#[async_trait]
impl LogSink for LogWriter {
    fn append(&mut self, bytes: &[u8]) {
        // A log that cannot be written (a full disk) must not fail the attempt: the rest is dropped.
        let _ = self.write(bytes);
    }

    async fn flush(&mut self) {}
}

/// What stands where something was cut away.
pub(crate) fn cut_mark(bytes: u64) -> String {
    format!("\n[… {bytes} bytes of this log were cut …]\n")
}

/// Reads segment after segment.
pub(crate) struct FileLogReader {
    base: PathBuf,
    segment: u64,
    offset: u64,
}

#[async_trait]
impl LogReader for FileLogReader {
    async fn read_more(&mut self) -> io::Result<Vec<u8>> {
        self.read_on()
    }
}

impl FileLogReader {
    pub(crate) fn new(base: PathBuf) -> Self {
        Self { base, segment: 0, offset: 0 }
    }

    fn read_on(&mut self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        loop {
            let end = self.read_segment(&mut out)?;
            if end < capacity(self.segment) {
                return Ok(out);
            }
            let next = self.segment + 1;
            let Some(found) = (next..next + 2).find(|one| segment_path(&self.base, *one).exists()) else {
                match self.later_segment()? {
                    Some(later) => self.skip_to(later, &mut out),
                    None => return Ok(out),
                }
                continue;
            };
            self.skip_to(found, &mut out);
        }
    }

    fn skip_to(&mut self, segment: u64, out: &mut Vec<u8>) {
        let skipped = segment - self.segment - 1;
        if skipped > 0 {
            out.extend_from_slice(cut_mark(skipped * SEGMENT_BYTES).as_bytes());
        }
        self.segment = segment;
        self.offset = 0;
    }

    fn later_segment(&self) -> io::Result<Option<u64>> {
        let (Some(folder), Some(name)) = (self.base.parent(), self.base.file_name()) else { return Ok(None) };
        let prefix = format!("{}.tail", name.to_string_lossy());
        let mut later: Option<u64> = None;
        for entry in fs::read_dir(folder)? {
            let name = entry?.file_name();
            let number = name.to_string_lossy().strip_prefix(&prefix).and_then(|rest| rest.parse().ok());
            if let Some(number) = number.filter(|number| *number > self.segment) {
                later = Some(later.map_or(number, |one: u64| one.min(number)));
            }
        }
        Ok(later)
    }

    /// Reads the rest of the current segment; gives the offset reached. A segment that was deleted while it
    /// was read counts as read.
    fn read_segment(&mut self, out: &mut Vec<u8>) -> io::Result<u64> {
        let mut file = match File::open(segment_path(&self.base, self.segment)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let gone = self.segment > 0;
                return Ok(if gone { capacity(self.segment) } else { self.offset });
            }
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(self.offset))?;
        let read = file.read_to_end(out)?;
        self.offset += u64::try_from(read).unwrap_or(0);
        Ok(self.offset)
    }
}
