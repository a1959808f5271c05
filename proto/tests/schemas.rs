//! Faults, holds and the messages of the control channel are what the schemas in `docs/schema/` say, and what those
//! refuse is refused here as well.

use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use equiform_proto::control::{
    Announcement, Answer, CONTROL_VERSION, Calls, Endpoint, Network, Request, Run,
};
use equiform_proto::faults::{Breach, Fault, FaultAction, FaultOperation, Faults};
use equiform_proto::holds::Hold;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

struct Schema(Schemas, SchemaIndex);

impl Schema {
    fn of(name: &str) -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema").canonicalize().unwrap();
        let index = compiler.compile(path.join(name).to_str().unwrap(), &mut schemas);
        Self(schemas, index.unwrap_or_else(|error| panic!("{error:#}")))
    }

    fn allows(&self, document: &Value) -> bool {
        self.0.validate(document, self.1).is_ok()
    }

    /// Both the schema and the type take the value.
    #[track_caller]
    fn takes<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(&self, value: &T) {
        let document = serde_json::to_value(value).unwrap();
        assert!(self.allows(&document), "{document:#}");
        assert_eq!(serde_json::from_value::<T>(document).unwrap(), *value);
    }

    /// Neither takes the document.
    #[track_caller]
    fn refuses<T: DeserializeOwned + std::fmt::Debug>(&self, document: Value) {
        assert!(!self.allows(&document), "{document:#}");
        assert!(serde_json::from_value::<T>(document.clone()).is_err(), "{document:#}");
    }
}

fn faults() -> Faults {
    let all = FaultOperation::ALL.into_iter().map(|operation| {
        let key = (operation != FaultOperation::Configure).then_some("r1");
        Fault::in_first_call(operation, key, FaultAction::Error)
    });
    let mut partial =
        Fault::in_first_call(FaultOperation::Update, Some("r2"), FaultAction::ErrorWithPartialObject);
    partial.call.nth = 2;
    partial.call.type_name = Some("mock_node".to_owned());
    Faults::new(all.chain([partial]).collect()).unwrap()
}

#[test]
fn faults_are_what_their_schema_says() {
    let schema = Schema::of("faults.json");
    schema.takes(&Faults::default());
    schema.takes(&faults());
    let list = |fault: Value| json!({"version": 1, "faults": [fault]});
    schema.refuses::<Faults>(json!({"version": 3, "faults": []}));
    for breach in Breach::ALL {
        for operation in FaultOperation::ALL {
            let key = (operation != FaultOperation::Configure).then(|| "a".to_owned());
            let fault = Fault::in_first_call(operation, key.as_deref(), FaultAction::Breach(breach));
            match Faults::new(vec![fault.clone()]) {
                Ok(faults) => schema.takes(&faults),
                Err(_) => schema.refuses::<Faults>(json!({"version": 2, "faults": [fault]})),
            }
        }
    }
    schema.refuses::<Faults>(json!({"faults": []}));
    schema.refuses::<Faults>(list(json!({"match": {"operation": "create"}, "action": "error"})));
    schema.refuses::<Faults>(list(json!({"match": {"operation": "create", "key": ""}, "action": "error"})));
    schema
        .refuses::<Faults>(list(json!({"match": {"operation": "configure", "key": "a"}, "action": "error"})));
    schema.refuses::<Faults>(list(
        json!({"match": {"operation": "read", "key": "a", "nth": 0}, "action": "error"}),
    ));
    schema.refuses::<Faults>(list(json!({"match": {"operation": "read", "key": "a"}, "action": "crash"})));
    let partial =
        json!({"match": {"operation": "delete", "key": "a"}, "action": "error_with_partial_object"});
    schema.refuses::<Faults>(list(partial));
}

#[test]
fn holds_are_what_their_schema_says() {
    let schema = Schema::of("hold.json");
    let quiet_for = Hold::UntilQuiet { after: Some(5), seed: u64::MAX };
    for hold in [Hold::Off, Hold::For { milliseconds: 5 }, Hold::QUIET, quiet_for] {
        schema.takes(&hold);
    }
    schema.refuses::<Hold>(json!({"version": 2, "hold": "off"}));
    schema.refuses::<Hold>(json!({"version": 1, "hold": "off", "seed": 1}));
    schema.refuses::<Hold>(json!({"version": 1, "hold": "for"}));
    schema.refuses::<Hold>(json!({"version": 1, "hold": "for", "milliseconds": 3_600_001}));
    schema.refuses::<Hold>(json!({"version": 1, "hold": "schedule"}));
}

#[test]
fn messages_of_the_control_channel_are_what_their_schema_says() {
    let schema = Schema::of("control.json");
    schema.takes(&Announcement { version: CONTROL_VERSION, socket: "/tmp/x/control.sock".into() });
    let run = Run {
        ledger: "/tmp/ledger.jsonl".into(),
        label: Some("batch-1".to_owned()),
        working_directory: "/tmp".into(),
        hold: Hold::QUIET.with_seed(7),
        faults: faults(),
        locked: Some("/tmp/terraform.tfstate".into()),
        engine: Some(42),
    };
    let bare = Run { label: None, faults: Faults::default(), locked: None, engine: None, ..run.clone() };
    for request in [
        Request::Hello { version: CONTROL_VERSION },
        Request::Ping,
        Request::Listen,
        Request::BeginRun { run },
        Request::BeginRun { run: bare },
        Request::EndRun,
    ] {
        schema.takes(&request);
    }
    let endpoint = Endpoint {
        network: Network::Unix,
        address: "/tmp/x/endpoint-1.sock".to_owned(),
        protocol_version: 6,
        pid: 41,
    };
    for answer in [
        Answer::Hello { version: CONTROL_VERSION },
        Answer::Pong,
        Answer::Listening { endpoint },
        Answer::Done,
        Answer::Ended {
            calls: Calls {
                counts: [("ReadResource".to_owned(), 3)].into(),
                validated: [("a".to_owned(), 1)].into(),
                most_at_once: 2,
                unlocked: 1,
            },
        },
        Answer::Ended { calls: Calls::default() },
        Answer::Error { message: "no run has begun".to_owned() },
    ] {
        schema.takes(&answer);
    }
    schema.refuses::<Request>(json!({"request": "stop"}));
    schema.refuses::<Request>(json!({"request": "begin_run", "run": {"ledger": "x"}}));
    schema.refuses::<Request>(json!({"request": "begin_run"}));
}
