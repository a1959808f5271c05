//! Ephemeral resources: opened, renewed while they are needed, and closed; each of it stands in the ledger. What they
//! hold does not.

use std::time::{Duration, SystemTime};

use equiform_proto::Timestamp;
use equiform_proto::ledger::Operation;
use equiform_proto::tfplugin6::{
    DynamicValue, close_ephemeral_resource, open_ephemeral_resource, renew_ephemeral_resource,
    validate_ephemeral_resource_config,
};
use serde::{Deserialize, Serialize};

use super::convert::{diagnostics, object_from, object_to};
use super::note::noted;
use super::validation::checked;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::ledger::Body;
use crate::mint;
use crate::resource::text;
use crate::types::schema_json::Family;
use crate::types::{Types, own};
use crate::value::{Object, Value};

/// What the engine keeps beside an open resource, and gives back to renew and to close it.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    equiform: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
        SystemTime::now().checked_add(after).map(Timestamp::from)
    }
}

impl MockProvider {
    pub(super) fn validate_ephemeral(
        &self,
        session: &Session,
        request: &validate_ephemeral_resource_config::Request,
    ) -> validate_ephemeral_resource_config::Response {
        let problems = self.types(session).and_then(|types| {
            let ephemeral = types.other(Family::Ephemeral, &request.type_name)?;
            let config = object_from(request.config.as_ref(), &ephemeral.object_type)?;
            renew_after(&types, &request.type_name, &config)?;
            Ok(checked(&ephemeral.schema.block, &config))
        });
        let problems = problems.unwrap_or_else(|problem| vec![problem]);
        validate_ephemeral_resource_config::Response { diagnostics: diagnostics(problems) }
    }

    pub(super) async fn open(
        &self,
        session: &Session,
        request: open_ephemeral_resource::Request,
    ) -> open_ephemeral_resource::Response {
        match self.opened(session, &request).await {
            Ok((result, kept)) => open_ephemeral_resource::Response {
                renew_at: kept.renew_at(),
                private: Some(kept.to_bytes()),
                result,
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
    ) -> Result<(Option<DynamicValue>, Kept), Problem> {
        let types = self.types(session)?;
        let ephemeral = types.other(Family::Ephemeral, &request.type_name)?;
        let config = object_from(request.config.as_ref(), &ephemeral.object_type)?;
        let is_ticket = is_ticket(&types, &request.type_name);
        let kept = Kept {
            equiform: 1,
            key: text(&config, own::KEY).filter(|_| is_ticket).map(str::to_owned),
            id: mint::random(if is_ticket { "ticket" } else { "ephemeral" }),
            renew_after_ms: renew_after(&types, &request.type_name, &config)?,
        };
        let result = if is_ticket {
            let mut result = config;
            result.insert(own::ID.to_owned(), Value::String(kept.id.clone()));
            result.insert(own::TOKEN.to_owned(), Value::String(mint::random("token")));
            result
        } else {
            types.ephemeral_result(&ephemeral, &config)?
        };
        self.note_ephemeral(session, Operation::Open, &request.type_name, &kept).await?;
        Ok((object_to(Some(result), &ephemeral.object_type), kept))
    }

    pub(super) async fn renew(
        &self,
        session: &Session,
        request: renew_ephemeral_resource::Request,
    ) -> renew_ephemeral_resource::Response {
        let renewed = match Kept::from_bytes(request.private.as_deref()) {
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
        let types = self.types(session)?;
        types.other(Family::Ephemeral, type_name)?;
        let (ledger, caller) = self.configured(session)?;
        let body = Body {
            type_name: Some(type_name.to_owned()),
            key: kept.key.clone(),
            id: Some(kept.id.clone()),
            mode: Some("ephemeral".to_owned()),
            provider: types.standin().map(|standin| standin.address.clone()),
            ..caller.signature()
        };
        noted(&ledger, &caller, op, body, Ok(()), |()| None).await
    }
}

fn is_ticket(types: &Types, type_name: &str) -> bool {
    types.standin().is_none() && type_name == own::TICKET
}

/// After how many milliseconds to renew, if ever. A value that is not known yet is as good as none.
fn renew_after(types: &Types, type_name: &str, config: &Object) -> Result<Option<u64>, Problem> {
    if !is_ticket(types, type_name) {
        return Ok(types.renew_after(type_name));
    }
    match config.get(own::RENEW_AFTER) {
        Some(Value::Number(number)) => match number.as_i64() {
            Some(after @ 1..=86_400_000) => Ok(Some(after.unsigned_abs())),
            _ => Err(Problem::new(
                "The time to renew after is out of range",
                format!(
                    "`{}` is a whole number of milliseconds, at least 1 and at most a day.",
                    own::RENEW_AFTER
                ),
            )
            .at(own::RENEW_AFTER)),
        },
        _ => Ok(None),
    }
}
