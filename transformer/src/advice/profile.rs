//! Reads what `ncu --csv` printed.
//!
//! `--page raw` has a row for each launch, a column for each metric, and the units in the row below the header; `--page details`, and
//! `--metrics` without a page, have a row for each metric of each launch. Before the header stands what the program and ncu print beside.

use std::collections::BTreeMap;

use csv::{ByteRecord, ReaderBuilder};
use memchr::memmem;

use super::counters::Counter;
use super::numbers::number;
use crate::source::Span;

/// One launch of a kernel, with what was counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The name of the kernel, as it was printed.
    pub kernel: String,
    /// Where that name stands first.
    pub at: Span,
    /// What was counted.
    pub values: BTreeMap<Counter, f64>,
}

/// A kernel with its launches.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiled {
    /// The name of the kernel, as it was printed.
    pub kernel: String,
    /// Where that name stands first.
    pub at: Span,
    /// How many launches there are.
    pub launches: usize,
    /// Microseconds of all of them together, if all have a duration.
    pub time: Option<f64>,
    /// The counters of the launch that took longest, which speaks for it; of the first one where durations are missing.
    pub values: BTreeMap<Counter, f64>,
}

/// Why a profile cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

impl std::fmt::Display for ProfileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

impl std::error::Error for ProfileError {}

/// The column of the kernels' names, in all forms.
const KERNEL: &str = "Kernel Name";
/// Columns of the form with a row for each metric.
const METRIC: [&str; 3] = ["Metric Name", "Metric Unit", "Metric Value"];

/// Reads a profile.
///
/// # Errors
/// Where and why it cannot be read.
pub fn read(text: &[u8]) -> Result<Vec<Launch>, ProfileError> {
    let is_wide = text.starts_with(&[0xff, 0xfe]) || text.starts_with(&[0xfe, 0xff]);
    if is_wide {
        return Err(error(
            1,
            "is UTF-16, as a shell may write it: `ncu --log-file FILE` writes the text that is expected",
        ));
    }
    let table = Table::of(text)?;
    let launches = if table.column(METRIC[0]).is_some() { table.by_metric()? } else { table.by_launch()? };
    if launches.is_empty() {
        return Err(error(table.header_line, "no kernel was profiled: below this header stands none"));
    }
    Ok(launches)
}

/// The kernels of launches, in the order of their first ones.
#[must_use]
pub fn kernels(launches: &[Launch]) -> Vec<Profiled> {
    let mut found: Vec<(&Launch, Vec<&Launch>)> = Vec::new();
    for launch in launches {
        match found.iter_mut().find(|(first, _)| first.kernel == launch.kernel) {
            Some((_, all)) => all.push(launch),
            None => found.push((launch, vec![launch])),
        }
    }
    let duration = |launch: &Launch| launch.values.get(&Counter::Duration).copied();
    let kernel = |(first, all): (&Launch, Vec<&Launch>)| {
        let time: Option<f64> = all.iter().map(|launch| duration(launch)).sum();
        let longer =
            |one: &&Launch, other: &&Launch| duration(one).unwrap_or(0.0).total_cmp(&duration(other).unwrap_or(0.0));
        // Of launches that took as long, the first.
        let longest = all.iter().copied().rev().max_by(longer).filter(|_| time.is_some()).unwrap_or(first);
        let Launch { kernel, at, .. } = first.clone();
        Profiled { kernel, at, launches: all.len(), time, values: longest.values.clone() }
    };
    found.into_iter().map(kernel).collect()
}

fn error(line: usize, what: impl Into<String>) -> ProfileError {
    ProfileError { line, what: what.into() }
}

/// The table in the text.
struct Table<'a> {
    text: &'a [u8],
    header: Vec<String>,
    header_line: usize,
    rows: Vec<Row>,
}

/// A row, and where it stands.
struct Row {
    fields: ByteRecord,
    line: usize,
    start: usize,
}

impl Row {
    fn field(&self, index: usize) -> Option<String> {
        self.fields.get(index).map(|field| String::from_utf8_lossy(field).trim().to_owned())
    }
}

