//! The same work for many items, on several threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

/// As many threads as the machine runs at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What `work` gives for each item, in the order of the items; the first error ends it.
pub fn map<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let one_after_the_other = || -> Result<()> {
        while let Some((index, item)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            items.get(index).map(|item| (index, item))
        } {
            let result = work(item).inspect_err(|_| next.store(items.len(), Ordering::Relaxed))?;
            if let Ok(mut done) = done.lock() {
                done.push((index, result));
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(one_after_the_other)).collect();
        running.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(_) => anyhow::bail!("a thread panicked"),
        })
    })?;
    let mut done = done.into_inner().map_err(|_| anyhow::anyhow!("a thread panicked"))?;
    done.sort_unstable_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_an_error_comes_out() -> Result<()> {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(map(&items, 4, |item| Ok(item * 2))?, (0..100).map(|item| item * 2).collect::<Vec<_>>());
        let failed = map(&items, 4, |item| if *item == 40 { anyhow::bail!("forty") } else { Ok(()) });
        assert!(failed.is_err_and(|error| error.to_string() == "forty"));
        Ok(())
    }
}
