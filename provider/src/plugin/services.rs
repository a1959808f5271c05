//! The services that go-plugin wants beside the provider.

use std::pin::Pin;

use equiform_proto::goplugin::grpc_broker_server::GrpcBroker;
use equiform_proto::goplugin::grpc_controller_server::GrpcController;
use equiform_proto::goplugin::grpc_stdio_server::GrpcStdio;
use equiform_proto::goplugin::{ConnInfo, Empty, StdioData};
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming, async_trait};

/// A stream that says nothing and ends when the plugin does.
type Quiet<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

fn quiet_until<T: Send + 'static>(end: CancellationToken) -> Quiet<T> {
    let (sender, receiver) = tokio::sync::mpsc::channel(1);
    tokio::spawn(async move {
        tokio::select! {
            () = end.cancelled() => {}
            // The host hung up.
            () = sender.closed() => {}
        }
    });
    Box::pin(ReceiverStream::new(receiver))
}

/// Ends the plugin when its host says so.
pub struct Controller {
    /// Cancelled to end the plugin; absent where hosts come and go and none may end it.
    pub end: Option<CancellationToken>,
}

#[async_trait]
impl GrpcController for Controller {
    async fn shutdown(&self, _: Request<Empty>) -> Result<Response<Empty>, Status> {
        if let Some(end) = &self.end {
            end.cancel();
        }
        Ok(Response::new(Empty {}))
    }
}

/// Would carry what the plugin prints; this one prints nothing. Hosts want the stream to stay open.
pub struct Stdio {
    /// Cancelled when the plugin ends.
    pub end: CancellationToken,
}

#[async_trait]
impl GrpcStdio for Stdio {
    type StreamStdioStream = Quiet<StdioData>;

    async fn stream_stdio(&self, _: Request<()>) -> Result<Response<Self::StreamStdioStream>, Status> {
        Ok(Response::new(quiet_until(self.end.clone())))
    }
}

/// Would negotiate further connections; the provider never needs one.
pub struct Broker {
    /// Cancelled when the plugin ends.
    pub end: CancellationToken,
}

#[async_trait]
impl GrpcBroker for Broker {
    type StartStreamStream = Quiet<ConnInfo>;

    async fn start_stream(
        &self,
        _: Request<Streaming<ConnInfo>>,
    ) -> Result<Response<Self::StartStreamStream>, Status> {
        Ok(Response::new(quiet_until(self.end.clone())))
    }
}
