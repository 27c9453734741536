//! `#if` groups: their branches, and which of them hold nothing but directives.

use super::bytes::Bytes;
use super::lexer::Lexer;
use super::{Conditional, ConditionalBranch, Scan};
use crate::source::Span;

impl Lexer<'_> {
    /// `#if`, `#ifdef`, `#ifndef`.
    pub(super) fn open_conditional(&mut self, line: Span) {
        self.open.push(self.out.conditionals.len());
        let branches = vec![ConditionalBranch { line, content: Span::new(line.end, line.end) }];
        // Until the group is settled the flag says whether its `#endif` has been seen.
        self.out.conditionals.push(Conditional { span: line, branches, only_directives: false });
    }

    /// `#elif`, `#elifdef`, `#elifndef`, `#else`.
    pub(super) fn next_branch(&mut self, line: Span) {
        let Some(group) = self.open.last().and_then(|index| self.out.conditionals.get_mut(*index)) else {
            return self.unbalanced(line.start);
        };
        end_branch(group, line.start);
        group.branches.push(ConditionalBranch { line, content: Span::new(line.end, line.end) });
    }

    /// `#endif`.
    pub(super) fn close_conditional(&mut self, line: Span) {
        let Some(group) = self.open.pop().and_then(|index| self.out.conditionals.get_mut(index)) else {
            return self.unbalanced(line.start);
        };
        end_branch(group, line.start);
        group.span.end = line.end;
        group.only_directives = true;
    }

    fn unbalanced(&mut self, at: usize) {
        self.out.unbalanced = self.out.unbalanced.or(Some(at));
    }

    /// The end of the text closes what is open.
    pub(super) fn close_conditionals(&mut self) {
        let end = self.text.len();
        while let Some(group) = self.open.pop().and_then(|index| self.out.conditionals.get_mut(index)) {
            end_branch(group, end);
            group.span.end = end;
            let at = group.span.start;
            self.unbalanced(at);
        }
    }
}

fn end_branch(group: &mut Conditional, at: usize) {
    if let Some(branch) = group.branches.last_mut() {
        branch.content.end = at;
    }
}

/// Finds the groups that hold only directives, masks their lines, and tells their directives which branch they stand in.
pub(super) fn settle(text: Bytes, scan: &mut Scan) {
    // Inner groups stand behind the outer ones, so going backwards an inner one is settled first.
    for index in (0..scan.conditionals.len()).rev() {
        let only = scan
            .conditionals
            .get(index)
            .is_some_and(|group| group.only_directives && holds_only_directives(text, scan, index, group));
        if let Some(group) = scan.conditionals.get_mut(index) {
            group.only_directives = only;
        }
    }
    tell_alternatives(scan);
    let only = scan.conditionals.iter().filter(|group| group.only_directives);
    let lines: Vec<Span> = only.flat_map(Conditional::lines).collect();
    if !lines.is_empty() {
        scan.masked.extend(lines);
        scan.masked.sort_unstable();
    }
}

/// Gives each directive the innermost group of directives that it stands in.
fn tell_alternatives(scan: &mut Scan) {
    let mut open: Vec<usize> = Vec::new();
    let mut groups = scan.conditionals.iter().enumerate().peekable();
    for directive in &mut scan.directives {
        let at = directive.span.start;
        while let Some((index, group)) = groups.next_if(|(_, group)| group.span.start < at) {
            if group.only_directives {
                open.push(index);
            }
        }
        while open.last().and_then(|index| scan.conditionals.get(*index)).is_some_and(|group| group.span.end <= at) {
            open.pop();
        }
        directive.alternative = open.last().and_then(|index| {
            let branches = &scan.conditionals.get(*index)?.branches;
            Some((*index, branches.partition_point(|branch| branch.line.start < at).checked_sub(1)?))
        });
    }
}

/// Do the branches of the group hold pragmas, comments and blanks alone, and at least one pragma?
fn holds_only_directives(text: Bytes, scan: &Scan, index: usize, group: &Conditional) -> bool {
    let mut inner = index + 1;
    let mut seen = false;
    for branch in &group.branches {
        let mut at = branch.content.start;
        loop {
            at = text.skip_trivia(at);
            if at >= branch.content.end {
                break;
            }
            if let Some(pragma) = masked_at(scan, at) {
                seen = true;
                at = pragma.end;
                continue;
            }
            while scan.conditionals.get(inner).is_some_and(|other| other.span.start < at) {
                inner += 1;
            }
            match scan.conditionals.get(inner) {
                Some(other) if other.span.start == at && other.only_directives => {
                    seen = true;
                    at = other.span.end;
                }
                _ => return false,
            }
        }
    }
    seen
}

/// The masked span that starts at `at`.
fn masked_at(scan: &Scan, at: usize) -> Option<Span> {
    let found = scan.masked.binary_search_by_key(&at, |span| span.start).ok()?;
    scan.masked.get(found).copied()
}
