// SPDX-License-Identifier: LGPL-2.1-or-later
//! How a wheel is opened.
use std::ffi::CString;
use std::io::{self, ErrorKind};
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, IntoRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut, NonNull};
use std::sync::Arc;
use std::time::Duration;

use crate::error::check;
use crate::time::nanos;
use crate::wheel::Handle;
use crate::{sys, Events, Timer, Wheel};

/// A clock that a wheel goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clock {
    /// `CLOCK_MONOTONIC`, the default.
    Monotonic,
    /// `CLOCK_BOOTTIME`, which goes on while the machine is suspended.
    Boottime,
    /// `CLOCK_REALTIME`, which can be set.
    Realtime,
}

impl Clock {
    /// As the kernel numbers them.
    fn number(self) -> u32 {
        match self {
            Clock::Realtime => 0,
            Clock::Monotonic => 1,
            Clock::Boottime => 7,
        }
    }
}

/// What wheel to open.
///
/// ```
/// # use std::time::Duration;
/// # fn main() -> std::io::Result<()> {
/// let (wheel, events) = twheel::Options::new()
///     .capacity(1_000_000)
///     .tick(Duration::from_millis(10))
///     .open()?;
/// # assert_eq!(wheel.capacity(), 1_000_000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    flags: u32,
    path: Option<PathBuf>,
    clock: Option<Clock>,
    tick: Duration,
    capacity: u32,
}

impl Options {
    /// All defaults.
    pub fn new() -> Options {
        Options::default()
    }

    /// The device; `/dev/twheel` unless it is given. One that is given has to be there.
    pub fn path(&mut self, path: impl AsRef<Path>) -> &mut Options {
        self.path = Some(path.as_ref().to_owned());
        self
    }

    /// The clock that the wheel goes by.
    pub fn clock(&mut self, clock: Clock) -> &mut Options {
        self.clock = Some(clock);
        self.flag(sys::OPEN_CLOCK)
    }

    /// How long a deadline may have to wait, so that timers are due together; 1 ms by default.
    pub fn tick(&mut self, tick: Duration) -> &mut Options {
        self.tick = tick;
        self
    }

    /// How many timers there can be; 65,536 by default.
    pub fn capacity(&mut self, capacity: u32) -> &mut Options {
        self.capacity = capacity;
        self
    }

    /// Make a call for each change, also where a store would be enough.
    pub fn no_words(&mut self) -> &mut Options {
        self.flag(sys::OPEN_NO_WORDS)
    }

    /// Collect the calls that stores need; see [`Wheel::flush`].
    pub fn batch(&mut self) -> &mut Options {
        self.flag(sys::OPEN_BATCH)
    }

    /// Where there is no device, fail: a wheel in the process will not do.
    pub fn device(&mut self) -> &mut Options {
        self.flag(sys::OPEN_DEVICE)
    }

    /// A wheel in the process, also where there is a device.
    pub fn fallback(&mut self) -> &mut Options {
        self.flag(sys::OPEN_FALLBACK)
    }

    fn flag(&mut self, flag: u32) -> &mut Options {
        self.flags |= flag;
        self
    }

    /// Opens a wheel. Its one [`Events`] come with it.
    ///
    /// # Errors
    ///
    /// [`NotFound`](ErrorKind::NotFound): there is no device, and [`device`](Options::device) or
    /// [`path`](Options::path) asks for one.
    /// [`PermissionDenied`](ErrorKind::PermissionDenied): this user may not open it; or the
    /// tick is below 0.1 ms, which takes `CAP_SYS_RESOURCE`.
    /// [`InvalidInput`](ErrorKind::InvalidInput): what is asked for is out of its range, or makes
    /// no sense together, or the path is that of something else.
    /// [`Unsupported`](ErrorKind::Unsupported): the module is of another release.
    /// Beside these, whatever `twheel_open(3)` lists, by `raw_os_error`.
    pub fn open(&self) -> io::Result<(Wheel, Events)> {
        let raw = self.open_raw(0, 0)?;
        // SAFETY: it was just opened.
        let handle = Arc::new(unsafe { Handle::new(raw, None) });

        Ok((Wheel::new(handle.clone()), Events::new(handle)))
    }

    /// Goes on with a wheel of the kernel that was opened before: by a process of which this one
    /// has inherited the file descriptor, or by whom it was handed over. There is a timer for
    /// each that is armed, or whose event waits; all others are free.
    ///
    /// A clock, tick or capacity that is given must be that of the wheel, unless the wheel was
    /// never used.
    ///
    /// # Safety
    ///
    /// While this wheel is open, nobody else takes events of it, or changes its timers: no
    /// other process that has the file open, and no other `Wheel` of this one.
    ///
    /// # Errors
    ///
    /// As [`open`](Options::open), and [`InvalidInput`](ErrorKind::InvalidInput): it is not a
    /// wheel. The file is closed then.
    pub unsafe fn adopt_fd(&self, fd: OwnedFd) -> io::Result<(Wheel, Events, Vec<Timer>)> {
        let raw = self.open_raw(sys::OPEN_FD, fd.as_raw_fd())?;
        // It closes the file.
        let _ = fd.into_raw_fd();
        // SAFETY: it was just opened.
        let mut handle = unsafe { Handle::new(raw, Some(&[])) };
        handle.adopt()?;
        let used: Vec<u32> = handle.armed()?.iter().map(|timer| timer.id()).collect();
        handle.in_use(&used);
        let handle = Arc::new(handle);
        let timers = used
            .iter()
            .map(|id| Timer::new(handle.clone(), *id))
            .collect();

        Ok((Wheel::new(handle.clone()), Events::new(handle), timers))
    }

    fn open_raw(&self, flags: u32, fd: i32) -> io::Result<NonNull<sys::Wheel>> {
        let path = match &self.path {
            Some(path) => Some(CString::new(path.as_os_str().as_bytes()).map_err(|_| {
                io::Error::new(
                    ErrorKind::InvalidInput,
                    "there is a NUL in the path of the device",
                )
            })?),
            None => None,
        };
        let options = sys::Options {
            size: size_of::<sys::Options>() as u32,
            flags: self.flags | flags,
            path: path.as_ref().map_or(null(), |path| path.as_ptr()),
            fd,
            clock: self.clock.map_or(0, Clock::number),
            tick: nanos(self.tick),
            capacity: self.capacity,
            reserved: 0,
        };
        let mut raw = null_mut();

        // SAFETY: both are there for the call, and so is the path.
        check(unsafe { sys::twheel_open(&mut raw, &options) })?;
        Ok(NonNull::new(raw).expect("a handle of libtwheel"))
    }
}
