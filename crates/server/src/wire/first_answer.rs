//! Waits a moment for the answer before the head of an event stream is sent.
//!
//! Proxies written in Go pass the head of an answer on at once, and then close the body of
//! the request. If they were still looking for its end, they drop the connection and end
//! the answer, without an error: the client gets a stream without its answer. When the
//! answer comes together with the head, nothing is left to lose.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Response, header::CONTENT_TYPE};
use http_body_util::{BodyExt, combinators::BoxBody};
use hyper::body::{Body, Frame};

/// Most calls are answered by then, and a proxy has had the time to read the request.
const LONGEST: Duration = Duration::from_millis(100);

/// What is collected meanwhile.
const MOST_BYTES: usize = 64 * 1024;

type EventBody = BoxBody<Bytes, Infallible>;

/// The same answer. If it is a stream, then as soon as it has ended, and after [`LONGEST`]
/// in any case.
pub async fn wait(response: Response<EventBody>) -> Response<EventBody> {
    let kind = response.headers().get(CONTENT_TYPE);
    if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    let (head, mut rest) = response.into_parts();
    let mut begun = VecDeque::new();
    let ended = async {
        let mut bytes = 0;
        while bytes < MOST_BYTES {
            let Some(Ok(frame)) = rest.frame().await else {
                return true;
            };
            bytes += frame.data_ref().map_or(0, Bytes::len);
            begun.push_back(frame);
        }
        false
    };
    // What has come by then is in `begun`.
    let has_ended = tokio::time::timeout(LONGEST, ended).await == Ok(true);
    let rest = (!has_ended).then_some(rest);
    Response::from_parts(head, Begun { begun, rest }.boxed())
}

/// A body of which the beginning has been read.
struct Begun {
    begun: VecDeque<Frame<Bytes>>,
    /// `None` if that was all: a body must not be asked again after its end.
    rest: Option<EventBody>,
}

impl Body for Begun {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(frame) = self.begun.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        match &mut self.rest {
            Some(rest) => Pin::new(rest).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.begun.is_empty() && self.rest.as_ref().is_none_or(Body::is_end_stream)
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, StreamExt, stream};
    use http_body_util::{Full, StreamBody};
    use tokio::{sync::oneshot, task::yield_now};

    use super::*;

    fn events(kind: &str, body: EventBody) -> Response<EventBody> {
        let response = Response::builder().header(CONTENT_TYPE, kind);
        response.body(body).unwrap()
    }

    /// Two events, the second when `work` is done.
    fn answered_after(
        work: impl Future<Output = ()> + Send + Sync + 'static,
    ) -> Response<EventBody> {
        let event = |text: &'static str| Ok(Frame::data(Bytes::from_static(text.as_bytes())));
        let later = stream::once(work.map(move |()| event("answer")));
        let all = stream::iter([event("progress")]).chain(later);
        events("text/event-stream", BodyExt::boxed(StreamBody::new(all)))
    }

    fn next(body: &mut EventBody) -> Option<Bytes> {
        let frame = body.frame().now_or_never()??.unwrap();
        frame.into_data().ok()
    }

    #[tokio::test]
    async fn a_quick_answer_is_there_when_its_stream_begins() {
        let mut body = wait(answered_after(yield_now())).await.into_body();
        assert_eq!(next(&mut body).unwrap(), "progress");
        assert_eq!(next(&mut body).unwrap(), "answer");
        // It is not asked again after its end.
        assert!(body.is_end_stream());
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn the_stream_of_a_long_call_begins_without_its_answer() {
        let (end, ended) = oneshot::channel();
        let response = wait(answered_after(ended.map(Result::unwrap))).await;
        let mut body = response.into_body();
        assert_eq!(next(&mut body).unwrap(), "progress");
        assert!(next(&mut body).is_none());
        end.send(()).unwrap();
        let rest = body.collect().await.unwrap().to_bytes();
        assert_eq!(rest, "answer");
    }

    /// A stream that goes on and on begins when enough has been collected.
    #[tokio::test]
    async fn not_everything_is_collected() {
        let kilobyte = || Ok(Frame::data(Bytes::from_static(&[7; 1024])));
        let endless = stream::repeat_with(kilobyte);
        let body = BodyExt::boxed(StreamBody::new(endless));
        let response = wait(events("text/event-stream", body)).now_or_never();
        let mut body = response.unwrap().into_body();
        for _ in 0..200 {
            assert_eq!(next(&mut body).unwrap().len(), 1024);
        }
    }

    #[tokio::test]
    async fn other_answers_do_not_wait() {
        let body = BodyExt::boxed(Full::new(Bytes::from_static(b"{}")));
        let response = wait(events("application/json", body)).now_or_never();
        assert_eq!(next(&mut response.unwrap().into_body()).unwrap(), "{}");
    }
}
