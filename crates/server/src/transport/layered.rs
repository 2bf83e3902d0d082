//! A connection with a layer on it that changes how it is read, or watches how
//! it is written.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub struct Layered<S, L> {
    stream: S,
    layer: L,
}

pub trait Layer: Unpin {
    fn poll_read<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(stream).poll_read(context, buffer)
    }

    /// What comes of an attempt to write.
    fn poll_written<T>(
        &mut self,
        attempt: Poll<io::Result<T>>,
        _: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        attempt
    }
}

impl<S, L> Layered<S, L> {
    pub fn new(stream: S, layer: L) -> Self {
        Self { stream, layer }
    }
}

impl<S: AsyncRead + Unpin, L: Layer> AsyncRead for Layered<S, L> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.layer.poll_read(&mut this.stream, context, buffer)
    }
}

impl<S: AsyncWrite + Unpin, L: Layer> AsyncWrite for Layered<S, L> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.layer.poll_written(attempt, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.layer.poll_written(attempt, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_flush(context);
        self.layer.poll_written(attempt, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_shutdown(context);
        self.layer.poll_written(attempt, context)
    }
}
