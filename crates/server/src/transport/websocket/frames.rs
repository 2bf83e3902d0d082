//! Large messages in small frames, in both directions. The WebSocket library
//! makes its buffers as large as the largest frame, and keeps them as long as
//! the connection lasts: a thousand idle connections that had one large message
//! each would keep a thousand large buffers.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use futures::{SinkExt, stream::SplitSink};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message,
        protocol::frame::{
            Frame,
            coding::{Data, OpCode},
        },
    },
};

use crate::transport::layered::{Layer, Layered};

/// A client's WebSocket.
pub type Socket = WebSocketStream<Layered<TokioIo<Upgraded>, SmallFrames>>;

/// The payload of a frame. A multiple of four, so that the mask of a frame fits
/// all its parts.
const PART: usize = 16 * 1024;

/// What is read from the network at a time.
const READ: usize = 4 * 1024;

/// The longest header of a frame.
const LONGEST_HEADER: usize = 14;

const FINAL: u8 = 0x80;
const OPCODE: u8 = 0x0f;
const CONTINUE: u8 = 0x0;
/// Opcodes from here on are of control frames, which are always small.
const FIRST_CONTROL: u8 = 0x8;
const MASKED: u8 = 0x80;

/// Sends a message, a large text in several frames.
pub async fn send(
    sink: &mut SplitSink<Socket, Message>,
    message: Message,
) -> Result<(), tungstenite::Error> {
    let mut rest = match message {
        Message::Text(text) if text.len() > PART => Bytes::from(text),
        other => return sink.send(other).await,
    };
    let mut kind = Data::Text;
    while !rest.is_empty() {
        let part = rest.split_to(PART.min(rest.len()));
        let frame = Frame::message(part, OpCode::Data(kind), rest.is_empty());
        sink.send(Message::Frame(frame)).await?;
        kind = Data::Continue;
    }
    Ok(())
}

/// Makes large frames arrive in parts, each a frame of its own. Invalid frames
/// are passed on; the library refuses them.
pub struct SmallFrames {
    /// The library is shown larger ones as they are, and refuses them.
    largest: u64,
    /// Read from the network and not handed on yet. Idle connections have none.
    unread: BytesMut,
    /// Headers to hand on before anything else.
    header: BytesMut,
    /// Payload to hand on before the next header.
    left_in_part: u64,
    /// The frame that arrives in parts.
    frame: Option<LargeFrame>,
}

struct LargeFrame {
    first_byte: u8,
    mask: Option<[u8; 4]>,
    /// After the part that is being handed on.
    left: u64,
}

impl SmallFrames {
    pub fn new(largest: Option<usize>) -> Self {
        Self {
            largest: largest.map_or(u64::MAX, |most| most as u64),
            unread: BytesMut::new(),
            header: BytesMut::new(),
            left_in_part: 0,
            frame: None,
        }
    }

    /// Hands on as much as there is and fits.
    fn hand_on(&mut self, buffer: &mut ReadBuf<'_>) {
        while buffer.remaining() > 0 {
            if !self.header.is_empty() {
                let length = self.header.len().min(buffer.remaining());
                buffer.put_slice(&self.header.split_to(length));
            } else if self.left_in_part > 0 {
                let length = self.unread.len().min(buffer.remaining());
                let length = length.min(usize::try_from(self.left_in_part).unwrap_or(usize::MAX));
                if length == 0 {
                    return;
                }
                buffer.put_slice(&self.unread.split_to(length));
                self.left_in_part -= length as u64;
            } else if !self.next_part() {
                return;
            }
        }
    }

    /// Makes the header of the next part; false when it has not arrived yet.
    fn next_part(&mut self) -> bool {
        if let Some(mut frame) = self.frame.take() {
            let length = frame.left.min(PART as u64);
            frame.left -= length;
            let is_last = frame.left == 0;
            let last = if is_last { frame.first_byte & FINAL } else { 0 };
            self.make_header(last | CONTINUE, length, frame.mask);
            self.frame = Some(frame).filter(|_| !is_last);
            return true;
        }
        let Some(header) = Header::of(&self.unread) else {
            return false;
        };
        let (first_byte, length) = (header.first_byte, header.length);
        let bytes = self.unread.split_to(header.size);
        let is_control = first_byte & OPCODE >= FIRST_CONTROL;
        if is_control || length <= PART as u64 || length > self.largest {
            self.header.extend_from_slice(&bytes);
            self.left_in_part = length;
        } else {
            self.make_header(first_byte & !FINAL, PART as u64, header.mask);
            self.frame = Some(LargeFrame {
                first_byte,
                mask: header.mask,
                left: length - PART as u64,
            });
        }
        true
    }

