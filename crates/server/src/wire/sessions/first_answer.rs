//! Waits a moment for the answer to a request before its stream begins.
//!
//! The protocol crate begins every stream with an event that has no message. Proxies
//! written in Go pass the head of the answer on at once, and then close the body of the
//! request. If they were still looking for its end, they drop the connection and end the
//! answer, without an error: the client gets a stream with nothing in it. When the answer
//! comes together with the head, nothing is left to lose.

use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use rmcp::{model::JsonRpcMessage, transport::streamable_http_server::session::ServerSseMessage};

/// Most calls are answered by then, and a proxy has had the time to read the request.
const LONGEST: Duration = Duration::from_millis(100);

/// Events to collect meanwhile, such as progress.
const MOST_EVENTS: usize = 16;

/// The same stream, as soon as it has an answer or asks the client something, and after
/// [`LONGEST`] in any case.
pub async fn wait<S>(stream: S) -> impl Stream<Item = ServerSseMessage> + use<S>
where
    S: Stream<Item = ServerSseMessage>,
{
    let mut stream = Box::pin(stream);
    let mut begun = Vec::new();
    let answered = async {
        while let Some(event) = stream.next().await {
            let message = event.message.as_deref();
            let goes_on = matches!(message, None | Some(JsonRpcMessage::Notification(_)));
            begun.push(event);
            if !goes_on || begun.len() >= MOST_EVENTS {
                return;
            }
        }
    };
    // What has come by then is in `begun`.
    let _ = tokio::time::timeout(LONGEST, answered).await;
    stream::iter(begun).chain(stream)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt;
    use rmcp::model::{
        EmptyResult, RequestId, ServerJsonRpcMessage, ServerNotification, ServerResult,
    };
    use tokio::{sync::oneshot, task::yield_now};

    use super::*;

    fn beginning() -> ServerSseMessage {
        ServerSseMessage::priming("0/0", Duration::from_secs(3))
    }

    /// Has its beginning at once, and an answer when `work` is done.
    fn answered_after(work: impl Future<Output = ()>) -> impl Stream<Item = ServerSseMessage> {
        let answer = work.map(|()| {
            let result = ServerResult::EmptyResult(EmptyResult {});
            let id = RequestId::Number(1);
            ServerSseMessage::from_message(ServerJsonRpcMessage::response(result, id))
        });
        stream::iter([beginning()]).chain(stream::once(answer))
    }

    #[tokio::test]
    async fn a_quick_answer_is_there_when_its_stream_begins() {
        let mut stream = pin!(wait(answered_after(yield_now())).await);
        let events = [(); 2].map(|()| stream.next().now_or_never().flatten().unwrap());
        assert!(events[0].message.is_none());
        assert!(events[1].message.is_some());
        assert!(stream.next().await.is_none());
    }

    /// What comes on the way does not begin the stream, but not any number is collected.
    #[tokio::test]
    async fn notifications_wait_for_the_answer() {
        let note = || {
            let note = ServerNotification::ToolListChangedNotification(Default::default());
            ServerSseMessage::from_message(ServerJsonRpcMessage::notification(note))
        };
        let notes = |count| stream::iter((0..count).map(move |_| note()));
        let few = notes(3).chain(answered_after(yield_now()));
        let mut stream = pin!(wait(few).await);
        for _ in 0..5 {
            stream.next().now_or_never().flatten().unwrap();
        }
        assert!(stream.next().await.is_none());
        let many = notes(MOST_EVENTS).chain(stream::pending());
        let mut stream = pin!(wait(many).now_or_never().unwrap());
        for _ in 0..MOST_EVENTS {
            stream.next().now_or_never().flatten().unwrap();
        }
        assert!(stream.next().now_or_never().is_none());
    }

    #[tokio::test]
    async fn the_stream_of_a_long_call_begins_without_its_answer() {
        let (end, ended) = oneshot::channel();
        let mut stream = pin!(wait(answered_after(ended.map(Result::unwrap))).await);
        assert!(stream.next().await.unwrap().message.is_none());
        assert!(stream.next().now_or_never().is_none());
        end.send(()).unwrap();
        assert!(stream.next().await.unwrap().message.is_some());
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn a_stream_that_ends_without_an_answer_begins_at_once() {
        let mut stream = pin!(wait(stream::iter([beginning()])).await);
        assert!(stream.next().await.unwrap().message.is_none());
        assert!(stream.next().await.is_none());
    }
}
