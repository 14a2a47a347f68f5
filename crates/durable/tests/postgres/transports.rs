//! The ways to a server: TLS in each mode, sockets, passwords, a pooler.

use std::error::Error as _;
use std::path::Path;

use protocol::JobId;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use remora_durable::postgres::migrate::{self, Setup};
use remora_durable::postgres::{OpenError, Options, PostgresRoom, Statements, doctor};
use remora_durable::{Durable, DurableReads};
use testbed::{Folder, Postgres, postgres::Pooler};

use crate::help::{ORIGIN, a_day, client, submit};

/// A root, and a certificate of it for `localhost`; the server's key can only be read by the server.
struct Certificates {
    folder: Folder,
}

impl Certificates {
    fn new() -> Self {
        let folder = Folder::new("certificates");
        let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
        for (root, leaf) in [("root", Some("server")), ("other", None)] {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.distinguished_name.push(DnType::CommonName, root);
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
            write(&format!("{root}.pem"), issuer.pem());
            if let Some(leaf) = leaf {
                let key = KeyPair::generate().unwrap();
                let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
                write(&format!("{leaf}.pem"), params.signed_by(&key, &issuer).unwrap().pem());
                write(&format!("{leaf}.key"), key.serialize_pem());
            }
        }
        testbed::postgres::give_to_postgres(folder.path());
        Self { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

/// The whole of an error in one line.
fn told(error: &OpenError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

async fn open(url: &str) -> Result<PostgresRoom, String> {
    PostgresRoom::open(url, Options::default()).await.map_err(|error| told(&error))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_sslmode_gives_libpqs_verdict() {
    let files = Certificates::new();
    let settings = [
        ("ssl", "on"),
        ("ssl_cert_file", &*files.path("server.pem")),
        ("ssl_key_file", &*files.path("server.key")),
    ];
    let server = Postgres::start_with(&settings);
    let plain = Postgres::start();
    for one in [&server, &plain] {
        migrate::up(&format!("{}?sslmode=disable", one.url()), &Setup::default()).await.unwrap();
    }
    let at = |host: &str, query: &str| {
        let root = files.path("root.pem");
        let other = files.path("other.pem");
        let query = query.replace("ROOT", &root).replace("OTHER", &other);
        format!("postgres://postgres@{host}:{}/postgres?{query}", server.port())
    };
    let admin = client(&server.url()).await;
    let secured = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
                   WHERE s.ssl AND a.application_name = $1";
    let good = [
        ("127.0.0.1", "sslmode=disable", false),
        ("127.0.0.1", "sslmode=prefer", true),
        ("127.0.0.1", "sslmode=require", true),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=ROOT", true),
        ("localhost", "sslmode=verify-full&sslrootcert=ROOT", true),
    ];
    for (number, (host, query, tls)) in good.into_iter().enumerate() {
        let name = format!("tls-{number}");
        let room = open(&at(host, &format!("{query}&application_name={name}"))).await.unwrap();
        room.phases(&[JobId(1)]).await.unwrap();
        let count: i64 = admin.query_one(secured, &[&name]).await.unwrap().get(0);
        assert_eq!(count > 0, tls, "{query}");
    }
    let bad = [
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=ROOT", "not valid for name"),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=OTHER", "UnknownIssuer"),
        ("127.0.0.1", "sslmode=require&sslrootcert=OTHER", "UnknownIssuer"),
        ("localhost", "sslmode=verify-full&sslrootcert=OTHER", "UnknownIssuer"),
        ("localhost", "sslmode=verify-full&sslrootcert=/none.pem", "cannot read sslrootcert /none.pem"),
    ];
    for (host, query, text) in bad {
        let said = open(&at(host, query)).await.unwrap_err();
        assert!(said.contains(text), "{query}: {said}");
    }
    let said = open(&format!("{}?sslmode=require", plain.url())).await.unwrap_err();
    assert!(said.contains("server does not support TLS"), "{said}");
    open(&format!("{}?sslmode=prefer", plain.url())).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_a_password_of_any_characters_and_a_wrong_one() {
    let server = Postgres::start();
    let admin = client(&server.url()).await;
    admin.batch_execute("CREATE ROLE \"a@b\" SUPERUSER LOGIN PASSWORD 'p@ss/w#rd%25?:[x]'").await.unwrap();
    admin.batch_execute("CREATE DATABASE \"d b\"").await.unwrap();
    let rules = server.folder().join("cluster/pg_hba.conf");
    let before = std::fs::read_to_string(&rules).unwrap();
    std::fs::write(&rules, format!("host all \"a@b\" 127.0.0.1/32 scram-sha-256\n{before}")).unwrap();
    admin.query("SELECT pg_reload_conf()", &[]).await.unwrap();
    let socket = server.folder().display().to_string().replace('/', "%2F");
    let over_socket = format!("postgres://postgres@{socket}:{}/d%20b?sslmode=verify-full", server.port());
    migrate::up(&over_socket, &Setup::default()).await.unwrap();
    a_day(&open(&over_socket).await.unwrap()).await;
    let with = |password: &str| format!("postgres://a%40b:{password}@127.0.0.1:{}/d%20b", server.port());
    let room = open(&with("p%40ss%2Fw%23rd%2525%3F%3A%5Bx%5D")).await.unwrap();
    assert!(!format!("{room:?}").contains("p@ss"));
    let said = open(&with("s3cret")).await.unwrap_err();
    assert!(said.contains("password authentication failed") && !said.contains("s3cret"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_pooler_in_transaction_mode_statements_are_sent_whole_and_all_of_it_works() {
    let server = Postgres::start();
    let direct = format!("{}?sslmode=disable", server.url());
    migrate::up(&direct, &Setup::default()).await.unwrap();
    let pooler = Pooler::start(&server, "transaction");
    let url = format!("{}?sslmode=disable", pooler.url());
    let room = open(&url).await.unwrap();
    assert_eq!(room.address().statements, Statements::Unnamed, "it was found out");
    a_day(&room).await;
    let findings = doctor(&room).await.unwrap();
    assert!(
        findings.iter().any(|one| one.name == "pool_mode" && one.level == protocol::Level::Warn),
        "{findings:?}"
    );
    assert_eq!(open(&direct).await.unwrap().address().statements, Statements::Named);
    // Many callers over few sessions of the server.
    let requests: Vec<_> = (100..140).map(|number| [submit(number)]).collect();
    let all = requests.iter().map(|request| room.submit(&ORIGIN, request));
    assert!(futures_util::future::join_all(all).await.iter().all(Result::is_ok));
    let admin = client(&direct).await;
    let strict = "ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'";
    admin.batch_execute(strict).await.unwrap();
    drop(pooler);
    let pooler = Pooler::start(&server, "transaction");
    let said = open(&format!("{}?sslmode=disable", pooler.url())).await.unwrap_err();
    assert!(said.contains("are `serializable` by default"), "{said}");
    open(&direct).await.unwrap().submit(&ORIGIN, &[submit(200)]).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_doctor_names_what_weakens_the_promise() {
    let server = Postgres::start_with(&[("synchronous_commit", "off")]);
    let url = format!("{}?sslmode=disable", server.url());
    migrate::up(&url, &Setup::default()).await.unwrap();
    let findings = doctor(&open(&url).await.unwrap()).await.unwrap();
    let weight = |name: &str| findings.iter().find(|one| one.name == name).unwrap().level;
    assert_eq!((weight("synchronous_commit"), weight("fsync")), (protocol::Level::Bad, protocol::Level::Bad));
    assert_eq!((weight("full_page_writes"), weight("replica")), (protocol::Level::Warn, protocol::Level::Ok));
    assert_eq!(
        (weight("permissions"), weight("isolation"), weight("clock")),
        (protocol::Level::Ok, protocol::Level::Ok, protocol::Level::Ok)
    );
    assert!(Path::new(server.folder()).exists());
}
