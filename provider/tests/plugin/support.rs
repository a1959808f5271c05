//! Starting the provider's binary as an engine does, and speaking to it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use equiform_proto::goplugin::Empty;
use equiform_proto::goplugin::grpc_controller_client::GrpcControllerClient;
use equiform_proto::tfplugin6::provider_client::ProviderClient;
use equiform_proto::tfplugin6::{
    Diagnostic, DynamicValue, apply_resource_change, configure_provider, plan_resource_change, read_resource,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value as Json, json};
use tokio::net::UnixStream;
use tonic::transport::{Channel, Endpoint, Uri};

pub const COOKIE: &str = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2";
const MESSAGE_LIMIT: usize = 256 << 20;

pub fn run<T>(task: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(task)
}

/// The binary with the environment that an engine gives it, in a folder of its own.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terraform-provider-mock"));
    command
        .env_clear()
        .env("TMPDIR", folder)
        .env("TF_PLUGIN_MAGIC_COOKIE", COOKIE)
        .env("PLUGIN_PROTOCOL_VERSIONS", "5,6")
        .env("PLUGIN_MIN_PORT", "10000")
        .env("PLUGIN_MAX_PORT", "25000")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A running provider; killed when dropped.
pub struct Plugin {
    pub child: Child,
    pub line: String,
    pub folder: tempfile::TempDir,
    pub stdout: BufReader<ChildStdout>,
}

impl Plugin {
    /// In plaintext.
    pub fn start() -> Self {
        Self::start_with(|_| {})
    }

    pub fn start_with(prepare: impl FnOnce(&mut Command)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = command(folder.path());
        prepare(&mut command);
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        Self { child, line, folder, stdout }
    }

    pub fn fields(&self) -> Vec<&str> {
        self.line.trim_end_matches('\n').split('|').collect()
    }

    pub fn socket(&self) -> PathBuf {
        self.fields()[3].into()
    }

    pub fn ledger(&self) -> PathBuf {
        self.folder.path().join("equiform.ledger.jsonl")
    }

    pub async fn channel(&self) -> Channel {
        let stream = UnixStream::connect(self.socket()).await.unwrap();
        channel_over(stream).await.unwrap()
    }

    /// A connection of its own, configured for the default ledger in the plugin's folder.
    pub async fn engine(&self) -> Engine {
        let mut engine = Engine::new(self.channel().await);
        assert_eq!(engine.configure(&self.ledger()).await, []);
        engine
    }

