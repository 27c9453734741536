//! One page for a whole project, in HTML that needs nothing else: what changes, ranked by what is predicted to be gained, what is left
//! alone and why, and the pages of the rules that it cites.

mod drawings;
mod html;

use std::collections::BTreeSet;
use std::io::{self, Write};

use crate::device::DeviceProfile;
use crate::engine::RegionFacts;
use crate::plan::figures::grouped;
use crate::plan::{Applicability, Decision, Pass, Plan, ReasonCode, RuleKind, Times};
use crate::report::constructs::{Fate, constructs, fate};
use crate::report::summary::{self, Telling};
use crate::report::{FileReport, Stats};
use drawings::Copies;
use html::escape;

const STYLE: &str = include_str!("style.css");

/// A file with its changes as a diff.
#[derive(Clone, Copy, Debug)]
pub struct PageFile<'a> {
    /// What is said about it.
    pub report: &'a FileReport,
    /// The diff, empty where nothing changes.
    pub diff: &'a str,
    /// Its target regions.
    pub regions: &'a [RegionFacts],
    /// The device that its grids are chosen for.
    pub device: Option<&'a DeviceProfile>,
}

/// A construct with all that passes decided about it and about the kernels that come of it.
struct Construct<'a> {
    file: &'a FileReport,
    device: Option<&'a DeviceProfile>,
    /// The target region that it is, if it is one.
    region: Option<&'a RegionFacts>,
    /// Where it is: a number that the page links to.
    number: usize,
    plans: Vec<&'a Plan>,
    fate: Fate,
    times: Option<Times>,
}

/// Writes the page.
///
/// # Errors
/// When writing fails.
pub fn write(out: &mut dyn Write, files: &[PageFile<'_>], stats: &Stats) -> io::Result<()> {
    let reports: Vec<&FileReport> = files.iter().map(|file| file.report).collect();
    let mut all = Vec::new();
    for file in files {
        read(file, &mut all);
    }
    // The largest gain first; of equal ones the order of the files stays.
    all.sort_by_key(|construct| std::cmp::Reverse(construct.gained()));
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>ompsplit report</title>\n\
         <style>\n{STYLE}</style>\n<body>\n<h1>ompsplit report</h1>"
    )?;
    let telling = Telling { is_written: false, is_listed: true };
    if let Some(line) = summary::line(&reports, telling) {
        writeln!(out, "<p class=\"soft\">{}.</p>", escape(&line))?;
    }
    write_figures(out, stats, &all)?;
    let (changed, left): (Vec<&Construct<'_>>, Vec<&Construct<'_>>) =
        all.iter().filter(|construct| construct.fate != Fate::Nothing).partition(|one| one.fate == Fate::Changed);
    write_ranking(out, &changed)?;
    write_cards(out, "Changes", &changed)?;
    write_groups(out, &left)?;
    write_cards(out, "Left alone", &left)?;
    write_diffs(out, files)?;
    write_rules(out, &all)?;
    writeln!(
        out,
        "<p class=\"soft\">Written by ompsplit {}. Times are predictions for lengths that the text gives or that are assumed; measure.</p>\n\
         </body>\n</html>",
        env!("CARGO_PKG_VERSION")
    )
}

/// The constructs of a file, those with nothing to do included.
fn read<'a>(of: &PageFile<'a>, all: &mut Vec<Construct<'a>>) {
    let PageFile { report: file, device, regions, .. } = *of;
    for plans in constructs(&file.plans).into_values() {
        let Some(extent) = plans.iter().map(|plan| plan.extent).max_by_key(|extent| extent.len()) else { continue };
        let fate = fate(&plans, file.consent);
        // What later passes do with the kernels that come of it is told with it.
        let later: Vec<&Plan> = file.plans.iter().filter(|plan| plan.follows && extent.contains(plan.extent)).collect();
        // What did not pay for the construct as it was is not told where it pays for what comes of it.
        let pays_later =
            |pass: Pass| later.iter().any(|plan| plan.pass == pass && plan.decision.is_written(file.consent));
        let is_outdated = |plan: &&Plan| plan.decision == Decision::DoesNotPay && pays_later(plan.pass);
        let first = plans.iter().copied().filter(|plan| !is_outdated(plan));
        let plans: Vec<&Plan> = first.chain(later.iter().copied()).collect();
        // The times of later passes are about a part of it.
        let own = || plans.iter().filter(|plan| !plan.follows && plan.decision.is_written(file.consent));
        let of_size = || own().find_map(|plan| drawings::times_of_size(plan));
        let times = own().find_map(|plan| plan.times).or_else(of_size);
        let region = regions.iter().find(|region| region.extent == extent);
        all.push(Construct { file, device, region, number: all.len() + 1, plans, fate, times });
    }
}

