//! TLS with rustls and ring, after libpq's `sslmode`.
//!
//! Promises that `verify-ca` and `verify-full` refuse what they cannot verify, and that `require` never goes on in plain
//! text. As with libpq, `prefer` and `require` keep out listeners, not impostors.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Address, Secured};

/// A certificate or key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file cannot be read, or holds nothing of the kind.
    #[error("cannot read {what} {}", path.display())]
    File {
        /// Which setting names it.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// There is no root to verify with.
    #[error("no root certificate is trusted here; name one with sslrootcert")]
    NoRoots,
    /// rustls refuses what it was given.
    #[error("cannot set up TLS")]
    Refused(#[source] Error),
    /// rustls refuses the roots.
    #[error("cannot verify with these roots")]
    Roots(#[source] rustls::client::VerifierBuilderError),
}

/// What makes connections secure.
pub fn connector(address: &Address) -> Result<MakeRustlsConnect, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match address.secured {
        Secured::Disable | Secured::Prefer | Secured::Require => {
            Arc::new(Lenient { provider: Arc::clone(&provider), chain: None })
        }
        Secured::VerifyCa => Arc::new(Lenient {
            provider: Arc::clone(&provider),
            chain: Some(strict(address.root_cert.as_deref(), &provider)?),
        }),
        Secured::VerifyFull => strict(address.root_cert.as_deref(), &provider)?,
    };
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(TlsError::Refused)?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let config = match &address.client_cert {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates("sslcert", certificate)?;
            let bad = |source| TlsError::File { what: "sslkey", path: key.clone(), source };
            let key = PrivateKeyDer::from_pem_file(key).map_err(bad)?;
            builder.with_client_auth_cert(chain, key).map_err(TlsError::Refused)?
        }
    };
    Ok(MakeRustlsConnect::new(config))
}

fn certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bad = |source| TlsError::File { what, path: path.to_owned(), source };
    CertificateDer::pem_file_iter(path).map_err(bad)?.collect::<Result<_, _>>().map_err(bad)
}

/// The roots of a file, or the system's where none is named (or `system`, as libpq has it).
fn strict(
    root: Option<&Path>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    match root.filter(|root| *root != Path::new("system")) {
        Some(path) => {
            for certificate in certificates("sslrootcert", path)? {
                roots.add(certificate).map_err(TlsError::Refused)?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err(TlsError::NoRoots);
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(TlsError::Roots)
}

/// Asks less than all: nothing, or only who signed.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The name is asked last, when the chain holds.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