    /// Asks for the end as an engine does, and waits for it.
    pub async fn shut_down(&mut self) -> (ExitStatus, Duration) {
        let start = Instant::now();
        let mut controller = GrpcControllerClient::new(self.channel().await);
        // The answer may be lost with the connection.
        let _ = controller.shutdown(Empty {}).await;
        // Connections are looked after meanwhile, as they are in an engine: their ends answer the provider's good-bye.
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, start.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// All that is on stderr, once the process has ended.
    pub fn stderr(&mut self) -> String {
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    /// A number from the kernel's account of the process, such as `VmHWM` of `status`.
    pub fn account(&self, file: &str, name: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/{file}", self.child.id())).unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
        value.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub async fn channel_over<S>(stream: S) -> Result<Channel, tonic::transport::Error>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let mut stream = Some(stream);
    let connect = tower::service_fn(move |_: Uri| {
        let stream = stream.take().map(TokioIo::new);
        async { stream.ok_or_else(|| std::io::Error::other("the connection was lost")) }
    });
    Endpoint::from_static("http://localhost").connect_with_connector(connect).await
}

/// What an engine does with a provider.
pub struct Engine {
    pub provider: ProviderClient<Channel>,
}

/// An object as an engine keeps it.
#[derive(Debug, Clone)]
pub struct Kept {
    pub state: DynamicValue,
    pub private: Vec<u8>,
}

impl Engine {
    pub fn new(channel: Channel) -> Self {
        let provider = ProviderClient::new(channel)
            .max_decoding_message_size(MESSAGE_LIMIT)
            .max_encoding_message_size(MESSAGE_LIMIT);
        Self { provider }
    }

    pub async fn configure(&mut self, ledger: &Path) -> Vec<Diagnostic> {
        let config = Some(value(&json!({"ledger": ledger, "run": null})));
        let request = configure_provider::Request { config, ..configure_provider::Request::default() };
        self.provider.configure_provider(request).await.unwrap().into_inner().diagnostics
    }

    pub async fn plan(
        &mut self,
        prior: Option<&Kept>,
        proposed: DynamicValue,
    ) -> plan_resource_change::Response {
        let private = prior.map(|prior| prior.private.clone()).unwrap_or_default();
        self.plan_with(prior, private, proposed).await
    }

    /// Plans an object that takes the place of another, as engines do: without an object before, and with what is kept
    /// beside the one that goes.
    pub async fn plan_replacement(
        &mut self,
        replaced: &Kept,
        proposed: DynamicValue,
    ) -> plan_resource_change::Response {
        self.plan_with(None, replaced.private.clone(), proposed).await
    }

    async fn plan_with(
        &mut self,
        prior: Option<&Kept>,
        prior_private: Vec<u8>,
        proposed: DynamicValue,
    ) -> plan_resource_change::Response {
        let request = plan_resource_change::Request {
            type_name: "mock_node".to_owned(),
            prior_state: Some(prior.map_or_else(null, |prior| prior.state.clone())),
            prior_private,
            config: Some(proposed.clone()),
            proposed_new_state: Some(proposed),
            ..plan_resource_change::Request::default()
        };
        self.provider.plan_resource_change(request).await.unwrap().into_inner()
    }

    pub async fn apply(
        &mut self,
        prior: Option<&Kept>,
        plan: plan_resource_change::Response,
    ) -> apply_resource_change::Response {
        let request = apply_resource_change::Request {
            type_name: "mock_node".to_owned(),
            prior_state: Some(prior.map_or_else(null, |prior| prior.state.clone())),
            planned_state: plan.planned_state,
            planned_private: plan.planned_private,
            ..apply_resource_change::Request::default()
        };
        self.provider.apply_resource_change(request).await.unwrap().into_inner()
    }

    pub async fn create(&mut self, key: &str) -> Kept {
        let plan = self.plan(None, node(key, None)).await;
        assert_eq!(plan.diagnostics, []);
        let answer = self.apply(None, plan).await;
        assert_eq!(answer.diagnostics, []);
        Kept { state: answer.new_state.unwrap(), private: answer.private }
    }

    pub async fn read(&mut self, kept: &Kept) -> read_resource::Response {
        let request = read_resource::Request {
            type_name: "mock_node".to_owned(),
            current_state: Some(kept.state.clone()),
            private: kept.private.clone(),
            ..read_resource::Request::default()
        };
        self.provider.read_resource(request).await.unwrap().into_inner()
    }
}

impl Kept {
    /// The minted id within the state.
    pub fn id(&self) -> String {
        let bytes = &self.state.msgpack;
        let start = bytes.windows(5).position(|window| window == b"node-").unwrap();
        String::from_utf8(bytes[start..start + 25].to_vec()).unwrap()
    }
}

pub fn value(json: &Json) -> DynamicValue {
    DynamicValue { json: json.to_string().into_bytes(), msgpack: Vec::new() }
}

pub fn null() -> DynamicValue {
    DynamicValue { msgpack: vec![0xc0], json: Vec::new() }
}

pub fn node(key: &str, label: Option<&str>) -> DynamicValue {
    value(&json!({"key": key, "label": label}))
}

/// Waits until something is so; fails after ten seconds.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < deadline, "still not so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn is_alive(pid: u32) -> bool {
    // A zombie is as good as gone.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

pub fn signal(pid: u32, signal: i32) {
    // SAFETY: `kill` touches no memory of ours.
    assert_eq!(unsafe { libc::kill(i32::try_from(pid).unwrap(), signal) }, 0);
}

/// The outcome of a start that does not succeed.
pub fn failed_start(vary: impl FnOnce(&mut Command)) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    vary(&mut command);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The folder's content by name.
pub fn names_in(folder: impl AsRef<Path>) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        OsStr::to_string_lossy(&entry.unwrap().file_name()).into_owned()
    };
    std::fs::read_dir(folder).unwrap().map(name).collect()
}
