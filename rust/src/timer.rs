// SPDX-License-Identifier: LGPL-2.1-or-later
//! A timer, and what changes it. The stores that libtwheel has as inline functions in `twheel.h`
//! are made here, inline as well.
use std::io;
use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};
use std::sync::Arc;
use std::time::Duration;

use crate::error::check;
use crate::time::nanos;
use crate::wheel::Handle;
use crate::{sys, Events, Time};

/// Would the kernel look too late? 0 stands for never, on either side.
#[inline]
fn uncovered(deadline: Time, promise: u64) -> bool {
    deadline.0.wrapping_sub(1) < promise.wrapping_sub(1)
}

/// A timer of a [`Wheel`](crate::Wheel).
///
/// When it is dropped it is cancelled, and its id is free for another one.
#[derive(Debug)]
pub struct Timer {
    handle: Arc<Handle>,
    id: u32,
    /// It may have an interval, a count, slack or a cookie, which stay with the id.
    terms: bool,
}

impl Timer {
    pub(crate) fn new(handle: Arc<Handle>, id: u32) -> Timer {
        let terms = handle.is_inherited();

        Timer { handle, id, terms }
    }

    /// Its number, by which events tell of it: below the capacity of the wheel.
    #[inline]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Arms it, or moves it, to earlier or later. A deadline in the past is due now.
    ///
    /// An exchange and a load, and a call if the kernel would look too late: it is not looking
    /// yet, or for something later. What [`arm_with`](Timer::arm_with) said stays.
    ///
    /// # Errors
    ///
    /// Where timers have words, none that a limit or memory is the reason of. After another one the
    /// timer may be late; by another `arm` the call is tried again.
    #[inline]
    pub fn arm(&mut self, deadline: Time) -> io::Result<()> {
        if let Some(word) = self.handle.word(self.id) {
            // Pairs with the kernel's barrier between its store of the promise and its second
            // look.
            word.deadline.swap(deadline.0, SeqCst);
            if !uncovered(deadline, word.promise.load(SeqCst)) {
                return Ok(());
            }
        }
        self.arm_slow(deadline)
    }

    /// Moves it to later: a load and a store.
    ///
    /// `events` are those of its wheel: who has them is the one who takes events, and is not
    /// doing so. If they are of another wheel, or the timer is not armed, or the deadline is
    /// earlier, it is [`arm`](Timer::arm).
    ///
    /// # Errors
    ///
    /// As [`arm`](Timer::arm).
    #[inline]
    pub fn extend(&mut self, events: &Events, deadline: Time) -> io::Result<()> {
        match self.handle.word(self.id) {
            Some(word)
                if events.are_of(&self.handle)
                    && !uncovered(deadline, word.deadline.load(Relaxed)) =>
            {
                // An event that has come meanwhile has the old deadline: the read that takes
                // it, by this thread, finds it stale, and the kernel files the timer anew.
                word.deadline.store(deadline.0, Relaxed);
                Ok(())
            }
            _ => self.arm(deadline),
        }
    }

    /// Makes sure that it is not armed: a store.
    ///
    /// Another thread may still take its event until it is told of the cancel in some way, by a
    /// mutex or a channel; [`cancel_tell`](Timer::cancel_tell) takes that moment away.
    ///
    /// # Errors
    ///
    /// None where timers have words.
    #[inline]
    pub fn cancel(&mut self) -> io::Result<()> {
        if let Some(word) = self.handle.word(self.id) {
            word.deadline.store(0, Release);
            return Ok(());
        }
        // SAFETY: it is open.
        check(unsafe { sys::twheel_cancel(self.handle.raw(), self.id) }).map(drop)
    }

    /// Cancels it, and tells what it was. No thread takes its event from then on.
    ///
    /// # Errors
    ///
    /// None where timers have words.
    pub fn cancel_tell(&mut self) -> io::Result<State> {
        // SAFETY: it is open.
        check(unsafe { sys::twheel_cancel_tell(self.handle.raw(), self.id) }).map(State::of)
    }

    /// Arms it, with all there is to say. A call.
    ///
    /// # Errors
    ///
    /// [`InvalidInput`](io::ErrorKind::InvalidInput): an interval, slack or count is out of its
    /// range, or a count is without an interval. And whatever `twheel_arm_with(3)` lists.
    pub fn arm_with(&mut self, arming: &Arming) -> io::Result<()> {
        self.terms = true;
        // SAFETY: it is open, and the arming is there for the call.
        check(unsafe { sys::twheel_arm_with(self.handle.raw(), self.id, &arming.0) }).map(drop)
    }

