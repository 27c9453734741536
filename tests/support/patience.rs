//! How long a program may run: by the processor's time that it takes, so that a busy machine makes no program fail.

use std::process::Child;
use std::time::{Duration, Instant};

/// The processor's time that one run may take, of all its threads together.
const LONGEST_WORK: Duration = Duration::from_secs(30);

/// A program that takes less than this in so long does nothing any more: its threads wait for each other.
const LEAST_WORK: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Watches one run.
#[derive(Debug)]
pub struct Patience {
    seen: Instant,
    work: Duration,
}

impl Patience {
    /// Begins to watch.
    pub fn new() -> Self {
        Self { seen: Instant::now(), work: Duration::ZERO }
    }

    /// What there is to say of a program that has to be ended now.
    pub fn lost(&mut self, child: &Child) -> Option<String> {
        let Some(work) = work(child.id()) else {
            let late = self.seen.elapsed() > LONGEST_WORK;
            return late.then(|| format!("no end after {} s", LONGEST_WORK.as_secs()));
        };
        if work > LONGEST_WORK {
            return Some(format!("no end after {} s of work", LONGEST_WORK.as_secs()));
        }
        if work >= self.work + LEAST_WORK {
            *self = Self { seen: Instant::now(), work };
        }
        (self.seen.elapsed() > LONGEST_PAUSE).then(|| format!("nothing done for {} s", LONGEST_PAUSE.as_secs()))
    }
}

/// The processor's time that a process has taken; nothing where the system does not tell.
fn work(process: u32) -> Option<Duration> {
    // Linux counts in hundredths of a second here on every machine: fields 14 and 15, behind the name in parentheses.
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, behind) = text.rsplit_once(')')?;
    let mut fields = behind.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis((next()? + next()?) * 10))
}
