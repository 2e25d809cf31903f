// SPDX-License-Identifier: LGPL-2.1-or-later
//! Timers for programs that hold many of them, and push most of them back or cancel them before
//! they are due.
//!
//! A [`Wheel`] is the kernel's, of `/dev/twheel`, or one in the process where there is no device.
//! A [`Timer`] of it is armed, pushed back and cancelled with a store to memory that is shared
//! with the kernel. [`Events`] tell of those that are due; its file descriptor goes into any set of
//! epoll. The library behind this is libtwheel, whose `twheel.h` and man pages say what each
//! function does in detail.
//!
//! ```
//! # use std::time::Duration;
//! # fn main() -> std::io::Result<()> {
//! let (wheel, mut events) = twheel::open()?;
//! let mut timer = wheel.timer()?;
//!
//! timer.arm(wheel.now() + Duration::from_millis(25))?;
//! // No: in 50. A store.
//! timer.extend(&events, wheel.now() + Duration::from_millis(50))?;
//! for event in &events.wait(None)? {
//!     println!("timer {} is due", event.id());
//!     assert_eq!(event.id(), timer.id());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Threads
//!
//! A wheel may be used by any thread. A timer is one thread's at a time, which its owner decides
//! by the usual rules: what changes it takes `&mut`. Events are taken in one place, by whoever has
//! the one [`Events`] of a wheel.
//!
//! So the compiler sees to the one rule that libtwheel leaves to its caller, that of
//! `twheel_extend()`: a bare store moves a timer only where no other thread changes it, and none
//! takes its events. [`Timer::extend`] takes `&mut` of the timer, and a reference to the `Events`,
//! which are not `Sync`.
//!
//! Two threads can't extend a timer at once:
//!
//! ```compile_fail,E0499
//! # use std::time::Duration;
//! # fn main() -> std::io::Result<()> {
//! let (wheel, events) = twheel::open()?;
//! let mut timer = wheel.timer()?;
//! std::thread::scope(|scope| {
//!     scope.spawn(|| timer.arm(wheel.now()));
//!     scope.spawn(|| timer.arm(wheel.now()));
//! });
//! # Ok(())
//! # }
//! ```
//!
//! Nor can one extend it while another takes events:
//!
//! ```compile_fail,E0277
//! # use std::time::Duration;
//! # fn main() -> std::io::Result<()> {
//! let (wheel, events) = twheel::open()?;
//! let mut timer = wheel.timer()?;
//! std::thread::scope(|scope| {
//!     scope.spawn(|| timer.extend(&events, wheel.now()));
//! });
//! # Ok(())
//! # }
//! ```
//!
//! It arms it then, with an exchange in place of the store, and that compiles:
//!
//! ```
//! # use std::time::Duration;
//! # fn main() -> std::io::Result<()> {
//! let (wheel, mut events) = twheel::open()?;
//! let mut timer = wheel.timer()?;
//! std::thread::scope(|scope| {
//!     scope.spawn(|| timer.arm(wheel.now()));
//!     scope.spawn(|| assert!(!events.wait(None).unwrap().is_empty()));
//! });
//! # Ok(())
//! # }
//! ```
//!
//! What a program does by itself with the file descriptor, reading it for instance, nobody sees
//! here: it is for polling.
//!
//! # Processes
//!
//! A wheel of the kernel goes on when its process ends, if somebody else has the file open:
//! systemd's file descriptor store for example. [`Options::adopt_fd`] goes on with it. A child
//! after `fork()` shares the wheel, and `twheel.h` says what it may do.

#![warn(missing_docs, missing_debug_implementations)]
#![deny(unsafe_op_in_unsafe_fn)]

mod error;
mod events;
mod ids;
mod options;
mod sys;
mod time;
mod timer;
mod wheel;

pub use events::{Batch, Event, Events};
pub use options::{Clock, Options};
pub use time::Time;
pub use timer::{Arming, State, Timer, TimerInfo};
pub use wheel::Wheel;

use std::ffi::CStr;
use std::io;

/// What README.md shows is compiled and run, as the examples here are.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadMe;

/// A wheel with defaults: [`Options::open`] with none given.
///
/// # Errors
///
/// As [`Options::open`].
pub fn open() -> io::Result<(Wheel, Events)> {
    Options::new().open()
}

/// The release of the libtwheel that the program has found: "0.9.0" for example.
pub fn version() -> &'static str {
    // SAFETY: it is a string of the library.
    let version = unsafe { CStr::from_ptr(sys::twheel_version()) };

    version.to_str().unwrap_or_default()
}