    /// All about it. A call.
    ///
    /// # Errors
    ///
    /// As `twheel_get(3)`.
    pub fn info(&self) -> io::Result<TimerInfo> {
        let mut info = sys::Timer::default();

        // SAFETY: it is open, and there is room for it.
        check(unsafe { sys::twheel_get(self.handle.raw(), self.id, &mut info) })?;
        Ok(TimerInfo(info))
    }

    /// Leaves it as it is: armed, for [`Options::adopt_fd`](crate::Options::adopt_fd) of a
    /// successor. Its id is in use as long as the wheel is open.
    pub fn into_id(self) -> u32 {
        let timer = ManuallyDrop::new(self);

        // SAFETY: it is dropped in place of the timer, which is not.
        drop(unsafe { std::ptr::read(&timer.handle) });
        timer.id
    }

    /// Cancels it, and forgets what was said of it.
    pub(crate) fn forget_terms(&mut self) -> io::Result<()> {
        self.arm_with(&Arming::at(Time::NEVER))?;
        self.terms = false;
        Ok(())
    }

    #[cold]
    fn arm_slow(&self, deadline: Time) -> io::Result<()> {
        // SAFETY: it is open.
        check(unsafe { sys::twheel_arm_slow(self.handle.raw(), self.id, deadline.0) }).map(drop)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // By an exchange or a call, so that no event is taken that another timer with this id
        // would be told of.
        let done = if self.terms {
            self.forget_terms()
        } else {
            self.cancel_tell().map(drop)
        };

        // What can't be cancelled keeps its id.
        if done.is_ok() {
            self.handle.ids().give_back(self.id);
        }
    }
}

/// How [`Timer::arm_with`] arms a timer.
///
/// ```
/// # use std::time::Duration;
/// # use twheel::Arming;
/// # fn main() -> std::io::Result<()> {
/// let (wheel, mut events) = twheel::open()?;
/// let mut timer = wheel.timer()?;
/// let second = Duration::from_secs(1);
///
/// // Every second, ten times; a tenth of a second later will do.
/// timer.arm_with(&Arming::after(second).every(second).times(10).slack(second / 10))?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Arming(sys::Arming);

impl Arming {
    /// For this time.
    pub fn at(deadline: Time) -> Arming {
        Arming(sys::Arming {
            deadline: deadline.0,
            ..sys::Arming::default()
        })
    }

    /// So long after the call.
    pub fn after(delay: Duration) -> Arming {
        // 0 is never.
        let deadline = nanos(delay).max(1);

        Arming(sys::Arming {
            flags: sys::ARM_RELATIVE,
            deadline,
            ..sys::Arming::default()
        })
    }

    /// And again after each such interval, for ever.
    #[must_use]
    pub fn every(mut self, interval: Duration) -> Arming {
        self.0.interval = nanos(interval);
        self
    }

    /// With an interval: so many times in all; 0: for ever.
    #[must_use]
    pub fn times(mut self, count: u32) -> Arming {
        self.0.count = count;
        self
    }

    /// It may be so much late, so that timers are due together.
    #[must_use]
    pub fn slack(mut self, slack: Duration) -> Arming {
        self.0.slack = nanos(slack);
        self
    }

    /// A number that its events tell.
    #[must_use]
    pub fn cookie(mut self, cookie: u64) -> Arming {
        self.0.cookie = cookie;
        self
    }
}

/// What a timer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not armed: never, or cancelled, or its last event was taken.
    Idle,
    /// Armed, and no event has come.
    Pending,
    /// Its event has come, and nobody has taken it.
    Expired,
}

impl State {
    fn of(state: u32) -> State {
        match state {
            sys::STATE_PENDING => State::Pending,
            sys::STATE_EXPIRED => State::Expired,
            _ => State::Idle,
        }
    }
}

/// What is known of a timer.
#[derive(Clone, Copy, Debug)]
pub struct TimerInfo(pub(crate) sys::Timer);

impl TimerInfo {
    /// The timer.
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// What it is.
    pub fn state(&self) -> State {
        State::of(self.0.state)
    }

    /// When it is due next, or was.
    pub fn deadline(&self) -> Time {
        Time(self.0.deadline)
    }

    /// How long until then; zero if that has passed.
    pub fn remaining(&self) -> Duration {
        Duration::from_nanos(self.0.remaining)
    }

    /// Of a periodic one.
    pub fn interval(&self) -> Option<Duration> {
        (self.0.interval != 0).then(|| Duration::from_nanos(self.0.interval))
    }

    /// Of one that expires only so many times more: how many.
    pub fn count(&self) -> Option<u32> {
        (self.0.count != 0).then_some(self.0.count)
    }

    /// How much it may be late, as the wheel keeps it.
    pub fn slack(&self) -> Duration {
        Duration::from_nanos(self.0.slack)
    }

    /// The number that its events tell.
    pub fn cookie(&self) -> u64 {
        self.0.cookie
    }
}
