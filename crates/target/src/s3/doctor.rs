//! What can be known of a bucket before jobs depend on it.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use jiff::Timestamp;

use super::client::{Refusal, Request};
use super::sweep::date;
use super::{S3Target, xml};
use protocol::{Finding, told};

/// Signatures are refused from fifteen minutes on.
const CLOCK_WARN_S: u64 = 60;
const SLOW: Duration = Duration::from_millis(500);
/// The probe's key: no job has this name.
const PROBE: &str = "doctor/probe";

/// Looks at the bucket, writes, reads and deletes an object in it.
pub async fn doctor(target: &S3Target) -> Vec<Finding> {
    let mut findings = Vec::new();
    let reached = reach(target, &mut findings).await;
    if reached {
        probe(target, &mut findings).await;
        findings.push(listing(target).await);
        findings.push(versioning(target).await);
        findings.push(lifecycle(target).await);
    }
    findings
}

/// Whether it answers at all.
async fn reach(target: &S3Target, findings: &mut Vec<Finding>) -> bool {
    let bucket = &target.client.options.bucket;
    let begun = Instant::now();
    let list = Request::new(Method::GET, "").query("list-type", "2").query("max-keys", "1").xml();
    let reply = match target.client.ask(&list.query("prefix", target.client.options.whole(""))).await {
        Ok(reply) => reply,
        Err(refusal) => {
            findings.push(Finding::bad(
                "reach",
                format!("the bucket {bucket} cannot be listed: {}", told(&refusal)),
            ));
            return false;
        }
    };
    let took = begun.elapsed();
    let answered = format!("the bucket {bucket} answered after {} ms", took.as_millis());
    findings.push(if took > SLOW {
        Finding::warn("reach", answered)
    } else {
        Finding::ok("reach", answered)
    });
    findings.push(match reply.header("date").and_then(date) {
        Some(there) => clock(there),
        None => Finding::warn(
            "clock",
            "the store does not tell its time; ages are measured from its newest object",
        ),
    });
    true
}

fn clock(there: Timestamp) -> Finding {
    let here = Timestamp::now();
    let apart = here.duration_since(there).unsigned_abs().as_secs();
    let text = format!("the store's clock and this machine's are {apart} s apart");
    if apart > CLOCK_WARN_S { Finding::warn("clock", text) } else { Finding::ok("clock", text) }
}

async fn probe(target: &S3Target, findings: &mut Vec<Finding>) {
    let client = &target.client;
    let begun = Instant::now();
    let put = Request::new(Method::PUT, PROBE).body(Bytes::from_static(b"remora"));
    if let Err(refusal) = client.ask(&put).await {
        findings.push(Finding::bad("write", format!("an object cannot be written: {}", told(&refusal))));
        return;
    }
    let wrote = format!("an object was written in {} ms", begun.elapsed().as_millis());
    findings.push(Finding::ok("write", wrote));
    findings.push(match client.range(PROBE, (0, 6), None).await {
        Ok(reply) if reply.body == "remora" => Finding::ok("read", "it was read back"),
        Ok(_) => Finding::bad("read", "other bytes were read than had been written"),
        Err(refusal) => Finding::bad("read", format!("it cannot be read: {}", told(&refusal))),
    });
    findings.push(conditions(client.ask_once(&put.header("if-none-match", "*")).await));
    findings.push(match client.ask(&Request::new(Method::DELETE, PROBE)).await {
        Ok(_) => Finding::ok("delete", "it was deleted"),
        Err(refusal) => Finding::bad("delete", format!("it cannot be deleted: {}", told(&refusal))),
    });
}

fn conditions(answer: Result<super::client::Reply, Refusal>) -> Finding {
    match answer {
        Err(refusal) if matches!(refusal.status(), 409 | 412) => Finding::ok(
            "conditions",
            "a write on the condition that nothing is there was refused, as it must be",
        ),
        Ok(_) => Finding::warn(
            "conditions",
            "the store ignores If-None-Match: a write that was thought lost may land on a later one",
        ),
        Err(refusal) => {
            let told = told(&refusal);
            Finding::bad(
                "conditions",
                format!("the store refuses If-None-Match ({told}); set conditional=false"),
            )
        }
    }
}

async fn listing(target: &S3Target) -> Finding {
    match target
        .client
        .ask(&Request::new(Method::GET, "").query("uploads", "").query("max-uploads", "1"))
        .await
    {
        Ok(_) => Finding::ok("uploads", "unfinished uploads can be listed and are swept"),
        Err(refusal) => Finding::warn(
            "uploads",
            format!(
                "unfinished uploads cannot be listed ({}); a lifecycle rule must abort them",
                told(&refusal)
            ),
        ),
    }
}

async fn versioning(target: &S3Target) -> Finding {
    match target.client.ask(&Request::new(Method::GET, "").query("versioning", "")).await {
        Ok(reply) => match xml::read::<xml::Versioning>(&reply.body).and_then(|found| found.status) {
            Some(status) if status == "Enabled" => Finding::warn(
                "versioning",
                "the bucket keeps versions: what is swept stays, and is billed, until a lifecycle rule ends it",
            ),
            _ => Finding::ok("versioning", "the bucket keeps no versions"),
        },
        Err(refusal) => Finding::ok("versioning", format!("cannot be read ({})", told(&refusal))),
    }
}

async fn lifecycle(target: &S3Target) -> Finding {
    match target.client.ask(&Request::new(Method::GET, "").query("lifecycle", "")).await {
        Ok(reply) => {
            let text = String::from_utf8_lossy(&reply.body);
            if text.contains("AbortIncompleteMultipartUpload") {
                Finding::ok("lifecycle", "a rule aborts unfinished uploads")
            } else {
                Finding::ok("lifecycle", "no rule aborts unfinished uploads; the cleaner does")
            }
        }
        Err(refusal) if refusal.status() == 404 => {
            Finding::ok("lifecycle", "no rule aborts unfinished uploads; the cleaner does")
        }
        Err(refusal) => Finding::ok("lifecycle", format!("cannot be read ({})", told(&refusal))),
    }
}
