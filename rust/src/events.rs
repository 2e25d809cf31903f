// SPDX-License-Identifier: LGPL-2.1-or-later
//! What tells of timers that are due.
use std::cell::Cell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ops::Deref;
use std::os::raw::c_int;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::slice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::{check, error, EBADF};
use crate::wheel::Handle;
use crate::{sys, Time, TimerInfo};

/// So many events are taken at a time.
const PART: usize = 256;

/// A timer was due.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Event(sys::Event);

impl Event {
    /// The timer.
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// When it was due.
    pub fn deadline(&self) -> Time {
        Time(self.0.deadline)
    }

    /// When the wheel found it due; never before the deadline.
    pub fn fired(&self) -> Time {
        Time(self.0.fired)
    }

    /// Of a periodic one: the periods that passed beyond this one.
    pub fn overruns(&self) -> u64 {
        self.0.overruns
    }

    /// The number that [`Arming::cookie`](crate::Arming::cookie) gave it, or 0.
    pub fn cookie(&self) -> u64 {
        self.0.cookie
    }

    /// Is the timer not armed any more?
    pub fn is_last(&self) -> bool {
        self.0.flags & sys::EVENT_LAST != 0
    }
}

/// The events of a wheel. There is one of these for each wheel, and who has it takes them.
///
/// It is `Send` and not `Sync`, as [`Timer::extend`](crate::Timer::extend) needs.
pub struct Events {
    handle: Arc<Handle>,
    taken: Vec<Event>,
    alone: PhantomData<Cell<()>>,
}

impl Events {
    pub(crate) fn new(handle: Arc<Handle>) -> Events {
        Events {
            handle,
            taken: Vec::with_capacity(PART),
            alone: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn are_of(&self, handle: &Arc<Handle>) -> bool {
        Arc::ptr_eq(&self.handle, handle)
    }

    /// Takes events that have come, some hundreds at most; none if there are none.
    ///
    /// # Errors
    ///
    /// As `twheel_take(3)`.
    pub fn take(&mut self) -> io::Result<Batch<'_>> {
        self.fill()?;
        Ok(Batch { events: self })
    }

    /// Takes events, and waits for the first, so long or for ever. None if the time is over, which
    /// may be a millisecond late.
    ///
    /// # Errors
    ///
    /// [`Interrupted`](io::ErrorKind::Interrupted): a signal came before the first event. Else as
    /// `twheel_take(3)` and [`Wheel::flush`](crate::Wheel::flush).
    pub fn wait(&mut self, timeout: impl Into<Option<Duration>>) -> io::Result<Batch<'_>> {
        // What is further off than times reach is for ever.
        let end = timeout
            .into()
            .and_then(|timeout| Instant::now().checked_add(timeout));

        // Before the first take: where events always come, a timer on a batch would otherwise
        // never reach the kernel.
        self.handle.flush()?;
        while self.fill()? == 0 {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));

            if left == Some(Duration::ZERO) {
                break;
            }
            // Not by twheel_wait(): while it sleeps it is about to take events, and no id that
            // comes back could be given out again.
            self.poll(left)?;
        }
        Ok(Batch { events: self })
    }

    /// Cancels all timers that are armed, and tells what they were.
    ///
    /// # Errors
    ///
    /// As `twheel_drain(3)`.
    pub fn drain(&mut self) -> io::Result<Vec<TimerInfo>> {
        self.handle.list(sys::twheel_drain)
    }

    /// Takes events into the buffer; how many.
    fn fill(&mut self) -> io::Result<usize> {
        self.taken.clear();
        self.handle.ids().begin_batch();
        // SAFETY: it is open, and there is room for so many; Event is one of the library's.
        let ret = unsafe {
            sys::twheel_take(
                self.handle.raw(),
                self.taken.as_mut_ptr().cast(),
                PART as u32,
            )
        };
        if ret <= 0 {
            self.handle.ids().end_batch();
        }
        let nr = check(ret)? as usize;
        // SAFETY: so many were written.
        unsafe { self.taken.set_len(nr) };
        Ok(nr)
    }

    /// Sleeps until there may be events to take.
    fn poll(&self, left: Option<Duration>) -> io::Result<()> {
        let mut wheel = sys::PollFd {
            fd: self.handle.fd(),
            events: sys::POLLIN,
            revents: 0,
        };
        // Rounded up, not to come round again for the rest.
        let ms = left.map_or(-1, |left| {
            c_int::try_from((left + Duration::from_nanos(999_999)).as_millis())
                .unwrap_or(c_int::MAX)
        });

        // SAFETY: there is one.
        if unsafe { sys::poll(&mut wheel, 1, ms) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // Somebody has closed the file: it would never be readable.
        if wheel.revents & sys::POLLNVAL != 0 {
            return Err(error(EBADF));
        }
        Ok(())
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("fd", &self.as_raw_fd())
            .finish()
    }
}

/// Readable when there are events to take, or nearly so.
impl AsFd for Events {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is open as long as the handle is.
        unsafe { BorrowedFd::borrow_raw(self.handle.fd()) }
    }
}

impl AsRawFd for Events {
    fn as_raw_fd(&self) -> RawFd {
        self.handle.fd()
    }
}

/// Events that were taken: a slice of them, which `&batch` iterates over.
///
/// As long as it is there no id that one of them may tell of is given to another timer: so who
/// drops a timer while it goes through a batch, and makes another one, takes no event of the old
/// one for an event of the new one.
///
/// Timers can be extended meanwhile, with [`events`](Batch::events):
///
/// ```
/// # use std::time::Duration;
/// # fn main() -> std::io::Result<()> {
/// # let (wheel, mut events) = twheel::open()?;
/// # let mut timers = vec![wheel.timer()?, wheel.timer()?];
/// # timers[0].arm(wheel.now())?;
/// # timers[1].arm(wheel.now() + Duration::from_secs(10))?;
/// let batch = events.wait(None)?;
/// for event in &batch {
///     assert_eq!(event.id(), 0);
///     timers[1].extend(batch.events(), wheel.now() + Duration::from_secs(30))?;
/// }
/// # assert_eq!(batch.len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// The next batch can't be taken before it is dropped:
///
/// ```compile_fail,E0499
/// # fn main() -> std::io::Result<()> {
/// let (_wheel, mut events) = twheel::open()?;
/// let batch = events.take()?;
/// events.take()?;
/// drop(batch);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Batch<'a> {
    events: &'a mut Events,
}

impl Batch<'_> {
    /// Whose batch it is.
    pub fn events(&self) -> &Events {
        self.events
    }
}

impl Deref for Batch<'_> {
    type Target = [Event];

    fn deref(&self) -> &[Event] {
        &self.events.taken
    }
}

impl<'b> IntoIterator for &'b Batch<'_> {
    type Item = &'b Event;
    type IntoIter = slice::Iter<'b, Event>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.events.handle.ids().end_batch();
    }
}
