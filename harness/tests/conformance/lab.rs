//! A folder with a program, an engine over one version of the protocol, and which RPCs that engine has called.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Deref;
use std::sync::Mutex;

use equiform::engines::EngineSpec;

use crate::support::{Engine, Workspace};

/// A rule of the protocol: a sentence, and the function that finds out whether it holds.
pub struct Rule {
    /// The sentence.
    pub name: &'static str,
    /// Whether an engine has what the rule is about.
    pub needs: fn(&EngineSpec) -> bool,
    /// Panics if the sentence does not hold.
    pub run: fn(&Lab),
}

/// A list of rules, by the names of their functions. What comes before `=>` is what they need of the engine.
macro_rules! rules {
    ($($needs:expr => [$($name:ident),* $(,)?]),* $(,)?) => {
        &[$($($crate::lab::Rule { name: stringify!($name), needs: $needs, run: $name },)*)*]
    };
}
pub(crate) use rules;

/// A version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    Five,
    Six,
}

impl Protocol {
    pub const ALL: [Self; 2] = [Self::Six, Self::Five];

    pub fn number(self) -> &'static str {
        match self {
            Self::Five => "5",
            Self::Six => "6",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Five => "protocol_5",
            Self::Six => "protocol_6",
        }
    }

    /// The names of all its RPCs, as its service has them.
    pub fn rpcs(self) -> Vec<&'static str> {
        let definition = match self {
            Self::Five => include_str!("../../../proto/proto/tfplugin5.proto"),
            Self::Six => include_str!("../../../proto/proto/tfplugin6.proto"),
        };
        let rpc = |line: &'static str| line.trim().strip_prefix("rpc ")?.split('(').next();
        definition.lines().filter_map(rpc).collect()
    }

    /// Protocol 6's name for an RPC of this one.
    fn name_in_6(self, rpc: &str) -> &str {
        match (self, rpc) {
            (Self::Five, "GetSchema") => "GetProviderSchema",
            (Self::Five, "PrepareProviderConfig") => "ValidateProviderConfig",
            (Self::Five, "ValidateResourceTypeConfig") => "ValidateResourceConfig",
            (Self::Five, "ValidateDataSourceConfig") => "ValidateDataResourceConfig",
            (Self::Five, "Configure") => "ConfigureProvider",
            (Self::Five, "Stop") => "StopProvider",
            _ => rpc,
        }
    }
}

/// Which RPCs each engine has called in all rules together, by protocol and engine.
static CALLED: Mutex<BTreeMap<(Protocol, String), BTreeSet<String>>> = Mutex::new(BTreeMap::new());

/// Whether an engine has called an RPC in any rule.
pub fn has_called(protocol: Protocol, spec: &EngineSpec, rpc: &str) -> bool {
    let called = CALLED.lock().expect("no holder panics");
    called.get(&(protocol, spec.to_string())).is_some_and(|called| called.contains(rpc))
}

/// A workspace in which the provider writes down which RPCs came in.
pub struct Lab {
    workspace: Workspace,
    protocol: Protocol,
    spec: EngineSpec,
    pub engine: Engine,
}

impl Lab {
    pub fn new(engine: &Engine, spec: &EngineSpec, protocol: Protocol) -> Self {
        let mut workspace = Workspace::empty(engine);
        workspace.set("EQUIFORM_RPC_LOG", workspace.path("rpcs"));
        workspace.set("EQUIFORM_PROTOCOL", protocol.number());
        Self { workspace, protocol, spec: spec.clone(), engine: engine.clone() }
    }

    /// Sets a variable for every command from now on.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.workspace.set(name, value);
    }

    /// Writes the program and has `init` see it.
    pub fn start(&self, program: &str) {
        self.write(program);
        self.init();
    }

    /// The version of the protocol.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// How often each RPC was called meanwhile, by protocol 6's names.
    #[track_caller]
    pub fn calls(&self, act: impl FnOnce()) -> Calls {
        let log = self.path("rpcs");
        let lines = || fs::read_to_string(&log).unwrap_or_default();
        let before = lines().lines().count();
        act();
        let service = format!("tfplugin{}.Provider/", self.protocol.number());
        let mut calls = BTreeMap::new();
        let text = lines();
        let mut called = CALLED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let called = called.entry((self.protocol, self.spec.to_string())).or_default();
        for line in text.lines().skip(before) {
            let rpc = line.strip_prefix(&service);
            let rpc = rpc.unwrap_or_else(|| panic!("not over protocol {:?}: {line}", self.protocol));
            called.insert(rpc.to_owned());
            *calls.entry(self.protocol.name_in_6(rpc).to_owned()).or_default() += 1;
        }
        Calls(calls)
    }

    /// What a command calls that must succeed.
    #[track_caller]
    pub fn calls_of(&self, arguments: &[&str]) -> Calls {
        self.calls(|| {
            self.run(arguments).succeeded();
        })
    }
}

impl Deref for Lab {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}

/// How often RPCs were called.
#[derive(Debug)]
pub struct Calls(BTreeMap<String, usize>);

impl Calls {
    pub fn of(&self, rpc: &str) -> usize {
        assert!(Protocol::Six.rpcs().contains(&rpc), "there is no RPC {rpc}");
        self.0.get(rpc).copied().unwrap_or_default()
    }

    /// Demands that each of these was called.
    #[track_caller]
    pub fn include(&self, rpcs: &[&str]) -> &Self {
        for rpc in rpcs {
            assert!(self.of(rpc) > 0, "{rpc} was not called: {self:?}");
        }
        self
    }
}
