//! The same check over many items, on every core.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::fixtures::{self, Fixture};

/// Checks every fixture; the report of what fails is empty where nothing does. `test` names the test program in the
/// command that repeats one.
pub fn report(test: &str, check: impl Fn(&Fixture) -> Result<(), String> + Sync) -> String {
    let fixtures = match fixtures::all() {
        Ok(fixtures) => fixtures,
        Err(error) => return error,
    };
    let failures = failures(&fixtures, |fixture| {
        check(fixture).map_err(|text| {
            let name = &fixture.name;
            format!("== {name}\n{text}\nonly this one: OMPSPLIT_FIXTURE={name} cargo test --test {test}")
        })
    });
    if failures.is_empty() {
        return String::new();
    }
    format!("{} of {} fixtures fail\n\n{}", failures.len(), fixtures.len(), failures.join("\n\n"))
}

/// Checks every item and returns all failures in the order of the items.
pub fn failures<T: Sync>(items: &[T], check: impl Fn(&T) -> Result<(), String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, item)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?)))
                {
                    if let (Err(text), Ok(mut found)) = (check(item), found.lock()) {
                        found.push((index, text));
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap_or_default();
    found.sort_unstable_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, text)| text).collect()
}

/// What comes of all items, in any order, or the failures.
pub fn collected<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<Vec<R>, String> + Sync,
) -> Result<Vec<R>, String> {
    let found = Mutex::new(Vec::new());
    let errors = failures(items, |item| {
        let own = work(item)?;
        found.lock().map_err(|error| error.to_string())?.extend(own);
        Ok(())
    });
    if errors.is_empty() { found.into_inner().map_err(|error| error.to_string()) } else { Err(errors.join("\n")) }
}
