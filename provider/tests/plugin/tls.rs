//! Whom the provider talks to.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use equiform_proto::tfplugin6::get_provider_schema;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, PKCS_ECDSA_P521_SHA512};
use rustls::client::WantsClientCert;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};
use tokio::net::UnixStream;
use tokio_rustls::TlsConnector;

use crate::support::*;

/// A certificate as hosts make it: P-521, self-signed, an authority, for localhost.
struct Host {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

impl Host {
    fn new() -> Self {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P521_SHA512).unwrap();
        let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Self { certificate, key }
    }

    fn pem(&self) -> String {
        let lines = STANDARD.encode(&self.certificate);
        let lines: Vec<_> = lines.as_bytes().chunks(64).map(|line| str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", lines.join("\n"))
    }

    fn key(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.serialize_der()).into()
    }
}

fn start_for(host: &Host) -> Plugin {
    Plugin::start_with(|command| {
        command.env("PLUGIN_CLIENT_CERT", host.pem());
    })
}

/// Asks for the schema over TLS, with the certificate and key given.
async fn ask(
    plugin: &Plugin,
    identity: Option<(CertificateDer<'static>, PrivateKeyDer<'static>)>,
) -> Result<(), String> {
    let config = trusting(plugin);
    let config = match identity {
        Some((certificate, key)) => config.with_client_auth_cert(vec![certificate], key).unwrap(),
        None => config.with_no_client_auth(),
    };
    ask_with(plugin, config).await
}

/// A client that trusts the certificate in the handshake line alone.
fn trusting(plugin: &Plugin) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    let mut roots = RootCertStore::empty();
    roots.add(STANDARD_NO_PAD.decode(plugin.fields()[5]).unwrap().into()).unwrap();
    ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
}

async fn ask_with(plugin: &Plugin, mut config: ClientConfig) -> Result<(), String> {
    config.alpn_protocols = vec![b"h2".to_vec()];
    let stream = UnixStream::connect(plugin.socket()).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream =
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|e| e.to_string())?;
    ask_over(stream).await
}

async fn ask_over<S>(stream: S) -> Result<(), String>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let channel = channel_over(stream).await.map_err(|error| error.to_string())?;
    let answer = Engine::new(channel).provider.get_provider_schema(get_provider_schema::Request {}).await;
    answer.map(drop).map_err(|error| error.to_string())
}

#[test]
fn the_engine_that_started_the_provider_is_served() {
    let host = Host::new();
    let plugin = start_for(&host);
    assert!(!plugin.fields()[5].is_empty() && !plugin.fields()[5].ends_with('='));
    run(ask(&plugin, Some((host.certificate.clone(), host.key())))).unwrap();
}

#[test]
fn nobody_else_is_served() {
    let (host, other) = (Host::new(), Host::new());
    let mut plugin = start_for(&host);
    run(async {
        let refusals = [
            ("no certificate", ask(&plugin, None).await),
            ("another certificate", ask(&plugin, Some((other.certificate.clone(), other.key()))).await),
            ("plaintext", ask_over(UnixStream::connect(plugin.socket()).await.unwrap()).await),
        ];
        for (who, refusal) in refusals {
            assert!(refusal.is_err(), "{who} was served");
        }
        // And the right one still is.
        ask(&plugin, Some((host.certificate.clone(), host.key()))).await.unwrap();
    });
    signal(plugin.child.id(), libc::SIGTERM);
    plugin.child.wait().unwrap();
    assert_eq!(plugin.stderr().matches("a connection was refused").count(), 3);
}

#[test]
fn the_right_certificate_without_its_key_is_refused() {
    let (host, thief) = (Host::new(), Host::new());
    let plugin = start_for(&host);
    // rustls would not send a certificate with a key that is not its own; the signature is what the provider checks.
    let stolen = run(ask_with_stolen_certificate(&plugin, &host, &thief));
    assert!(stolen.is_err());
}

async fn ask_with_stolen_certificate(plugin: &Plugin, host: &Host, thief: &Host) -> Result<(), String> {
    #[derive(Debug)]
    struct Stolen(Arc<rustls::sign::CertifiedKey>);
    impl rustls::client::ResolvesClientCert for Stolen {
        fn resolve(
            &self,
            _: &[&[u8]],
            _: &[rustls::SignatureScheme],
        ) -> Option<Arc<rustls::sign::CertifiedKey>> {
            Some(self.0.clone())
        }

        fn has_certs(&self) -> bool {
            true
        }
    }
    let key = aws_lc_rs::sign::any_supported_type(&thief.key()).unwrap();
    let stolen = rustls::sign::CertifiedKey::new(vec![host.certificate.clone()], key);
    ask_with(plugin, trusting(plugin).with_client_cert_resolver(Arc::new(Stolen(Arc::new(stolen))))).await
}
