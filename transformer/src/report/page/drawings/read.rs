//! Reads the lines that `explain` shows, which hold all that is drawn. What does not read so is not drawn.

/// One of the launches that were compared for a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// What makes it: `chosen`.
    pub word: String,
    pub teams: u64,
    pub threads: u64,
    /// The teams that get work.
    pub working: u64,
    /// The most teams that an SM holds.
    pub blocks: u64,
    /// What bounds that.
    pub limit: String,
    /// Predicted microseconds.
    pub time: u64,
}

/// `chosen: 512 x 128, of which 512 teams get work; 25 % occupancy, at most 16 blocks on an SM by its threads; waves: 1; 4 us`.
pub(super) fn launch(line: &str) -> Option<Launch> {
    let (word, rest) = line.split_once(": ")?;
    let (grid, rest) = rest.split_once(", of which ")?;
    let (teams, threads) = grid.split_once(" x ")?;
    let (working, rest) = rest.split_once(" teams get work; ")?;
    let (_, rest) = rest.split_once(" occupancy, at most ")?;
    let (blocks, rest) = rest.split_once(" blocks on an SM by its ")?;
    let (limit, rest) = rest.split_once("; waves: ")?;
    let (_, time) = rest.split_once("; ")?;
    Some(Launch {
        word: word.to_owned(),
        teams: teams.parse().ok()?,
        threads: threads.parse().ok()?,
        working: working.parse().ok()?,
        blocks: blocks.parse().ok()?,
        limit: limit.to_owned(),
        time: time.strip_suffix(" us")?.parse().ok()?,
    })
}

/// A variable that stays on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub name: String,
    /// How many bytes it has, as an expression.
    pub bytes: String,
    /// How often it was copied.
    pub copies: u64,
    /// In each pass of a loop, or in all?
    pub is_in_each_pass: bool,
    /// Is it copied at the beginning, and at the end?
    pub ends: (bool, bool),
    /// The copies in between.
    pub between: u64,
}

/// `p: sizeof(*p) * N bytes, copied 2 x in each pass until now; now brought once and back once`.
pub(super) fn held(line: &str) -> Option<Held> {
    let (name, rest) = line.split_once(": ")?;
    let (bytes, rest) = rest.split_once(" bytes, copied ")?;
    let (copies, rest) = rest.split_once(" x")?;
    let (when, now) = rest.split_once(" until now; now ")?;
    let (ends, between) = now.split_once("; in between ").unwrap_or((now, ""));
    let ends = match ends {
        "brought once and back once" => (true, true),
        "brought once" => (true, false),
        "brought back once" => (false, true),
        "only allocated" => (false, false),
        _ => return None,
    };
    Some(Held {
        name: name.to_owned(),
        bytes: bytes.to_owned(),
        copies: copies.parse().ok()?,
        is_in_each_pass: when == " in each pass",
        ends,
        between: u64::try_from(between.matches("` brought").count()).ok()?,
    })
}

/// A variable that a construct maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapped {
    pub words: String,
    pub to: bool,
    pub from: bool,
}

/// `map(to: a[0:n*n])`.
pub(super) fn mapped(clause: &str) -> Option<Mapped> {
    let map = clause.strip_prefix("map(")?.strip_suffix(')')?;
    let (kind, words) = map.split_once(": ")?;
    let kind = kind.rsplit([',', ' ']).next()?;
    let (to, from) = (matches!(kind, "to" | "tofrom"), matches!(kind, "from" | "tofrom"));
    (to || from).then(|| Mapped { words: words.to_owned(), to, from })
}

/// The ways of an array of a pipeline: `u: in, 1 element for each iteration`.
pub(super) fn stream(line: &str) -> Option<(bool, bool)> {
    let (_, how) = line.split_once(": ")?;
    match how.split(',').next()? {
        "in" => Some((true, false)),
        "back" => Some((false, true)),
        "in and back" => Some((true, true)),
        _ => None,
    }
}

/// The number of tiles: `sizes for NVIDIA H200: 16 tiles, from 33554432 bytes of the largest array on`.
pub(super) fn tiles(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("sizes for ")?;
    let (before, _) = rest.split_once(" tiles, from ")?;
    before.rsplit(' ').next()?.parse().ok()
}

/// Mebibytes, and microseconds as it is and in tiles: `256 MiB: 80.5 ms as it is, 19.1 ms in tiles, ..`.
pub(super) fn times(line: &str) -> Option<(u64, u64, u64)> {
    let (size, rest) = line.split_once(" MiB: ")?;
    let (whole, rest) = rest.split_once(" ms as it is, ")?;
    let (tiled, _) = rest.split_once(" ms in tiles")?;
    Some((size.parse().ok()?, tenths(whole)?, tenths(tiled)?))
}

/// Milliseconds with one decimal place as microseconds.
fn tenths(milliseconds: &str) -> Option<u64> {
    let (whole, tenth) = milliseconds.split_once('.')?;
    let (whole, tenth): (u64, u64) = (whole.parse().ok()?, tenth.parse().ok()?);
    whole.checked_mul(1000)?.checked_add(tenth * 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_grid() {
        let line = "chosen: 512 x 128, of which 500 teams get work; 25 % occupancy, at most 16 blocks on an SM by its \
                    shared memory; waves: 1; 4 us";
        let read = launch(line).unwrap();
        assert_eq!((read.teams, read.threads, read.working, read.blocks, read.time), (512, 128, 500, 16, 4));
        assert_eq!((read.word.as_str(), read.limit.as_str()), ("chosen", "shared memory"));
        assert_eq!(launch("rule: a stream, as many threads as are resident"), None);
    }

    #[test]
    fn lines_of_data() {
        let read = held("p: sizeof(*p) * N bytes, copied 2 x in each pass until now; now brought once and back once");
        let read = read.unwrap();
        assert_eq!((read.copies, read.is_in_each_pass, read.ends, read.between), (2, true, (true, true), 0));
        let line =
            "a: 8 * n bytes, copied 4 x until now; now only allocated; in between `a[0]` brought, `a[1]` brought back";
        let read = held(line).unwrap();
        assert_eq!((read.is_in_each_pass, read.ends, read.between), (false, (false, false), 2));
        let read = mapped("map(always, to: a[0:n])").unwrap();
        assert_eq!((read.words.as_str(), read.to, read.from), ("a[0:n]", true, false));
        assert_eq!(mapped("map(alloc: t[0:n])"), None);
    }

    #[test]
    fn lines_of_a_pipeline() {
        assert_eq!(stream("u: in and back, 1 element for each iteration"), Some((true, true)));
        assert_eq!(tiles("sizes for NVIDIA H200: 16 tiles, from 33554432 bytes of the largest array on"), Some(16));
        assert_eq!(tiles("sizes for NVIDIA H200: tiles pay for no size"), None);
        assert_eq!(times("256 MiB: 80.5 ms as it is, 19.1 ms in tiles, with"), Some((256, 80_500, 19_100)));
    }
}
