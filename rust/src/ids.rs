// SPDX-License-Identifier: LGPL-2.1-or-later
//! Which ids of a wheel are in use.

/// The ids below the capacity: those that a timer has, and the others.
///
/// An event tells of its timer by the id. So while somebody has a batch of events, no id is given
/// out again that may be in there: those that come back meanwhile are kept apart until then.
#[derive(Debug)]
pub struct Ids {
    capacity: u32,
    /// Ids from here on were never in use.
    fresh: u32,
    free: Vec<u32>,
    apart: Vec<u32>,
    batch: bool,
}

impl Ids {
    /// `used` are in use, in ascending order.
    pub fn new(capacity: u32, used: &[u32]) -> Ids {
        let fresh = used.last().map_or(0, |id| id + 1);
        let mut in_use = used.iter().rev().peekable();
        let free = (0..fresh)
            .rev()
            .filter(|id| in_use.next_if_eq(&id).is_none())
            .collect();

        Ids {
            capacity,
            fresh,
            free,
            apart: Vec::new(),
            batch: false,
        }
    }

    /// An id that is free.
    pub fn take(&mut self) -> Option<u32> {
        self.free.pop().or_else(|| {
            let id = self.fresh;

            (id < self.capacity).then(|| {
                self.fresh += 1;
                id
            })
        })
    }

    /// The timer of this id is cancelled, so that events taken from now on do not tell of it.
    pub fn give_back(&mut self, id: u32) {
        if self.batch {
            self.apart.push(id);
        } else {
            self.free.push(id);
        }
    }

    /// Events are about to be taken, and nobody has earlier ones.
    pub fn begin_batch(&mut self) {
        self.end_batch();
        self.batch = true;
    }

    /// Nobody has them any more, or there were none.
    pub fn end_batch(&mut self) {
        self.batch = false;
        self.free.append(&mut self.apart);
    }
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn each_is_given_out_once() {
        let mut ids = Ids::new(3, &[]);

        assert_eq!(
            [ids.take(), ids.take(), ids.take()],
            [Some(0), Some(1), Some(2)]
        );
        assert_eq!(ids.take(), None);
        ids.give_back(1);
        assert_eq!([ids.take(), ids.take()], [Some(1), None]);
    }

    #[test]
    fn those_in_use_are_left_out() {
        let mut ids = Ids::new(6, &[1, 3]);
        let mut all: Vec<u32> = std::iter::from_fn(|| ids.take()).collect();

        all.sort_unstable();
        assert_eq!(all, [0, 2, 4, 5]);
    }

    #[test]
    fn none_comes_again_while_a_batch_may_tell_of_it() {
        let mut ids = Ids::new(2, &[]);

        ids.take();
        ids.take();
        ids.begin_batch();
        ids.give_back(0);
        assert_eq!(ids.take(), None);
        ids.end_batch();
        assert_eq!([ids.take(), ids.take()], [Some(0), None]);
    }
}
