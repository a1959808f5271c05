//! Data sources: validating and reading them.

use equiform_proto::ledger::Operation;
use equiform_proto::tfplugin6::{read_data_source, validate_data_resource_config};

use super::convert::{diagnostics, object_from, object_to};
use super::note::noted;
use super::{MockProvider, Session};
use crate::diagnostic::Problem;
use crate::resource::{find, node, text};
use crate::value::{Object, json};

impl MockProvider {
    pub(super) fn validate_data_source(
        &self,
        request: validate_data_resource_config::Request,
    ) -> validate_data_resource_config::Response {
        let result = self
            .known_type(&request.type_name)
            .and_then(|()| object_from(request.config.as_ref(), &self.data_source_type));
        validate_data_resource_config::Response { diagnostics: diagnostics(result.err()) }
    }

    pub(super) async fn read_data_source(
        &self,
        session: &Session,
        request: read_data_source::Request,
    ) -> read_data_source::Response {
        match self.data_source_state(session, &request).await {
            Ok(state) => read_data_source::Response {
                state: object_to(Some(state), &self.data_source_type),
                ..read_data_source::Response::default()
            },
            Err(problem) => read_data_source::Response {
                diagnostics: diagnostics([problem]),
                ..read_data_source::Response::default()
            },
        }
    }

    async fn data_source_state(
        &self,
        session: &Session,
        request: &read_data_source::Request,
    ) -> Result<Object, Problem> {
        self.known_type(&request.type_name)?;
        let config = object_from(request.config.as_ref(), &self.data_source_type)?;
        let (ledger, caller) = self.configured(session)?;
        let Some(key) = text(&config, node::KEY) else {
            return Err(Problem::engine("It read a data source whose key is not known.").at(node::KEY));
        };
        let found = find::by_key(&ledger, &self.resource, key).await;
        let mut body = caller.body(&self.resource, found.as_ref().unwrap_or(&config));
        body.mode = Some("data".to_owned());
        body.sent.config = Some(json::digest(&config));
        noted(&ledger, &caller, Operation::Read, body, found, |object| Some(json::digest(object))).await
    }
}
