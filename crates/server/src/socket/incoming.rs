//! What comes in over a socket: a long message is read only once there is room for it, and
//! none may take for ever.
//!
//! The frames are read by `tungstenite`. This looks at their headers as they pass, so that
//! it knows how long a message will be before its bytes are taken from the network.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tenon_domain::UserId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use tenon_app::budget::{Budget, BudgetError, BudgetShare, SMALL_BYTES};

/// Time limit of any message, extended for long ones by this transfer rate.
const MESSAGE_TIME: Duration = Duration::from_secs(20);
const MIN_BYTES_PER_SECOND: u64 = 128 * 1024;

/// So long nothing of it may come.
const STALLED_READ: Duration = Duration::from_secs(15);

/// The longest header of a frame.
const MAX_HEADER_BYTES: usize = 14;

/// Why a socket is closed over what comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameRefusal {
    #[error("the message is too long")]
    TooLong,
    #[error("the message did not arrive in time")]
    TooSlow,
    #[error("there is no room for the message")]
    OverBudget(BudgetError),
}

pub(super) struct IncomingFrames<S> {
    inner: S,
    budget: Budget,
    user: UserId,
    max_bytes: u64,
    frame: FrameProgress,
    message: MessageProgress,
    /// Room for a long message.
    reservation: Option<BudgetShare>,
    reserving: Option<ReservationFuture>,
    /// Bytes up to the header of a long message, held until memory is reserved: `tungstenite`
    /// allocates the whole message once it has the header.
    held: Vec<u8>,
    /// The reservation of a complete message, until it is taken.
    finished: Option<BudgetShare>,
    /// By when more of the message that has begun has to be there.
    deadline: Option<Pin<Box<Sleep>>>,
}

type ReservationFuture = Pin<Box<dyn Future<Output = Result<BudgetShare, BudgetError>> + Send>>;

/// The frame that is passing.
#[derive(Default)]
struct FrameProgress {
    header: [u8; MAX_HEADER_BYTES],
    header_length: usize,
    payload_left: u64,
    ends_message: bool,
}

/// The message that its frames are part of.
#[derive(Default)]
struct MessageProgress {
    /// As long as its frames say, those to come not counted.
    bytes: u64,
    received: u64,
    is_fragmented: bool,
    begun: Option<Instant>,
}

impl<S> IncomingFrames<S> {
    pub(super) fn new(inner: S, budget: Budget, user: UserId, max_bytes: usize) -> Self {
        Self {
            inner,
            budget,
            user,
            max_bytes: max_bytes as u64,
            frame: FrameProgress::default(),
            message: MessageProgress::default(),
            reservation: None,
            reserving: None,
            held: Vec::new(),
            finished: None,
            deadline: None,
        }
    }

    /// The room that the last long message takes, once it is whole.
    pub(super) fn take_reservation(&mut self) -> Option<BudgetShare> {
        self.finished.take()
    }

