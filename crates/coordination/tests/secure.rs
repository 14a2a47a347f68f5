//! Users, passwords, TLS, sockets, Sentinels, and what `doctor` says.
#![cfg(feature = "dragonfly")]
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod world;

use std::path::Path;
use std::time::Duration;

use protocol::Level;
use protocol::{FaultKind, Guard};
use remora_coordination::CoordinationReads as _;
use remora_coordination::dragonfly::{DragonflyRoom, Options, doctor};
use testbed::redis::{program, say_to};
use testbed::{Folder, Redis, Server, free_port};
use world::World;

async fn at(url: &str) -> DragonflyRoom {
    DragonflyRoom::open(url, Options::default()).await.unwrap()
}

/// What a fault says, with its causes.
async fn refused(url: &str) -> (FaultKind, String) {
    let fault = at(url).await.pool().await.unwrap_err();
    (fault.kind, protocol::told(&fault))
}

#[tokio::test]
async fn a_password_of_any_character_opens_and_a_wrong_one_is_told_without_being_shown() {
    let server = Redis::start();
    assert!(server.say("CONFIG SET requirepass p@:/?#%e1").starts_with("+OK"));
    let url = server.url().replace("redis://", "redis://:p%40%3A%2F%3F%23%25e1@");
    World::open_at(server, &url).await.execute(1).await;
}

#[tokio::test]
async fn a_wrong_password_and_none_are_unreachable_and_named() {
    let server = Redis::start();
    assert!(server.say("CONFIG SET requirepass right").starts_with("+OK"));
    let (kind, text) = refused(&server.url().replace("redis://", "redis://:secretly-wrong@")).await;
    assert_eq!(kind, FaultKind::Unreachable);
    assert!(!text.contains("secretly") && text.to_lowercase().contains("auth"), "{text}");
    let (kind, text) = refused(&server.url()).await;
    assert_eq!(kind, FaultKind::Unreachable, "{text}");
    assert!(text.contains("NOAUTH"), "{text}");
}

/// The least that the manual asks for.
const LEAST: &str = "ACL SETUSER remora on >pw ~rm:{remora:*}:* &rm:{remora:*}:* -@all +@hash +@sortedset +@set +@string \
                     +unlink +del +time +evalsha +script|load +publish +subscribe +unsubscribe +ping +info +config|get";

#[tokio::test]
async fn a_user_with_the_permissions_of_the_manual_can_do_everything() {
    let server = Redis::start();
    assert!(server.say(LEAST).starts_with("+OK"));
    let url = server.url().replace("redis://", "redis://remora:pw@");
    let world = World::open_at(server, &url).await;
    world.execute(1).await;
    assert_eq!(world.try_renew(1).await.unwrap(), None);
    world.install(2).await;
    let findings = doctor(&world.room).await;
    let bad: Vec<_> = findings.iter().filter(|finding| finding.level == Level::Bad).collect();
    assert_eq!(bad, Vec::<&_>::new());
    assert!(
        findings.iter().any(|finding| finding.name == "wakes" && finding.level == Level::Ok),
        "{findings:?}"
    );
}

#[tokio::test]
async fn a_missing_permission_is_a_fault_and_doctor_names_it() {
    let server = Redis::start();
    assert!(server.say(&format!("{LEAST} -zadd")).starts_with("+OK"));
    let room = at(&server.url().replace("redis://", "redis://remora:pw@")).await;
    let findings = doctor(&room).await;
    let found = findings.iter().find(|finding| finding.name == "permissions").unwrap();
    assert_eq!(found.level, Level::Bad);
    assert!(found.text.contains("ZADD"), "{}", found.text);
}

#[tokio::test]
async fn doctor_says_what_weakens() {
    let level = |findings: &[protocol::Finding], name: &str| {
        findings.iter().find(|finding| finding.name == name).map(|finding| finding.level)
    };
    let server = Redis::start();
    let good = doctor(&at(&server.url()).await).await;
    assert_eq!(level(&good, "server"), Some(Level::Ok));
    assert_eq!(level(&good, "memory"), Some(Level::Warn), "no limit");
    for name in ["role", "eviction", "snapshots", "permissions"] {
        assert_eq!(level(&good, name), Some(Level::Ok), "{name}: {good:?}");
    }
    assert_eq!(server.say("EXISTS rm:{remora:default}:doctor"), ":0\r\n", "nothing is left of the trials");

    let more = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru", "--appendonly", "yes"];
    let server = Redis::start_with(&program(), &more);
    let weak = doctor(&at(&format!("{}?eviction=allow", server.url())).await).await;
    assert_eq!(level(&weak, "eviction"), Some(Level::Bad));
    assert_eq!(level(&weak, "snapshots"), Some(Level::Warn));
    assert_eq!(level(&weak, "memory"), Some(Level::Ok));

    let nobody = doctor(&at(&format!("redis://127.0.0.1:{}", free_port())).await).await;
    assert_eq!((nobody.len(), nobody[0].level), (1, Level::Bad));
}

