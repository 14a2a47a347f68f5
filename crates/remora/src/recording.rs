//! Events to files: one JSON object a line after a first one that names the format's version, in segments of which the
//! newest are kept.
//!
//! Promises: recording never waits and never fails the recorder; what cannot be taken is counted. A folder holds at
//! most 1 GiB: of files that other writers left, the oldest go first.
//! Does not write that count down: a trace with such a hole is not told from a wrong one. Protocol §6 says what
//! an event carries.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

use protocol::{Event, EventSink};

const QUEUE: usize = 65_536;
const SEGMENT_BYTES: u64 = 64 * 1024 * 1024;
const SEGMENTS: u64 = 4;
const FOLDER_BYTES: u64 = 1024 * 1024 * 1024;
/// The last line of a writer that ended by itself: one that is killed writes none.
pub const EVENTS_END: &[u8] = b"{\"remora_events_end\":true}\n";
/// The first line of every file.
const HEADER: &[u8] = b"{\"remora_events\":1}\n";
const MOMENT: Duration = Duration::from_millis(5);

/// Writes events to `<folder>/<name>-<n>.jsonl`; the newest 256 MiB are kept, in segments of 64 MiB.
pub struct FileEvents {
    sender: Mutex<Option<SyncSender<Event>>>,
    dropped: Arc<AtomicU64>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl FileEvents {
    /// Starts a writer.
    ///
    /// # Errors
    /// When the folder or the first file cannot be made.
    pub fn start(folder: &Path, name: &str) -> io::Result<Arc<Self>> {
        fs::create_dir_all(folder)?;
        let segments = Segments::open(folder.to_owned(), name.to_owned())?;
        let (sender, receiver) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&dropped);
        let writer = thread::Builder::new()
            .name("remora-events".to_owned())
            .spawn(move || write_all(&receiver, segments, &counted))?;
        Ok(Arc::new(Self { sender: Mutex::new(Some(sender)), dropped, writer: Mutex::new(Some(writer)) }))
    }

    /// Events that were not recorded because the writer was behind or the disk was full.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Writes what is under way and stops recording.
    pub fn finish(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A writer that panicked has nothing more to write.
            let _ = writer.join();
        }
    }
}

