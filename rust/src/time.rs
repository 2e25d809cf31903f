// SPDX-License-Identifier: LGPL-2.1-or-later
//! Times of a wheel's clock.
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// A time of a wheel's clock, in nanoseconds. [`Wheel::now`](crate::Wheel::now) tells it, and
/// deadlines are made from that:
///
/// ```
/// # use std::time::Duration;
/// # fn main() -> std::io::Result<()> {
/// let (wheel, _events) = twheel::open()?;
/// let deadline = wheel.now() + Duration::from_secs(30);
/// # assert!(deadline - wheel.now() > Duration::from_secs(20));
/// # Ok(())
/// # }
/// ```
///
/// What is too large for it is the last time that there is, in 584 years.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub(crate) u64);

impl Time {
    /// A deadline that never comes: a timer that is armed for it is not armed.
    pub const NEVER: Time = Time(0);

    /// The time that is so many nanoseconds after the beginning of the clock; 0: never.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Nanoseconds since the beginning of the clock.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

/// A duration in ns, or the longest there is.
pub(crate) fn nanos(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

impl Add<Duration> for Time {
    type Output = Time;

    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(nanos(duration)))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

/// How long after another time; zero if it is before that.
impl Sub for Time {
    type Output = Duration;

    fn sub(self, earlier: Time) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_end_where_times_do() {
        let mut time = Time::from_nanos(5) + Duration::from_micros(1);

        assert_eq!(time.as_nanos(), 1005);
        time += Duration::from_nanos(1);
        assert_eq!(time - Time::from_nanos(6), Duration::from_micros(1));
        assert_eq!(Time::from_nanos(6) - time, Duration::ZERO);
        assert_eq!((time + Duration::MAX).as_nanos(), u64::MAX);
        assert_eq!(nanos(Duration::from_secs(u64::MAX)), u64::MAX);
    }
}