impl Construct<'_> {
    /// The microseconds that are predicted to be gained.
    fn gained(&self) -> u64 {
        self.times.map_or(0, |times| times.before.saturating_sub(times.after))
    }

    /// The plans whose edits are made.
    fn written(&self) -> impl Iterator<Item = &Plan> {
        self.plans.iter().copied().filter(|plan| plan.decision.is_written(self.file.consent))
    }

    fn place(&self) -> String {
        let line = self.plans.first().map_or(1, |plan| self.file.file.lines.line_column(plan.span.start).line);
        format!("{}:{line}", self.file.file.path.display())
    }

    /// The kernels before and after.
    fn kernels(&self) -> (usize, usize) {
        let before = self.plans.iter().map(|plan| plan.kernels.0).max().unwrap_or(1);
        let written = self.plans.iter().filter(|plan| plan.decision.is_written(self.file.consent));
        (before, written.map(|plan| plan.kernels.1).max().unwrap_or(before))
    }
}

fn write_figures(out: &mut dyn Write, stats: &Stats, all: &[Construct<'_>]) -> io::Result<()> {
    let gained: u64 = all.iter().map(Construct::gained).sum();
    let copies = all.iter().flat_map(Construct::written).map(Copies::of);
    let copies = copies
        .fold(Copies::default(), |sum, of| Copies { before: sum.before + of.before, after: sum.after + of.after });
    let number = |count: usize| grouped(&count.to_string());
    let left = stats.regions_refused + stats.regions_not_paying;
    let is_predicted = all.iter().any(|construct| construct.times.is_some());
    let gained = if is_predicted { html::time(gained) } else { "–".to_owned() };
    let mut copied = "copies of data that stay on the device, each loop pass once".to_owned();
    if stats.bytes_before + stats.bytes_after > 0 {
        let [before, after] = [stats.bytes_before, stats.bytes_after].map(html::bytes);
        let which = if stats.copies_of_unknown_size > 0 { " where the text tells the sizes" } else { "" };
        copied.push_str(&format!(": {before} → {after}{which}"));
    }
    let figures = [
        (number(stats.files_changed), format!("of {} files change", number(stats.files))),
        (number(stats.regions_changed), format!("of {} regions change", number(stats.regions))),
        (number(left), if left == 1 { "region is left alone" } else { "regions are left alone" }.to_owned()),
        (format!("{} → {}", number(stats.kernels_before), number(stats.kernels_after)), "kernels".to_owned()),
        (format!("{} → {}", copies.before, copies.after), copied),
        (gained, "predicted gain, each region once".to_owned()),
    ];
    writeln!(out, "<div class=\"figures\">")?;
    for (number, what) in figures {
        writeln!(out, "<div class=\"figure\"><b>{}</b>{}</div>", escape(&number), escape(&what))?;
    }
    writeln!(out, "</div>")
}

/// The changes with a prediction, the largest gain first.
fn write_ranking(out: &mut dyn Write, changed: &[&Construct<'_>]) -> io::Result<()> {
    let ranked: Vec<(&&Construct<'_>, Times)> =
        changed.iter().filter_map(|construct| Some((construct, construct.times?))).collect();
    if ranked.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Predicted gains</h2>\n<div class=\"wide\"><table>\n<tr><th>Region</th><th class=\"number\">Before</th>\
         <th class=\"number\">After</th><th class=\"number\">Gain</th><th style=\"width:40%\">Time</th></tr>"
    )?;
    for (construct, times) in ranked {
        let width = |time: u64| html::percent(time, times.before.max(times.after));
        writeln!(
            out,
            "<tr><td><a href=\"#r{}\">{}</a></td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td><div class=\"bar\" style=\"width:{}%\"></div>\
             <div class=\"bar new\" style=\"width:{}%\"></div></td></tr>",
            construct.number,
            escape(&construct.place()),
            html::time(times.before),
            html::time(times.after),
            html::ratio(times),
            width(times.before),
            width(times.after)
        )?;
    }
    writeln!(
        out,
        "</table></div>\n<p class=\"soft\">With launches of kernels; pipelines for arrays of {} MiB, the rest for lengths that the text gives or \
         that are assumed.</p>",
        drawings::SIZE
    )
}

/// How many constructs are left alone for what.
fn write_groups(out: &mut dyn Write, left: &[&Construct<'_>]) -> io::Result<()> {
    let mut groups = std::collections::BTreeMap::new();
    for construct in left {
        let group = match construct.fate {
            Fate::Refused(Some(code)) | Fate::NotPaying(Some(code)) => summary::group(code),
            Fate::Assumable => "only with --assume",
            _ => continue,
        };
        *groups.entry(group).or_insert(0_u64) += 1;
    }
    let mut groups: Vec<(&str, u64)> = groups.into_iter().collect();
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let Some((_, most)) = groups.first().copied() else { return Ok(()) };
    writeln!(out, "<h2>Why regions are left alone</h2>\n<div class=\"wide\"><table>")?;
    for (group, count) in groups {
        let width = html::percent(count, most);
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"number\">{count}</td><td style=\"width:50%\"><div class=\"bar\" style=\"width:{width}%\"></div></td></tr>",
            escape(group)
        )?;
    }
    writeln!(out, "</table></div>")
}

fn write_cards(out: &mut dyn Write, title: &str, all: &[&Construct<'_>]) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>{title}</h2>")?;
    all.iter().try_for_each(|construct| write_card(out, construct))
}

fn write_card(out: &mut dyn Write, construct: &Construct<'_>) -> io::Result<()> {
    let class = if construct.fate == Fate::Changed { "changed" } else { "left" };
    let (before, after) = construct.kernels();
    let kernels = if before == after { format!("{before} kernels") } else { format!("{before} → {after} kernels") };
    writeln!(
        out,
        "<div class=\"card {class}\" id=\"r{}\"><h3>{} <span class=\"tag\">{kernels}</span></h3>\n<ul>",
        construct.number,
        escape(&construct.place())
    )?;
    let file = &construct.file.file;
    for plan in construct.plans.iter().filter(|plan| plan.decision != Decision::NothingToDo) {
        let decision = match plan.decision {
            Decision::Apply(Applicability::Assumed) if !construct.file.consent.assumptions => "only with --assume: ",
            Decision::Apply(Applicability::Reassociated { .. })
                if !plan.decision.is_written(construct.file.consent) =>
            {
                "only with --assume=reassociation: "
            }
            Decision::Refuse => "leaves it alone",
            Decision::DoesNotPay => "would not make it faster",
            Decision::Apply(_) | Decision::NothingToDo => "",
        };
        write!(out, "<li><b>{}</b> {decision}{}", plan.pass, escape(&plan.summary))?;
        if !plan.reasons.is_empty() {
            write!(out, "<ul>")?;
            for reason in &plan.reasons {
                let (id, line) = (reason.code.id(), file.lines.line_column(reason.span.start).line);
                let words = escape(&reason.message);
                write!(out, "<li>{words} <span class=\"soft\">(line {line}, <a href=\"#{id}\">{id}</a>)</span></li>")?;
            }
            write!(out, "</ul>")?;
        }
        writeln!(out, "</li>")?;
    }
    writeln!(out, "</ul>")?;
    if let Some(copies) = construct.region.and_then(|region| drawings::own_copies(&region.data)) {
        writeln!(out, "<p>{copies}.</p>")?;
    }
    write_drawings(out, construct)?;
    let details: Vec<&str> =
        construct.plans.iter().flat_map(|plan| &plan.details).map(|detail| detail.text.as_str()).collect();
    if !details.is_empty() {
        let text = escape(&details.join("\n"));
        writeln!(out, "<details><summary>What it was decided by</summary><pre>{text}</pre></details>")?;
    }
    writeln!(out, "</div>")
}

/// What is drawn of the passes that change a construct.
fn write_drawings(out: &mut dyn Write, construct: &Construct<'_>) -> io::Result<()> {
    for plan in construct.written() {
        if let Some(drawing) = drawings::of(plan, construct.device) {
            let line = construct.file.file.lines.line_column(plan.span.start).line;
            writeln!(
                out,
                "<figure><figcaption class=\"soft\">{}, line {line}</figcaption>{drawing}</figure>",
                plan.pass
            )?;
        }
    }
    Ok(())
}

fn write_diffs(out: &mut dyn Write, files: &[PageFile<'_>]) -> io::Result<()> {
    let changed: Vec<&PageFile<'_>> = files.iter().filter(|file| !file.diff.is_empty()).collect();
    if changed.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Diffs</h2>")?;
    for file in changed {
        let name = file.report.file.path.display().to_string();
        writeln!(out, "<details><summary>{}</summary><pre>", escape(&name))?;
        for line in file.diff.lines() {
            let class = match line.as_bytes().first() {
                Some(b'+') => "add",
                Some(b'-') => "cut",
                _ => "same",
            };
            writeln!(out, "<span class=\"{class}\">{}</span>", escape(line))?;
        }
        writeln!(out, "</pre></details>")?;
    }
    Ok(())
}

/// The pages of the rules that are cited.
fn write_rules(out: &mut dyn Write, all: &[Construct<'_>]) -> io::Result<()> {
    let plans = all.iter().flat_map(|construct| &construct.plans).filter(|plan| plan.decision != Decision::NothingToDo);
    let cited: BTreeSet<ReasonCode> = plans.flat_map(|plan| &plan.reasons).map(|reason| reason.code).collect();
    if cited.is_empty() {
        return Ok(());
    }
    writeln!(out, "<h2>Rules</h2>")?;
    for code in cited {
        let kind = match code.kind() {
            RuleKind::Refusal => "refusal",
            RuleKind::DoesNotPay => "does not pay",
            RuleKind::Assumption => "assumption",
            RuleKind::Note => "note",
            RuleKind::Error => "error",
        };
        writeln!(
            out,
            "<details class=\"rule\" id=\"{id}\"><summary><b>{id}</b> {} <span class=\"tag\">{kind}</span></summary><pre>{}</pre></details>",
            escape(code.title()),
            escape(&code.page()),
            id = code.id()
        )?;
    }
    Ok(())
}
