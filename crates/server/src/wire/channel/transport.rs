//! The connection as the protocol crate sees it.

use std::{convert::Infallible, sync::Arc};

use rmcp::{
    RoleServer,
    model::ServerResult,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::sync::mpsc;

use super::messages::OutgoingQueue;
use crate::wire::{
    definitions::PublishedCounter,
    errors::{explain, shorten},
    tool_result,
};

pub struct ChannelTransport {
    pub incoming: mpsc::Receiver<Box<RxJsonRpcMessage<RoleServer>>>,
    pub outgoing: OutgoingQueue,
    pub published: Arc<PublishedCounter>,
    pub flat_results: bool,
}

/// A message as text; with `flat`, the fields of a tool's answer stand at the
/// top of the result too.
fn written(item: &TxJsonRpcMessage<RoleServer>, flat: bool) -> serde_json::Result<String> {
    if flat
        && let TxJsonRpcMessage::<RoleServer>::Response(response) = item
        && let ServerResult::CallToolResult(result) = &response.result
    {
        return tool_result::flat_response(&response.id, result);
    }
    serde_json::to_string(item)
}

impl Transport<RoleServer> for ChannelTransport {
    type Error = Infallible;

    fn send(
        &mut self,
        mut item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (outgoing, flat) = (self.outgoing.clone(), self.flat_results);
        if let TxJsonRpcMessage::<RoleServer>::Error(error) = &mut item {
            explain(&mut error.error, &self.published);
            shorten(&mut error.error);
        }
        async move {
            match written(&item, flat) {
                Ok(text) => outgoing.send(text).await,
                Err(error) => tracing::error!(%error, "a message could not be written"),
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.incoming.recv().await.map(|message| *message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.incoming.close();
        Ok(())
    }
}
