//! The service as the protocol names it: every RPC, handed on to its family.

use std::sync::Arc;

use equiform_proto::tfplugin6::provider_server::Provider;
use equiform_proto::tfplugin6::*;
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::state_stores::Events;
use super::{Host, MockProvider, Session};

/// The connection that a request came in on.
fn session<T>(request: &Request<T>) -> Arc<Session> {
    let session = uncounted(request);
    session.count_request();
    session
}

/// The same, for a request that is not in the ledger and has no number there.
fn uncounted<T>(request: &Request<T>) -> Arc<Session> {
    let session: Option<&Arc<Session>> = request.extensions().get();
    session.cloned().unwrap_or_else(|| Arc::new(Session::new(Host::Parent { pid: None })))
}

impl MockProvider {
    /// A provider that stands in for another has no place for states.
    fn has_state_stores(&self) -> Result<(), Status> {
        match &self.standin {
            None => Ok(()),
            Some(standin) => {
                Err(Status::unimplemented(format!("the stand-in of {} has no state stores", standin.address)))
            }
        }
    }
}

#[async_trait]
impl Provider for MockProvider {
    async fn get_metadata(
        &self,
        request: Request<get_metadata::Request>,
    ) -> Result<Response<get_metadata::Response>, Status> {
        Ok(Response::new(self.metadata(&uncounted(&request))))
    }

    async fn get_provider_schema(
        &self,
        request: Request<get_provider_schema::Request>,
    ) -> Result<Response<get_provider_schema::Response>, Status> {
        Ok(Response::new(self.schemas(&uncounted(&request))))
    }

    async fn get_resource_identity_schemas(
        &self,
        request: Request<get_resource_identity_schemas::Request>,
    ) -> Result<Response<get_resource_identity_schemas::Response>, Status> {
        Ok(Response::new(self.identity_schemas(&uncounted(&request))))
    }

    async fn get_functions(
        &self,
        request: Request<get_functions::Request>,
    ) -> Result<Response<get_functions::Response>, Status> {
        Ok(Response::new(self.functions(&uncounted(&request))))
    }

    async fn validate_provider_config(
        &self,
        request: Request<validate_provider_config::Request>,
    ) -> Result<Response<validate_provider_config::Response>, Status> {
        Ok(Response::new(self.validate_configuration(&uncounted(&request), request.into_inner())))
    }

    async fn configure_provider(
        &self,
        request: Request<configure_provider::Request>,
    ) -> Result<Response<configure_provider::Response>, Status> {
        Ok(Response::new(self.configure(&session(&request), request.into_inner()).await))
    }

    async fn stop_provider(
        &self,
        request: Request<stop_provider::Request>,
    ) -> Result<Response<stop_provider::Response>, Status> {
        Ok(Response::new(self.stop(&session(&request))))
    }

    async fn validate_resource_config(
        &self,
        request: Request<validate_resource_config::Request>,
    ) -> Result<Response<validate_resource_config::Response>, Status> {
        Ok(Response::new(self.validate_resource(&uncounted(&request), request.into_inner())))
    }

    async fn upgrade_resource_state(
        &self,
        request: Request<upgrade_resource_state::Request>,
    ) -> Result<Response<upgrade_resource_state::Response>, Status> {
        Ok(Response::new(self.upgrade_state(&uncounted(&request), request.into_inner())))
    }

    async fn upgrade_resource_identity(
        &self,
        request: Request<upgrade_resource_identity::Request>,
    ) -> Result<Response<upgrade_resource_identity::Response>, Status> {
        Ok(Response::new(self.upgrade_identity(&uncounted(&request), request.into_inner())))
    }

    async fn read_resource(
        &self,
        request: Request<read_resource::Request>,
    ) -> Result<Response<read_resource::Response>, Status> {
        Ok(Response::new(self.read(&session(&request), request.into_inner()).await))
    }

    async fn plan_resource_change(
        &self,
        request: Request<plan_resource_change::Request>,
    ) -> Result<Response<plan_resource_change::Response>, Status> {
        Ok(Response::new(self.plan(&session(&request), request.into_inner()).await))
    }

    async fn apply_resource_change(
        &self,
        request: Request<apply_resource_change::Request>,
    ) -> Result<Response<apply_resource_change::Response>, Status> {
        crate::testing::panic_if_asked();
        Ok(Response::new(self.apply(&session(&request), request.into_inner()).await))
    }

    async fn import_resource_state(
        &self,
        request: Request<import_resource_state::Request>,
    ) -> Result<Response<import_resource_state::Response>, Status> {
        Ok(Response::new(self.import(&session(&request), request.into_inner()).await))
    }

    async fn move_resource_state(
        &self,
        request: Request<move_resource_state::Request>,
    ) -> Result<Response<move_resource_state::Response>, Status> {
        Ok(Response::new(self.move_state(&uncounted(&request), request.into_inner())))
    }

    async fn generate_resource_config(
        &self,
        request: Request<generate_resource_config::Request>,
    ) -> Result<Response<generate_resource_config::Response>, Status> {
        Ok(Response::new(self.generate(&uncounted(&request), &request.into_inner())))
    }

    async fn validate_data_resource_config(
        &self,
        request: Request<validate_data_resource_config::Request>,
    ) -> Result<Response<validate_data_resource_config::Response>, Status> {
        Ok(Response::new(self.validate_data_source(&uncounted(&request), request.into_inner())))
    }

