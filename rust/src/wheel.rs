// SPDX-License-Identifier: LGPL-2.1-or-later
//! A wheel, and the handle of libtwheel that all of its parts share.
use std::fmt;
use std::io;
use std::os::raw::c_int;
use std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{check, error, ENOSPC};
use crate::ids::Ids;
use crate::{sys, Time, Timer, TimerInfo};

/// Timers that are listed at a time.
const PART: usize = 256;

/// A function that lists timers, as libtwheel has two.
pub(crate) type List =
    unsafe extern "C" fn(*mut sys::Wheel, *mut u32, *mut sys::Timer, u32) -> c_int;

/// What a wheel, its events and its timers share.
pub(crate) struct Handle {
    raw: NonNull<sys::Wheel>,
    words: *const sys::Word,
    /// So many there are: of the ids below.
    nr_words: u32,
    /// Somebody had the wheel before, and what was said of a timer then is the wheel's still.
    inherited: bool,
    ids: Mutex<Ids>,
}

// SAFETY: any function of the library may be called by any thread, but for twheel_extend(), of
// which timer.rs takes care, and twheel_close(), which is called when nobody has it any more. The
// words are atomics.
unsafe impl Send for Handle {}
// SAFETY: the same.
unsafe impl Sync for Handle {}

impl Handle {
    /// `used`: the ids in use of a wheel that somebody had before; `None`: nobody had.
    ///
    /// # Safety
    ///
    /// It is a handle of libtwheel, and this one's alone.
    pub(crate) unsafe fn new(raw: NonNull<sys::Wheel>, used: Option<&[u32]>) -> Handle {
        let mut nr_words = 0;
        // SAFETY: the caller says so.
        let words = unsafe { sys::twheel_words(raw.as_ptr(), &mut nr_words) };
        // SAFETY: the same.
        let capacity = unsafe { sys::twheel_capacity(raw.as_ptr()) };

        Handle {
            raw,
            words,
            nr_words,
            inherited: used.is_some(),
            ids: Mutex::new(Ids::new(capacity, used.unwrap_or_default())),
        }
    }

    pub(crate) fn raw(&self) -> *mut sys::Wheel {
        self.raw.as_ptr()
    }

    /// The word of a timer; `None`: it has none.
    #[inline]
    pub(crate) fn word(&self, id: u32) -> Option<&sys::Word> {
        if id >= self.nr_words {
            return None;
        }
        // SAFETY: there are so many, until the handle is closed.
        Some(unsafe { &*self.words.add(id as usize) })
    }

    pub(crate) fn ids(&self) -> MutexGuard<'_, Ids> {
        // What panics there leaves them as they were.
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_inherited(&self) -> bool {
        self.inherited
    }

    /// Of a handle that nobody uses yet.
    pub(crate) fn in_use(&mut self, used: &[u32]) {
        let capacity = self.capacity();

        *self.ids() = Ids::new(capacity, used);
    }

    pub(crate) fn capacity(&self) -> u32 {
        // SAFETY: it is open.
        unsafe { sys::twheel_capacity(self.raw()) }
    }

    pub(crate) fn fd(&self) -> RawFd {
        // SAFETY: it is open.
        unsafe { sys::twheel_fd(self.raw()) }
    }

    pub(crate) fn has(&self, what: u32) -> bool {
        // SAFETY: it is open.
        unsafe { sys::twheel_has(self.raw()) & what != 0 }
    }

    pub(crate) fn flush(&self) -> io::Result<()> {
        // SAFETY: it is open.
        check(unsafe { sys::twheel_flush(self.raw()) }).map(drop)
    }

    pub(crate) fn adopt(&self) -> io::Result<()> {
        // SAFETY: it is open.
        check(unsafe { sys::twheel_adopt(self.raw()) }).map(drop)
    }

    pub(crate) fn armed(&self) -> io::Result<Vec<TimerInfo>> {
        self.list(sys::twheel_list_armed)
    }

    pub(crate) fn list(&self, list: List) -> io::Result<Vec<TimerInfo>> {
        let mut part = [sys::Timer::default(); PART];
        let mut all = Vec::new();
        let mut cursor = 0;

        loop {
            // SAFETY: it is open, and there is room for as many.
            let ret = unsafe { list(self.raw(), &mut cursor, part.as_mut_ptr(), PART as u32) };
            match check(ret)? as usize {
                0 => return Ok(all),
                nr => all.extend(part[..nr].iter().copied().map(TimerInfo)),
            }
        }
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("fd", &self.fd())
            .finish_non_exhaustive()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it is open, and nobody else has it.
        unsafe { sys::twheel_close(self.raw()) }
    }
}

/// A wheel, in the kernel or in this process.
///
/// It is cheap to clone: a clone is the same wheel. It is closed when the last one, its
/// [`Events`](crate::Events) and all its timers are dropped.
#[derive(Clone)]
pub struct Wheel {
    handle: Arc<Handle>,
}

impl Wheel {
    pub(crate) fn new(handle: Arc<Handle>) -> Wheel {
        Wheel { handle }
    }

    /// What time it is, by the wheel's clock.
    pub fn now(&self) -> Time {
        // SAFETY: it is open.
        Time(unsafe { sys::twheel_now(self.handle.raw()) })
    }

    /// A timer, not armed yet.
    ///
    /// Its id is one that no other timer of this wheel has: below the capacity, and a low one, so
    /// that what belongs to it can be kept in a `Vec`.
    ///
    /// # Errors
    ///
    /// Every id is in use. A timer that is dropped gives its own back, but while events are being
    /// taken, and until their [`Batch`](crate::Batch) is dropped, which may tell of it, that waits.
    pub fn timer(&self) -> io::Result<Timer> {
        let id = self.handle.ids().take().ok_or_else(|| error(ENOSPC))?;
        let mut timer = Timer::new(self.handle.clone(), id);

        if self.handle.is_inherited() {
            timer.forget_terms()?;
        }
        Ok(timer)
    }

    /// How many timers there can be.
    pub fn capacity(&self) -> u32 {
        self.handle.capacity()
    }

    /// Is a store enough for most changes?
    pub fn has_words(&self) -> bool {
        self.handle.has(sys::HAS_WORDS)
    }

    /// Is the wheel in this process, and not the kernel's?
    pub fn is_fallback(&self) -> bool {
        self.handle.has(sys::HAS_FALLBACK)
    }

    /// Makes the calls that were collected, with [`Options::batch`](crate::Options::batch).
    ///
    /// Until then a timer that needs one may come late. [`Events::wait`](crate::Events::wait) does
    /// it by itself; who sleeps otherwise, in epoll for example, calls this first.
    ///
    /// # Errors
    ///
    /// What kept a call from being made. It tells of timers that may be late.
    pub fn flush(&self) -> io::Result<()> {
        self.handle.flush()
    }

    /// All timers that are armed, or whose event waits.
    ///
    /// # Errors
    ///
    /// As `twheel_list_armed(3)`.
    pub fn armed(&self) -> io::Result<Vec<TimerInfo>> {
        self.handle.armed()
    }
}

impl fmt::Debug for Wheel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wheel")
            .field("fd", &self.as_raw_fd())
            .field("capacity", &self.capacity())
            .field("fallback", &self.is_fallback())
            .finish()
    }
}

/// Readable when there are events to take, or nearly so.
impl AsFd for Wheel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is open as long as the handle is.
        unsafe { BorrowedFd::borrow_raw(self.handle.fd()) }
    }
}

impl AsRawFd for Wheel {
    fn as_raw_fd(&self) -> RawFd {
        self.handle.fd()
    }
}