    fn make_header(&mut self, first_byte: u8, length: u64, mask: Option<[u8; 4]>) {
        let masked = mask.map_or(0, |_| MASKED);
        let length_bytes = u16::try_from(length).unwrap_or(u16::MAX);
        self.header.reserve(LONGEST_HEADER);
        self.header.extend_from_slice(&[first_byte]);
        match u8::try_from(length) {
            Ok(short) if short < 126 => self.header.extend_from_slice(&[masked | short]),
            _ => {
                self.header.extend_from_slice(&[masked | 126]);
                self.header.extend_from_slice(&length_bytes.to_be_bytes());
            }
        }
        self.header
            .extend_from_slice(mask.as_ref().map_or(&[], |mask| mask));
        self.left_in_part = length;
    }
}

/// What the header of a frame says.
struct Header {
    first_byte: u8,
    mask: Option<[u8; 4]>,
    /// Of the header itself.
    size: usize,
    /// Of the payload.
    length: u64,
}

impl Header {
    /// `None` until all of it is there.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (first_byte, second) = (*bytes.first()?, *bytes.get(1)?);
        let (end, length) = match second & !MASKED {
            126 => {
                let length = bytes.get(2..4)?.try_into().ok()?;
                (4, u64::from(u16::from_be_bytes(length)))
            }
            127 => (10, u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?)),
            short => (2, u64::from(short)),
        };
        let (size, mask) = match second & MASKED {
            0 => (end, None),
            _ => (end + 4, Some(bytes.get(end..end + 4)?.try_into().ok()?)),
        };
        Some(Self {
            first_byte,
            mask,
            size,
            length,
        })
    }
}

impl Layer for SmallFrames {
    fn poll_read<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        loop {
            self.hand_on(buffer);
            if buffer.filled().len() > before || buffer.remaining() == 0 {
                if self.unread.is_empty() {
                    self.unread = BytesMut::new();
                }
                return Poll::Ready(Ok(()));
            }
            let mut bytes = [0; READ];
            let mut read = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut *stream).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                // The end, in the middle of a header or not.
                return Poll::Ready(Ok(()));
            }
            self.unread.extend_from_slice(read.filled());
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_tungstenite::tungstenite::protocol::Role;

    use futures::StreamExt;

    use super::*;

    /// A client's end, and the desk's end with frames of at most [`PART`].
    async fn connect(buffer: usize) -> (WebSocketStream<tokio::io::DuplexStream>, DeskEnd) {
        let (near, far) = tokio::io::duplex(buffer);
        let config = tungstenite::protocol::WebSocketConfig::default().max_frame_size(Some(PART));
        let near = Layered::new(near, SmallFrames::new(None));
        (
            WebSocketStream::from_raw_socket(far, Role::Client, None).await,
            WebSocketStream::from_raw_socket(near, Role::Server, Some(config)).await,
        )
    }

    type DeskEnd = WebSocketStream<Layered<tokio::io::DuplexStream, SmallFrames>>;

    #[tokio::test]
    async fn messages_of_every_size_arrive_whole() {
        for buffer in [1, 7, 4096, 1024 * 1024] {
            let (mut client, mut desk) = connect(buffer).await;
            let lengths = [
                0,
                1,
                125,
                126,
                PART - 1,
                PART,
                PART + 1,
                65_535,
                65_536,
                300_001,
            ];
            for length in lengths
                .into_iter()
                .filter(|length| buffer > 7 || *length < 70_000)
            {
                let text: String = ('a'..='z').cycle().take(length).collect();
                let sent = async {
                    client.send(Message::text(text.clone())).await.unwrap();
                    client
                        .send(Message::Ping(Bytes::from_static(b"x")))
                        .await
                        .unwrap();
                };
                let received = async {
                    let message = desk.next().await.unwrap().unwrap();
                    assert_eq!(message.into_text().unwrap().as_str(), text, "{length}");
                    assert!(desk.next().await.unwrap().unwrap().is_ping());
                };
                tokio::join!(sent, received);
            }
        }
    }

    #[tokio::test]
    async fn fragments_of_a_client_stay_fragments() {
        let (mut client, mut desk) = connect(4096).await;
        let part = |kind, fin| {
            let bytes = vec![b'x'; 40_000];
            Message::Frame(Frame::message(bytes, OpCode::Data(kind), fin))
        };
        let sent = async {
            for (kind, fin) in [
                (Data::Text, false),
                (Data::Continue, false),
                (Data::Continue, true),
            ] {
                client.send(part(kind, fin)).await.unwrap();
            }
        };
        let (message, ()) = tokio::join!(desk.next(), sent);
        assert_eq!(message.unwrap().unwrap().len(), 120_000);
    }

    #[tokio::test]
    async fn what_breaks_off_ends() {
        let (near, mut far) = tokio::io::duplex(64);
        let mut near = Layered::new(near, SmallFrames::new(None));
        far.write_all(&[0x81, 0xfe, 0x01]).await.unwrap();
        drop(far);
        let mut read = Vec::new();
        near.read_to_end(&mut read).await.unwrap();
        assert!(read.is_empty());
    }
}
