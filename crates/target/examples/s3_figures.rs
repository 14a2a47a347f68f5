//! Measures a room: `s3_figures URL FOLDER`, with keys from the environment. Needs 2 GiB in the folder; leaves nothing
//! in the room.
#![expect(clippy::print_stdout, reason = "figures are for a person")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use protocol::{AttemptId, JobId, Token};
use remora_target::{Depth, Entry, Manifest, Node, Part, StageId, Target, open};

const GIB: usize = 1 << 30;
const SMALL: u64 = 10_000;

fn stage(token: u32) -> StageId {
    StageId { job: JobId(1), token: Token(token), attempt: AttemptId(u128::from(token)) }
}

fn file(path: String, parts: Vec<Part>) -> Entry {
    Entry { path, node: Node::File { parts, executable: false } }
}

/// The most memory that this process ever held, in MiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: Option<u64> = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    kib.unwrap_or(0) / 1024
}

async fn timed<T, E: Error + 'static>(
    what: &str,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, Box<dyn Error>> {
    let begun = Instant::now();
    let done = work.await?;
    println!("{what}: {:.2} s, peak memory so far {} MiB", begun.elapsed().as_secs_f64(), peak());
    Ok(done)
}

fn write_large(path: &Path) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = std::fs::File::create(path)?;
    let mut block = vec![0_u8; 1 << 20];
    for number in 0..GIB >> 20 {
        for (at, byte) in block.iter_mut().enumerate() {
            *byte = u8::try_from((at * 31 + number * 17) % 251).unwrap_or(0);
        }
        file.write_all(&block)?;
    }
    Ok(())
}

async fn measure(room: &dyn Target, folder: &Path) -> Result<(), Box<dyn Error>> {
    let large = folder.join("large");
    write_large(&large)?;
    println!("begun with {} MiB", peak());
    let sealed = timed("seal 1 GiB", room.seal_file(&stage(1), 1, &large, false)).await?;
    let output = Manifest { entries: vec![file("large".to_owned(), vec![sealed.clone()])] };
    timed("lay out 1 GiB of one part", room.lay_out(&stage(1), &output)).await?;
    timed("verify 1 GiB", room.verify(std::slice::from_ref(&sealed), Depth::All)).await?;
    timed("fetch 1 GiB", room.fetch(std::slice::from_ref(&sealed), &folder.join("fetched"), false)).await?;
    let half = Manifest { entries: vec![file("joined".to_owned(), vec![sealed.clone(), sealed])] };
    timed("lay out 2 GiB joined of two parts", room.lay_out(&stage(1), &half)).await?;
    timed("sweep it", room.sweep(&stage(1), &[].into())).await?;
    let small = async {
        let mut entries = Vec::new();
        for number in 1..=SMALL {
            let sealed = room.seal_bytes(&stage(2), number, number.to_string().into_bytes()).await?;
            entries.push(file(format!("{number:05}"), vec![sealed]));
        }
        Ok::<_, remora_target::TargetFault>(Manifest { entries })
    };
    let output = timed("seal 10,000 small files, one after another", small).await?;
    timed("lay out 10,000 small files", room.lay_out(&stage(2), &output)).await?;
    timed("find old stages among 20,000 objects", room.old_stages(std::time::Duration::ZERO)).await?;
    timed("sweep 20,000 objects", room.sweep(&stage(2), &[].into())).await?;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, folder] = words.as_slice() else { return Err("usage: s3_figures URL FOLDER".into()) };
    measure(&*open(url)?, folder.as_ref()).await
}
