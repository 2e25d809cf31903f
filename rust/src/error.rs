// SPDX-License-Identifier: LGPL-2.1-or-later
//! What libtwheel returns, as an `io::Result`.
use std::io::{Error, ErrorKind, Result};
use std::os::raw::c_int;

pub const EBADF: c_int = 9;
const ENODEV: c_int = 19;
const ENOTTY: c_int = 25;
pub const ENOSPC: c_int = 28;
const ERANGE: c_int = 34;
const EPROTO: c_int = 71;
const EOPNOTSUPP: c_int = 95;

/// A count that is not negative, or the error of a negative errno.
pub fn check(ret: c_int) -> Result<u32> {
    u32::try_from(ret).map_err(|_| error(-ret))
}

/// The error of an errno. Those that std has no kind for, or no words that help, get both.
pub fn error(errno: c_int) -> Error {
    let os = Error::from_raw_os_error(errno);
    let (kind, text) = match errno {
        ENODEV => (
            ErrorKind::NotFound,
            "there is no such device, or its module is not loaded",
        ),
        ENOTTY => (ErrorKind::InvalidInput, "this file is not a wheel"),
        ENOSPC => (
            os.kind(),
            "all timers of the wheel are in use, see Options::capacity",
        ),
        ERANGE => (
            ErrorKind::InvalidInput,
            "a capacity, time, count or the like is too large",
        ),
        EPROTO => (
            ErrorKind::Unsupported,
            "the module twheel is of another release",
        ),
        EOPNOTSUPP => (
            ErrorKind::Unsupported,
            "this wheel, or this machine, has no such thing",
        ),
        _ => return os,
    };

    Error::new(kind, format!("{text}: {os}"))
}
