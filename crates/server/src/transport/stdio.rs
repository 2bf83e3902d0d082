//! One counter on stdin and stdout: a JSON-RPC message a line, and nothing else.
//!
//! Two plain threads read and write: that works alike for pipes, the sockets
//! that Node's clients hand over, files and terminals, and costs less than
//! asking the runtime to watch each kind.

use std::{
    io::{BufRead, BufReader, Read, Write},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use desk::{Desk, ServedCounter, stations::identify::Credentials};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::wire::{
    channel::{self, Channel, Outgoing, OutgoingQueue, Received},
    definitions::PublishedCounter,
};

/// The longest line, as for HTTP bodies.
const MAX_LINE: u64 = 4 * 1024 * 1024;

/// Messages waiting in either direction.
const QUEUE: usize = 256;

/// How long the process waits for records of answered calls to be written.
const LAST_NOTES: Duration = Duration::from_secs(2);

/// Serves until stdin ends and the last request is answered.
pub async fn serve(desk: Arc<Desk>, served: Arc<ServedCounter>, credentials: Credentials) {
    let (to_wire, incoming) = mpsc::channel(QUEUE);
    let (queue, from_wire) = mpsc::channel(QUEUE);
    // Weak: a reader blocked on stdin must not keep the writer waiting.
    let oversize = queue.downgrade();
    std::thread::spawn(move || read(&to_wire, &oversize));
    let gone = CancellationToken::new();
    let reader_gone = gone.clone();
    let writer = std::thread::spawn(move || write(from_wire, &reader_gone));
    let channel = Channel {
        incoming,
        outgoing: OutgoingQueue::new(queue, None),
        credentials,
        identified: Ok(()),
        own_dialect: false,
        language: desk::language::of_environment(),
        visit: None,
    };
    let counter = PublishedCounter::new(&served);
    channel::serve(Arc::clone(&desk), counter, channel, gone.child_token()).await;
    // It ends when the last answer is out.
    let _ = tokio::task::spawn_blocking(move || writer.join()).await;
    if !gone.is_cancelled() {
        // Everything was answered; records of it may still be written.
        desk.stopping.cancel();
        desk.in_flight.close();
        let _ = tokio::time::timeout(LAST_NOTES, desk.in_flight.wait()).await;
    }
}

fn read(to_wire: &mpsc::Sender<Box<Received>>, oversize: &mpsc::WeakSender<Outgoing>) {
    let mut input = BufReader::with_capacity(64 * 1024, std::io::stdin().lock());
    loop {
        let mut line = Vec::new();
        match input
            .by_ref()
            .take(MAX_LINE + 1)
            .read_until(b'\n', &mut line)
        {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.len() as u64 > MAX_LINE {
            let message = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request: the message is longer than 4 MiB."}}"#;
            if let Some(queue) = oversize.upgrade() {
                OutgoingQueue::new(queue, None).blocking_send(message.into());
            }
            if skip_line(&mut input).is_err() {
                return;
            }
            continue;
        }
        let trimmed = line.trim_ascii();
        if trimmed.is_empty() {
            continue;
        }
        let bytes = Bytes::copy_from_slice(trimmed);
        let received = Box::new(Received {
            bytes,
            permit: None,
        });
        if to_wire.blocking_send(received).is_err() {
            return;
        }
    }
}

/// Reads on to the end of a line that is too long to be kept.
fn skip_line(input: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let chunk = input.fill_buf()?;
        if chunk.is_empty() {
            return Ok(());
        }
        match chunk.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                input.consume(end + 1);
                return Ok(());
            }
            None => {
                let all = chunk.len();
                input.consume(all);
            }
        }
    }
}

/// Cancels `gone` when nobody reads any more, which cancels calls in flight.
fn write(mut from_wire: mpsc::Receiver<Outgoing>, gone: &CancellationToken) {
    let mut output = std::io::stdout().lock();
    let mut pending = Vec::new();
    while let Some(first) = from_wire.blocking_recv() {
        // Whatever else is ready goes out in the same write.
        let mut next = Some(first);
        while let Some(outgoing) = next {
            if let Outgoing::Message(message) = outgoing {
                pending.extend_from_slice(message.text.as_bytes());
                pending.push(b'\n');
            }
            next = from_wire.try_recv().ok();
        }
        if output
            .write_all(&pending)
            .and_then(|()| output.flush())
            .is_err()
        {
            gone.cancel();
            return;
        }
        pending.clear();
    }
}