impl EventSink for FileEvents {
    fn record(&self, event: Event) {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if sender.as_ref().is_none_or(|sender| sender.try_send(event).is_err()) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

struct Segments {
    folder: PathBuf,
    name: String,
    number: u64,
    written: u64,
    file: BufWriter<File>,
}

impl Segments {
    fn open(folder: PathBuf, name: String) -> io::Result<Self> {
        let number = next_number(&folder, &name);
        let file = begin(&path(&folder, &name, number))?;
        let segments = Self { folder, name, number, written: 0, file };
        segments.forget();
        Ok(segments)
    }

    fn forget(&self) {
        self.forget_old();
        self.forget_others(FOLDER_BYTES);
    }

    /// Every worker that ever started has left files of its own name.
    fn forget_others(&self, most: u64) {
        let mut others: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                let (writer, _) = file.strip_suffix(".jsonl")?.rsplit_once('-')?;
                let data = entry.metadata().ok().filter(|_| writer != self.name)?;
                Some((data.modified().ok()?, data.len(), entry.path()))
            })
            .collect();
        others.sort_unstable_by(|one, other| other.cmp(one));
        let mut kept = 0;
        for (_, bytes, path) in others {
            kept += bytes;
            if kept > most {
                // Gone already is as good.
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Counts bytes, not files: a process that is started again and again leaves many small ones.
    fn forget_old(&self) {
        let mut kept = SEGMENT_BYTES;
        let mut numbers = numbers(&self.folder, &self.name);
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        for old in numbers.into_iter().filter(|number| *number < self.number) {
            let path = path(&self.folder, &self.name, old);
            kept += fs::metadata(&path).map_or(0, |data| data.len());
            if kept > SEGMENTS * SEGMENT_BYTES {
                // Gone already is as good.
                let _ = fs::remove_file(path);
            }
        }
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        if self.written >= SEGMENT_BYTES {
            self.file.flush()?;
            self.number += 1;
            self.written = 0;
            self.file = begin(&path(&self.folder, &self.name, self.number))?;
            self.forget();
        }
        self.written += u64::try_from(line.len()).unwrap_or(0);
        self.file.write_all(line)
    }
}

fn begin(path: &Path) -> io::Result<BufWriter<File>> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(HEADER)?;
    Ok(file)
}

fn path(folder: &Path, name: &str, number: u64) -> PathBuf {
    folder.join(format!("{name}-{number:06}.jsonl"))
}

/// The numbers of a writer's files.
fn numbers(folder: &Path, name: &str) -> Vec<u64> {
    let number = |entry: fs::DirEntry| {
        let file = entry.file_name().into_string().ok()?;
        file.strip_prefix(name)?.strip_prefix('-')?.strip_suffix(".jsonl")?.parse::<u64>().ok()
    };
    fs::read_dir(folder).into_iter().flatten().flatten().filter_map(number).collect()
}

fn next_number(folder: &Path, name: &str) -> u64 {
    numbers(folder, name).into_iter().max().map_or(0, |last| last + 1)
}

/// Writes what has come in a moment and hands it to the system: a killed process loses that moment and no more.
/// Without the moment every event would wake this thread, which costs the recorder more than the event.
fn write_all(receiver: &Receiver<Event>, mut segments: Segments, dropped: &AtomicU64) {
    while let Ok(event) = receiver.recv() {
        thread::sleep(MOMENT);
        for event in std::iter::once(event).chain(receiver.try_iter()) {
            let Ok(mut line) = serde_json::to_vec(&event) else { continue };
            line.push(b'\n');
            if segments.write(&line).is_err() {
                dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        // A full disk loses events, never work.
        let _ = segments.file.flush();
    }
    if dropped.load(Ordering::Relaxed) == 0 {
        let _ = segments.write(EVENTS_END).and_then(|()| segments.file.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{Action, ActorId, Detail, Outcome, Room};

    fn event(order: u64) -> Event {
        Event {
            room: Room::Durable,
            epoch: 0,
            order,
            action: Action::AcceptSuccess,
            outcome: Outcome::Taken,
            job: None,
            token: None,
            attempt: None,
            actor: ActorId(1),
            sequence: order,
            sent_after: 0,
            answered_before: None,
            detail: Detail::default(),
            judged: Vec::new(),
        }
    }

    #[test]
    fn what_was_recorded_is_in_the_file_and_a_new_start_takes_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        for _ in 0..6 {
            let events = FileEvents::start(folder.path(), "owner").unwrap();
            (0..3).for_each(|order| events.record(event(order)));
            events.finish();
            events.record(event(9));
            assert_eq!(events.dropped(), 1);
        }
        let mut kept = numbers(folder.path(), "owner");
        kept.sort_unstable();
        assert_eq!(kept, [0, 1, 2, 3, 4, 5]);
        let text = fs::read_to_string(path(folder.path(), "owner", 1)).unwrap();
        let orders: Vec<u64> = text
            .lines()
            .skip(1)
            .take(3)
            .map(|line| serde_json::from_str::<Event>(line).unwrap().order)
            .collect();
        assert_eq!(orders, [0, 1, 2]);
        assert!(text.as_bytes().ends_with(EVENTS_END));
    }

    #[test]
    fn of_what_others_left_the_newest_is_kept_up_to_the_folders_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, age: u64| {
            let path = folder.path().join(name);
            fs::write(&path, [b'x'; 100]).unwrap();
            let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 - age);
            File::options().append(true).open(path).unwrap().set_modified(then).unwrap();
        };
        file("worker-one-000000.jsonl", 30);
        file("worker-two-000000.jsonl", 10);
        file("worker-two-000001.jsonl", 20);
        file("owner-000000.jsonl", 40);
        fs::write(folder.path().join("notes.txt"), "kept").unwrap();
        let segments = Segments::open(folder.path().to_owned(), "owner".to_owned()).unwrap();
        segments.forget_others(200);
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort_unstable();
        assert_eq!(
            left,
            [
                "notes.txt",
                "owner-000000.jsonl",
                "owner-000001.jsonl",
                "worker-two-000000.jsonl",
                "worker-two-000001.jsonl"
            ]
        );
    }
}
