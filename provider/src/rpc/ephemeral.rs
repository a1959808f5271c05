//! Ephemeral resources: opened, renewed while they are needed, and closed; each of it stands in the ledger. What they
//! hold does not.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use equiform_proto::Timestamp;
use equiform_proto::ledger::Operation;
use equiform_proto::tfplugin6::{
    Schema, close_ephemeral_resource, open_ephemeral_resource, renew_ephemeral_resource,
    validate_ephemeral_resource_config,
};
use serde::{Deserialize, Serialize};

use super::builtin::{Part, Set, block, part, type_of};
use super::convert::{diagnostics, object_from, object_to};
use super::note::noted;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::Body;
use crate::mint::mint;
use crate::value::{Object, Type, Value};

/// The one type of the mock's own.
pub(super) const TICKET: &str = "mock_ticket";
const KEY: &str = "key";
const RENEW_AFTER: &str = "renew_after_ms";
const ID: &str = "id";
const TOKEN: &str = "token";

static PARTS: LazyLock<[Part; 4]> = LazyLock::new(|| {
    let token = part(TOKEN, Type::String, Set::Computed, "A secret that is never used twice.");
    [
        part(KEY, Type::String, Set::Required, "The ticket's name in the ledger."),
        part(
            RENEW_AFTER,
            Type::Number,
            Set::Optional,
            "After how many milliseconds the engine is to renew the ticket. Without it the ticket lasts.",
        ),
        part(ID, Type::String, Set::Computed, "The ticket's id: minted when it is opened."),
        Part { sensitive: true, ..token },
    ]
});

/// What the engine keeps beside an open resource, and gives back to renew and to close it.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    equiform: u32,
    key: Option<String>,
    id: String,
    renew_after_ms: Option<u64>,
}

impl Kept {
    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data is JSON")
    }

    fn from_bytes(bytes: Option<&[u8]>) -> Result<Self, Problem> {
        let kept = bytes.and_then(|bytes| serde_json::from_slice(bytes).ok());
        kept.filter(|kept: &Self| kept.equiform == 1).ok_or_else(|| {
            Problem::engine("It did not give back what belongs to the ephemeral resource that it opened.")
        })
    }

    fn renew_at(&self) -> Option<Timestamp> {
        let after = Duration::from_millis(self.renew_after_ms?);
        Some(Timestamp::from(SystemTime::now() + after))
    }
}

impl MockProvider {
    pub(super) fn ephemeral_schemas(&self) -> HashMap<String, Schema> {
        let description =
            "A secret that lives as long as a command: opened, renewed and closed in the ledger.";
        HashMap::from([(TICKET.to_owned(), block(description, &*PARTS))])
    }

    fn known_ephemeral(&self, type_name: &str) -> Result<(), Problem> {
        match type_name {
            TICKET => Ok(()),
            _ => Err(Problem::engine(format!(
                "It asked for the ephemeral {type_name:?}, which is not in the provider's schema."
            ))),
        }
    }

    pub(super) fn validate_ephemeral(
        &self,
        request: &validate_ephemeral_resource_config::Request,
    ) -> validate_ephemeral_resource_config::Response {
        let result = self.known_ephemeral(&request.type_name).and_then(|()| {
            let config = object_from(request.config.as_ref(), &type_of(&*PARTS))?;
            renew_after(&config).map(drop)
        });
        validate_ephemeral_resource_config::Response { diagnostics: diagnostics(result.err()) }
    }

    pub(super) async fn open(
        &self,
        session: &Session,
        request: open_ephemeral_resource::Request,
    ) -> open_ephemeral_resource::Response {
        match self.opened(session, &request).await {
            Ok((result, kept)) => open_ephemeral_resource::Response {
                renew_at: kept.renew_at(),
                result: object_to(Some(result), &type_of(&*PARTS)),
                private: Some(kept.to_bytes()),
                ..open_ephemeral_resource::Response::default()
            },
            Err(problem) => open_ephemeral_resource::Response {
                diagnostics: diagnostics([problem]),
                ..open_ephemeral_resource::Response::default()
            },
        }
    }

    async fn opened(
        &self,
        session: &Session,
        request: &open_ephemeral_resource::Request,
    ) -> Result<(Object, Kept), Problem> {
        self.known_ephemeral(&request.type_name)?;
        let mut result = object_from(request.config.as_ref(), &type_of(&*PARTS))?;
        let kept = Kept {
            equiform: 1,
            key: result.get(KEY).and_then(Value::as_str).map(str::to_owned),
            id: mint("ticket"),
            renew_after_ms: renew_after(&result)?,
        };
        result.insert(ID.to_owned(), Value::String(kept.id.clone()));
        result.insert(TOKEN.to_owned(), Value::String(mint("token")));
        self.note_ephemeral(session, Operation::Open, &request.type_name, &kept).await?;
        Ok((result, kept))
    }

    pub(super) async fn renew(
        &self,
        session: &Session,
        request: renew_ephemeral_resource::Request,
    ) -> renew_ephemeral_resource::Response {
        let kept = Kept::from_bytes(request.private.as_deref());
        let renewed = match kept {
            Ok(kept) => {
                let noted = self.note_ephemeral(session, Operation::Renew, &request.type_name, &kept).await;
                noted.map(|()| kept)
            }
            Err(problem) => Err(problem),
        };
        match renewed {
            Ok(kept) => renew_ephemeral_resource::Response {
                diagnostics: Vec::new(),
                renew_at: kept.renew_at(),
                private: Some(kept.to_bytes()),
            },
            Err(problem) => renew_ephemeral_resource::Response {
                diagnostics: diagnostics([problem]),
                ..renew_ephemeral_resource::Response::default()
            },
        }
    }

    pub(super) async fn close(
        &self,
        session: &Session,
        request: close_ephemeral_resource::Request,
    ) -> close_ephemeral_resource::Response {
        let closed = match Kept::from_bytes(request.private.as_deref()) {
            Ok(kept) => self.note_ephemeral(session, Operation::Close, &request.type_name, &kept).await,
            Err(problem) => Err(problem),
        };
        close_ephemeral_resource::Response { diagnostics: diagnostics(closed.err()) }
    }

    async fn note_ephemeral(
        &self,
        session: &Session,
        op: Operation,
        type_name: &str,
        kept: &Kept,
    ) -> Result<(), Problem> {
        self.known_ephemeral(type_name)?;
        let (ledger, caller) = self.configured(session)?;
        let body = Body {
            type_name: Some(type_name.to_owned()),
            key: kept.key.clone(),
            id: Some(kept.id.clone()),
            mode: Some("ephemeral".to_owned()),
            ..caller.signature()
        };
        noted(&ledger, &caller, op, body, Ok(()), |()| None).await
    }
}

/// After how many milliseconds to renew, if ever. A value that is not known yet is as good as none.
fn renew_after(config: &Object) -> Result<Option<u64>, Problem> {
    match config.get(RENEW_AFTER) {
        Some(Value::Number(number)) => match number.as_i64() {
            Some(after @ 1..=86_400_000) => Ok(Some(after.unsigned_abs())),
            _ => Err(Problem::new(
                "The time to renew after is out of range",
                format!("`{RENEW_AFTER}` is a whole number of milliseconds, at least 1 and at most a day."),
            )
            .at(RENEW_AFTER)),
        },
        _ => Ok(None),
    }
}
