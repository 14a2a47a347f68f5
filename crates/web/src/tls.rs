//! Certificate and key.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Where certificate and key lie, in PEM.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The certificate, and those that lead to its authority.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// Why they cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsFilesError {
    /// The certificate cannot be read.
    #[error("cannot read a certificate from {}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rustls::pki_types::pem::Error,
    },
    /// There is none in the file.
    #[error("there is no certificate in {}", path.display())]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// The key cannot be read.
    #[error("cannot read a key from {}", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rustls::pki_types::pem::Error,
    },
    /// They do not belong together, or are of a kind that is not known.
    #[error("the certificate {} and the key {} cannot be used", files.certificate.display(), files.key.display())]
    Pair {
        /// Both.
        files: TlsFiles,
        /// Why.
        source: rustls::Error,
    },
}

impl TlsFiles {
    /// What to speak TLS with.
    ///
    /// # Errors
    /// Names the file and what is wrong with it.
    pub fn load(&self) -> Result<Arc<ServerConfig>, TlsFilesError> {
        let unreadable = |source| TlsFilesError::Certificate { path: self.certificate.clone(), source };
        let chain = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(unreadable)?;
        if chain.is_empty() {
            return Err(TlsFilesError::NoCertificate { path: self.certificate.clone() });
        }
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|source| TlsFilesError::Key { path: self.key.clone(), source })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let pair = |source| TlsFilesError::Pair { files: self.clone(), source };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(pair)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}
