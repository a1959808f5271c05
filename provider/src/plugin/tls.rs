//! Whom we talk to: the one host whose certificate came with the handshake, and nobody else.
//!
//! The host's certificate is self-signed, on the curve P-521, and marked as an authority. A chain check would
//! refuse it, and would prove nothing: what counts is that it is this very certificate, and that the peer
//! holds its key.

use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme};

/// Our side of the connection.
pub struct Tls {
    /// For the accept loop.
    pub config: Arc<ServerConfig>,
    /// For the handshake line.
    pub certificate: CertificateDer<'static>,
}

/// TLS that cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum TlsFailure {
    /// The certificate in the environment is not one.
    #[error("the engine's certificate in PLUGIN_CLIENT_CERT cannot be read: {0}")]
    ClientCertificate(rustls::pki_types::pem::Error),
    /// Our own certificate could not be made.
    #[error("the provider's certificate cannot be made: {0}")]
    OwnCertificate(#[from] rcgen::Error),
    /// The library refused the set-up.
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] rustls::Error),
}

/// A server that talks to the holder of this certificate only.
pub fn pinned_to(client_certificate_pem: &str) -> Result<Tls, TlsFailure> {
    let pinned = CertificateDer::from_pem_slice(client_certificate_pem.as_bytes())
        .map_err(TlsFailure::ClientCertificate)?;
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let certificate = own.cert.der().clone();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Arc::new(Pinned { certificate: pinned, provider: provider.clone() });
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate.clone()], key)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(Tls { config: Arc::new(config), certificate })
}

#[derive(Debug)]
struct Pinned {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        // No hint: the host has one certificate and would not offer it if its issuer were not listed.
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        if *end_entity == self.certificate {
            Ok(ClientCertVerified::assertion())
        } else {
            Err(rustls::CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