    async fn read_data_source(
        &self,
        request: Request<read_data_source::Request>,
    ) -> Result<Response<read_data_source::Response>, Status> {
        Ok(Response::new(self.read_data_source(&session(&request), request.into_inner()).await))
    }

    async fn validate_ephemeral_resource_config(
        &self,
        request: Request<validate_ephemeral_resource_config::Request>,
    ) -> Result<Response<validate_ephemeral_resource_config::Response>, Status> {
        Ok(Response::new(self.validate_ephemeral(&uncounted(&request), &request.into_inner())))
    }

    async fn open_ephemeral_resource(
        &self,
        request: Request<open_ephemeral_resource::Request>,
    ) -> Result<Response<open_ephemeral_resource::Response>, Status> {
        Ok(Response::new(self.open(&session(&request), request.into_inner()).await))
    }

    async fn renew_ephemeral_resource(
        &self,
        request: Request<renew_ephemeral_resource::Request>,
    ) -> Result<Response<renew_ephemeral_resource::Response>, Status> {
        Ok(Response::new(self.renew(&session(&request), request.into_inner()).await))
    }

    async fn close_ephemeral_resource(
        &self,
        request: Request<close_ephemeral_resource::Request>,
    ) -> Result<Response<close_ephemeral_resource::Response>, Status> {
        Ok(Response::new(self.close(&session(&request), request.into_inner()).await))
    }

    async fn call_function(
        &self,
        request: Request<call_function::Request>,
    ) -> Result<Response<call_function::Response>, Status> {
        Ok(Response::new(self.call(&uncounted(&request), &request.into_inner())))
    }

    async fn validate_list_resource_config(
        &self,
        request: Request<validate_list_resource_config::Request>,
    ) -> Result<Response<validate_list_resource_config::Response>, Status> {
        Ok(Response::new(self.validate_list(&uncounted(&request), &request.into_inner())))
    }

    async fn list_resource(
        &self,
        request: Request<list_resource::Request>,
    ) -> Result<Response<Self::ListResourceStream>, Status> {
        Ok(Response::new(self.list(&session(&request), request.into_inner()).await))
    }

    async fn validate_action_config(
        &self,
        request: Request<validate_action_config::Request>,
    ) -> Result<Response<validate_action_config::Response>, Status> {
        Ok(Response::new(self.validate_action(&uncounted(&request), &request.into_inner())))
    }

    async fn plan_action(
        &self,
        request: Request<plan_action::Request>,
    ) -> Result<Response<plan_action::Response>, Status> {
        Ok(Response::new(self.plan_action(&session(&request), request.into_inner()).await))
    }

    async fn invoke_action(
        &self,
        request: Request<invoke_action::Request>,
    ) -> Result<Response<Self::InvokeActionStream>, Status> {
        Ok(Response::new(self.invoke(&session(&request), request.into_inner()).await))
    }

    async fn validate_state_store_config(
        &self,
        request: Request<validate_state_store::Request>,
    ) -> Result<Response<validate_state_store::Response>, Status> {
        self.has_state_stores()?;
        Ok(Response::new(self.validate_store(request.into_inner())))
    }

    async fn configure_state_store(
        &self,
        request: Request<configure_state_store::Request>,
    ) -> Result<Response<configure_state_store::Response>, Status> {
        self.has_state_stores()?;
        Ok(Response::new(self.configure_store(&uncounted(&request), request.into_inner())))
    }

    async fn read_state_bytes(
        &self,
        request: Request<read_state_bytes::Request>,
    ) -> Result<Response<Self::ReadStateBytesStream>, Status> {
        self.has_state_stores()?;
        Ok(Response::new(self.read_state(&uncounted(&request), request.into_inner()).await))
    }

    async fn write_state_bytes(
        &self,
        request: Request<Streaming<write_state_bytes::RequestChunk>>,
    ) -> Result<Response<write_state_bytes::Response>, Status> {
        self.has_state_stores()?;
        Ok(Response::new(self.write_state(&session(&request), request.into_inner()).await))
    }

    async fn lock_state(
        &self,
        request: Request<lock_state::Request>,
    ) -> Result<Response<lock_state::Response>, Status> {
        self.has_state_stores()?;
        Ok(Response::new(self.lock_state(&session(&request), request.into_inner()).await))
    }

    async fn unlock_state(
        &self,
        request: Request<unlock_state::Request>,
    ) -> Result<Response<unlock_state::Response>, Status> {
        self.has_state_stores()?;
        Ok(Response::new(self.unlock_state(&session(&request), request.into_inner()).await))
    }

    async fn get_states(
        &self,
        request: Request<get_states::Request>,
    ) -> Result<Response<get_states::Response>, Status> {
        self.has_state_stores()?;
        Ok(Response::new(self.get_states(&uncounted(&request), request.into_inner()).await))
    }

    async fn delete_state(
        &self,
        request: Request<delete_state::Request>,
    ) -> Result<Response<delete_state::Response>, Status> {
        self.has_state_stores()?;
        Ok(Response::new(self.delete_state(&session(&request), request.into_inner()).await))
    }

    type ListResourceStream = Events<list_resource::Event>;
    type InvokeActionStream = Events<invoke_action::Event>;
    type ReadStateBytesStream = Events<read_state_bytes::Response>;
}