    /// Waits for room where the message that has begun needs some.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<Result<(), FrameRefusal>> {
        if self.message.bytes > self.max_bytes {
            return Poll::Ready(Err(FrameRefusal::TooLong));
        }
        if !self.needs_room() {
            return Poll::Ready(Ok(()));
        }
        // The total length of a fragmented message is not known.
        let bytes = if self.message.is_fragmented {
            self.max_bytes
        } else {
            self.message.bytes
        };
        let reserving = self.reserving.get_or_insert_with(|| {
            let (budget, user) = (self.budget.clone(), self.user.clone());
            Box::pin(async move { budget.receive(&user, bytes as usize).await })
        });
        let reserved = ready!(reserving.as_mut().poll(context));
        self.reserving = None;
        self.reservation = Some(reserved.map_err(FrameRefusal::OverBudget)?);
        // Only now can it come.
        self.message.begun = Some(Instant::now());
        self.set_deadline();
        Poll::Ready(Ok(()))
    }

    fn needs_room(&self) -> bool {
        self.message.bytes > SMALL_BYTES as u64 && self.reservation.is_none()
    }

    /// Whether a message has begun and is not whole yet. It has a deadline of its own.
    pub(super) fn is_receiving(&self) -> bool {
        self.deadline.is_some()
    }

    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let deadline = self.deadline.as_mut();
        deadline.is_some_and(|deadline| deadline.as_mut().poll(context).is_ready())
    }

    fn set_deadline(&mut self) {
        let Some(begun) = self.message.begun else {
            self.deadline = None;
            return;
        };
        let earned = Duration::from_secs(self.message.received / MIN_BYTES_PER_SECOND);
        let until = (begun + MESSAGE_TIME + earned).min(Instant::now() + STALLED_READ);
        match &mut self.deadline {
            Some(deadline) => deadline.as_mut().reset(until),
            None => self.deadline = Some(Box::pin(sleep_until(until))),
        }
    }

    fn pass(&mut self, mut bytes: &[u8]) {
        while let Some(first) = bytes.first() {
            if self.frame.payload_left > 0 {
                let length = self.frame.payload_left.min(bytes.len() as u64);
                self.frame.payload_left -= length;
                self.message.received += length;
                bytes = &bytes[length as usize..];
            } else {
                self.message.begun.get_or_insert_with(Instant::now);
                bytes = &bytes[1..];
                if !self.frame.push(*first) {
                    continue;
                }
                self.begin_frame();
            }
            if self.frame.payload_left == 0 {
                self.end_frame();
            }
        }
        self.set_deadline();
    }

    /// The header of a frame is whole.
    fn begin_frame(&mut self) {
        let FrameHeader {
            is_control,
            is_last,
            length,
        } = self.frame.take_header();
        self.frame.payload_left = length;
        self.frame.ends_message = is_last && !is_control;
        if !is_control {
            self.message.bytes = self.message.bytes.saturating_add(length);
            self.message.is_fragmented |= !is_last;
        }
    }

    fn end_frame(&mut self) {
        if self.frame.ends_message {
            self.finished = self.reservation.take().or(self.finished.take());
        }
        // Control frames may be sent between the frames of a message.
        if self.frame.ends_message || !self.message.is_fragmented {
            self.message = MessageProgress::default();
        }
    }
}

struct FrameHeader {
    is_control: bool,
    is_last: bool,
    length: u64,
}

impl FrameProgress {
    /// Whether the header is whole with this byte.
    fn push(&mut self, byte: u8) -> bool {
        self.header[self.header_length] = byte;
        self.header_length += 1;
        if self.header_length < 2 {
            return false;
        }
        let mask = if self.header[1] & 0x80 == 0 { 0 } else { 4 };
        self.header_length == 2 + self.length_bytes() + mask
    }

    /// How many bytes the length takes that does not fit into the second one.
    fn length_bytes(&self) -> usize {
        match self.header[1] & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        }
    }

    fn take_header(&mut self) -> FrameHeader {
        let length = match self.length_bytes() {
            0 => u64::from(self.header[1] & 0x7f),
            count => self.header[2..2 + count]
                .iter()
                .fold(0, |length, byte| length << 8 | u64::from(*byte)),
        };
        self.header_length = 0;
        FrameHeader {
            is_control: self.header[0] & 0x08 != 0,
            is_last: self.header[0] & 0x80 != 0,
            length,
        }
    }
}

impl FrameRefusal {
    /// What `error` says, if it is one of ours.
    pub(super) fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }

    pub(super) fn code(self) -> CloseCode {
        match self {
            Self::TooLong => CloseCode::Size,
            Self::TooSlow => CloseCode::Policy,
            Self::OverBudget(_) => CloseCode::Again,
        }
    }

    /// At most 123 bytes fit.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::TooLong => "The message is longer than this socket may send.",
            Self::TooSlow => "The message did not arrive whole in time. Send it again.",
            Self::OverBudget(_) => {
                "You are sending too much data at once. Try again in a few seconds."
            }
        }
    }
}

impl From<FrameRefusal> for io::Error {
    fn from(refusal: FrameRefusal) -> Self {
        Self::other(refusal)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for IncomingFrames<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            ready!(this.poll_room(context))?;
            if !this.held.is_empty() {
                let count = this.held.len().min(buffer.remaining());
                buffer.put_slice(&this.held[..count]);
                this.held.drain(..count);
                return Poll::Ready(Ok(()));
            }
            let before = buffer.filled().len();
            match Pin::new(&mut this.inner).poll_read(context, buffer) {
                Poll::Ready(Ok(())) => this.pass(&buffer.filled()[before..]),
                Poll::Pending if this.is_late(context) => {
                    return Poll::Ready(Err(FrameRefusal::TooSlow.into()));
                }
                other => return other,
            }
            if !this.needs_room() {
                return Poll::Ready(Ok(()));
            }
            this.held.extend_from_slice(&buffer.filled()[before..]);
            buffer.set_filled(before);
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for IncomingFrames<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