#[tokio::test]
async fn a_unix_socket_leads_to_a_server() {
    let folder = Folder::new("socket");
    let path = folder.path().join("redis.sock").display().to_string();
    let server = Redis::start_with(&program(), &["--unixsocket", &path]);
    let world = World::open_at(server, &format!("redis+unix://{path}")).await;
    world.execute(1).await;
}

/// An authority, and certificates of it for a server and a client, in files.
fn certificates(folder: &Path) {
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.distinguished_name.push(rcgen::DnType::CommonName, "authority of a test");
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = authority.self_signed(&authority_key).unwrap();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    std::fs::write(folder.join("ca.pem"), certificate.pem()).unwrap();
    for name in ["server", "client"] {
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut wanted = rcgen::CertificateParams::new(names).unwrap();
        wanted.distinguished_name.push(rcgen::DnType::CommonName, name);
        let signed = wanted.signed_by(&key, &issuer).unwrap();
        std::fs::write(folder.join(format!("{name}.pem")), signed.pem()).unwrap();
        std::fs::write(folder.join(format!("{name}.key")), key.serialize_pem()).unwrap();
    }
}

#[tokio::test]
async fn tls_needs_the_right_authority_and_a_certificate_where_the_server_wants_one() {
    let folder = Folder::new("tls");
    certificates(folder.path());
    let file = |name: &str| folder.path().join(name).display().to_string();
    let port = free_port().to_string();
    let (ca, cert, key) = (file("ca.pem"), file("server.pem"), file("server.key"));
    let more = [
        "--tls-port",
        &port,
        "--tls-ca-cert-file",
        &ca,
        "--tls-cert-file",
        &cert,
        "--tls-key-file",
        &key,
        "--tls-auth-clients",
        "yes",
    ];
    // Debian's, always: not every build of the others can speak TLS.
    let server = Redis::start_with(Path::new("redis-server"), &more);
    let plain = format!("rediss://localhost:{port}");
    let (kind, text) = refused(&plain).await;
    assert_eq!(kind, FaultKind::Unreachable, "the system does not know the authority: {text}");
    let (kind, text) = refused(&format!("{plain}?ca={ca}")).await;
    assert_ne!(kind, FaultKind::Corrupt, "the server wants a certificate: {text}");
    let url = format!("{plain}?ca={ca}&cert={}&key={}", file("client.pem"), file("client.key"));
    let world = World::open_at(server, &url).await;
    world.execute(1).await;
    let (_, text) = refused(&format!("{plain}?ca={}", file("nothing.pem"))).await;
    assert!(text.contains("nothing.pem"), "{text}");
}

/// A Sentinel that watches a master.
fn sentinel(folder: &Path, number: u16, master: &Redis) -> (Server, u16) {
    let port = free_port();
    let config = folder.join(format!("sentinel-{number}.conf"));
    let dir = folder.join(format!("sentinel-{number}"));
    std::fs::create_dir(&dir).unwrap();
    let text = format!(
        "port {port}\nbind 127.0.0.1\ndir {}\nsentinel monitor main 127.0.0.1 {} 2\n\
         sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 5000\n",
        dir.display(),
        master.port(),
    );
    std::fs::write(&config, text).unwrap();
    let words = vec![program().display().to_string(), config.display().to_string(), "--sentinel".to_owned()];
    (Server::start(words, folder.join(format!("sentinel-{number}.log"))), port)
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(60), wait).await.is_ok(), "in vain: {what}");
}

#[tokio::test]
async fn a_failover_by_sentinels_is_a_loss_that_running_work_survives() {
    let folder = Folder::new("sentinels");
    let master = Redis::start();
    let replica = Redis::start_with(&program(), &["--replicaof", &format!("127.0.0.1 {}", master.port())]);
    until("the replica follows", async || replica.say("INFO replication").contains("master_link_status:up"))
        .await;
    let watching: Vec<_> = (0..3).map(|number| sentinel(folder.path(), number, &master)).collect();
    let hosts: Vec<_> = watching.iter().map(|(_, port)| format!("127.0.0.1:{port}")).collect();
    // The first one does not exist: the next is asked.
    let url = format!("redis+sentinel://127.0.0.1:{},{}/main", free_port(), hosts.join(","));
    let ready = async || at(&url).await.pool().await.is_ok();
    until("the sentinels answer", ready).await;
    let mut world = World::open_at(master, &url).await;
    world.execute(1).await;
    until("the sentinels know the replica", async || {
        let text = say_to(watching[0].1, "SENTINEL master main").unwrap_or_default();
        let words: Vec<_> = text.lines().filter(|line| !line.starts_with(['$', '*'])).collect();
        let of = |name: &str| words.windows(2).find(|two| two[0] == name).map(|two| two[1].to_owned());
        of("num-slaves").as_deref() == Some("1") && of("num-other-sentinels").as_deref() == Some("2")
    })
    .await;
    world.server.server().kill();
    assert_eq!(
        world.pool_when_it_answers().await.mark.epoch,
        0,
        "the replica has the state, and is another process"
    );
    assert!(replica.say("INFO replication").contains("role:master"));
    assert_eq!(world.try_renew(1).await.unwrap(), Some(Guard::Stale));
    world.install(2).await;
    assert_eq!(world.restore(1).await, None);
    assert_eq!(world.try_renew(1).await.unwrap(), None);
}