impl<'a> Table<'a> {
    fn of(text: &'a [u8]) -> Result<Self, ProfileError> {
        let mut start = 0;
        for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let header = header(line);
            if let Some(header) = header {
                let after = start + line.len();
                let rows = rows(text, after, index + 2)?;
                return Ok(Self { text, header, header_line: index + 1, rows });
            }
            start += line.len();
        }
        let what = format!(
            "no line has a column `{KERNEL}`: this is not what `ncu --csv --page raw` or `--page details` prints"
        );
        Err(error(1, what))
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|column| column == name)
    }

    fn needed(&self, name: &str) -> Result<usize, ProfileError> {
        self.column(name).ok_or_else(|| {
            let summary = match self.column("Invocations") {
                Some(_) => " (a summary has none: leave --print-summary out)",
                None => "",
            };
            error(self.header_line, format!("the column `{name}` is missing{summary}"))
        })
    }

    /// A field that every row has.
    fn field(&self, row: &Row, index: usize) -> Result<String, ProfileError> {
        row.field(index).ok_or_else(|| {
            let (found, wanted) = (row.fields.len(), self.header.len());
            let what = format!(
                "{found} of {wanted} columns: a row that is cut off, or what the program prints (`ncu --log-file FILE` keeps that out)"
            );
            error(row.line, what)
        })
    }

    /// A launch without counters.
    fn launch(&self, row: &Row, kernel: String) -> Launch {
        let rest = self.text.get(row.start..).unwrap_or_default();
        let start = row.start + memmem::find(rest, kernel.as_bytes()).unwrap_or(0);
        let at = Span::new(start, (start + kernel.len()).min(self.text.len()));
        let mut values = BTreeMap::new();
        for (column, counter) in [("Grid Size", Counter::Teams), ("Block Size", Counter::Threads)] {
            let field = self.column(column).and_then(|index| row.field(index));
            values.extend(field.and_then(|field| product(&field)).map(|value| (counter, value)));
        }
        Launch { kernel, at, values }
    }

    /// Reads a row for each metric of each launch.
    fn by_metric(&self) -> Result<Vec<Launch>, ProfileError> {
        let kernel = self.needed(KERNEL)?;
        let [metric, unit, value] = METRIC;
        let (metric, unit, value) = (self.needed(metric)?, self.needed(unit)?, self.needed(value)?);
        let identity = [self.column("ID"), self.column("Process ID"), Some(kernel)];
        let mut launches: Vec<Launch> = Vec::new();
        let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::new();
        for row in &self.rows {
            let name = self.field(row, kernel)?;
            let (metric, unit) = (self.field(row, metric)?, self.field(row, unit)?);
            let value = self.field(row, value)?;
            let key = identity.iter().flatten().filter_map(|index| row.field(*index)).collect();
            let index = *known.entry(key).or_insert_with(|| {
                launches.push(self.launch(row, name));
                launches.len() - 1
            });
            let read = counted(&metric, &unit, &value).map_err(|what| error(row.line, what))?;
            if let (Some(launch), Some((counter, value))) = (launches.get_mut(index), read) {
                launch.values.insert(counter, value);
            }
        }
        Ok(launches)
    }

    /// Reads a row for each launch, below a row of units.
    fn by_launch(&self) -> Result<Vec<Launch>, ProfileError> {
        let kernel = self.needed(KERNEL)?;
        let is_metric = |name: &&String| name.contains("__");
        if !self.header.iter().any(|name| is_metric(&name)) {
            let [metric, _, value] = METRIC;
            let what = format!(
                "neither columns of metrics nor `{metric}` and `{value}`: `ncu --csv --page raw` prints the former"
            );
            return Err(error(self.header_line, what));
        }
        let Some((units, rows)) = self.rows.split_first() else { return Ok(Vec::new()) };
        if units.field(kernel).is_some_and(|name| !name.is_empty()) {
            return Err(error(units.line, "units are missing: `ncu --csv --page raw` prints them below the header"));
        }
        let mut launches = Vec::new();
        for row in rows {
            let mut launch = self.launch(row, self.field(row, kernel)?);
            for (index, metric) in self.header.iter().enumerate().filter(|(_, name)| is_metric(name)) {
                let (unit, value) = (self.field(units, index)?, self.field(row, index)?);
                let read = counted(metric, &unit, &value).map_err(|what| error(row.line, what))?;
                launch.values.extend(read);
            }
            launches.push(launch);
        }
        Ok(launches)
    }
}

/// The columns, if a line is the header.
fn header(line: &[u8]) -> Option<Vec<String>> {
    memmem::find(line, KERNEL.as_bytes())?;
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line);
    let record = reader.byte_records().next()?.ok()?;
    let fields: Vec<String> = record.iter().map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect();
    fields.iter().any(|field| field == KERNEL).then_some(fields)
}

/// The rows behind the header, which begin at a byte and a line, without what ncu says in between.
fn rows(text: &[u8], start: usize, line: usize) -> Result<Vec<Row>, ProfileError> {
    let body = text.get(start..).unwrap_or_default();
    let mut reader = ReaderBuilder::new().has_headers(false).flexible(true).from_reader(body);
    let mut found = Vec::new();
    let mut fields = ByteRecord::new();
    while reader.read_byte_record(&mut fields).map_err(|failed| error(line, failed.to_string()))? {
        let place = fields.position();
        let place = place.map_or((0, 1), |place| (place.byte(), place.line()));
        let (byte, below) = (usize::try_from(place.0).unwrap_or(0), usize::try_from(place.1).unwrap_or(1));
        let said = fields.len() == 1 && fields.get(0).is_some_and(|field| field.is_empty() || field.starts_with(b"=="));
        if !said {
            found.push(Row { fields: fields.clone(), line: line + below - 1, start: start + byte });
        }
    }
    Ok(found)
}

/// The counter that a metric is, with its value; `None` where it is none that matters, or was not collected.
fn counted(metric: &str, unit: &str, value: &str) -> Result<Option<(Counter, f64)>, String> {
    let named = Counter::named(metric);
    if named.is_empty() {
        return Ok(None);
    }
    let Some(number) = number(value).map_err(|what| format!("`{value}` of `{metric}` {what}"))? else {
        return Ok(None);
    };
    let scaled = named.iter().find_map(|counter| Some((*counter, number * counter.measure().scale(unit)?)));
    scaled.map(Some).ok_or_else(|| format!("`{unit}` is no unit that `{metric}` is known in"))
}

/// The product of `(128, 4, 1)`. Where numbers have commas themselves, a metric tells it.
fn product(size: &str) -> Option<f64> {
    let inner = size.strip_prefix('(')?.strip_suffix(')')?;
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    let number = |part: &&str| part.parse::<u32>().ok().map(f64::from);
    parts.iter().map(number).product::<Option<f64>>().filter(|_| parts.len() == 3)
}

#[cfg(test)]
mod tests;
