//! HTTPS, from a certificate chain and a key in PEM files.

use std::sync::Arc;

use anyhow::{Context, Result};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::TlsFiles;

pub(super) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let certificates = CertificateDer::pem_file_iter(&files.certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("{} holds no certificate", files.certificates.display()))?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .with_context(|| format!("{} holds no private key", files.key.display()))?;
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .context("the certificate and the key do not belong together")?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
