//! The service as the protocol names it: every RPC, handed on to its family.

use std::pin::Pin;
use std::sync::Arc;

use equiform_proto::tfplugin6::provider_server::Provider;
use equiform_proto::tfplugin6::*;
use tokio_stream::Stream;
use tonic::{Request, Response, Status, Streaming, async_trait};

use super::{Host, MockProvider, Session};

type Events<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

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

/// Answers of the families that are not there yet.
macro_rules! not_yet {
    ($($rpc:ident: $request:ty => $response:ty;)*) => {$(
        fn $rpc<'life0, 'async_trait>(
            &'life0 self,
            _: $request,
        ) -> Pin<Box<dyn Future<Output = Result<Response<$response>, Status>> + Send + 'async_trait>>
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            let answer = Status::unimplemented(concat!("the mock provider has no ", stringify!($rpc), " yet"));
            Box::pin(std::future::ready(Err(answer)))
        }
    )*};
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
        _: Request<get_functions::Request>,
    ) -> Result<Response<get_functions::Response>, Status> {
        Ok(Response::new(self.functions()))
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

    type ListResourceStream = Events<list_resource::Event>;
    type InvokeActionStream = Events<invoke_action::Event>;
    type ReadStateBytesStream = Events<read_state_bytes::Response>;

    not_yet! {
        generate_resource_config: Request<generate_resource_config::Request> => generate_resource_config::Response;
        validate_ephemeral_resource_config: Request<validate_ephemeral_resource_config::Request>
            => validate_ephemeral_resource_config::Response;
        open_ephemeral_resource: Request<open_ephemeral_resource::Request> => open_ephemeral_resource::Response;
        renew_ephemeral_resource: Request<renew_ephemeral_resource::Request> => renew_ephemeral_resource::Response;
        close_ephemeral_resource: Request<close_ephemeral_resource::Request> => close_ephemeral_resource::Response;
        call_function: Request<call_function::Request> => call_function::Response;
        validate_list_resource_config: Request<validate_list_resource_config::Request>
            => validate_list_resource_config::Response;
        list_resource: Request<list_resource::Request> => Self::ListResourceStream;
        validate_action_config: Request<validate_action_config::Request> => validate_action_config::Response;
        plan_action: Request<plan_action::Request> => plan_action::Response;
        invoke_action: Request<invoke_action::Request> => Self::InvokeActionStream;
        validate_state_store_config: Request<validate_state_store::Request> => validate_state_store::Response;
        configure_state_store: Request<configure_state_store::Request> => configure_state_store::Response;
        read_state_bytes: Request<read_state_bytes::Request> => Self::ReadStateBytesStream;
        write_state_bytes: Request<Streaming<write_state_bytes::RequestChunk>> => write_state_bytes::Response;
        lock_state: Request<lock_state::Request> => lock_state::Response;
        unlock_state: Request<unlock_state::Request> => unlock_state::Response;
        get_states: Request<get_states::Request> => get_states::Response;
        delete_state: Request<delete_state::Request> => delete_state::Response;
    }
}
