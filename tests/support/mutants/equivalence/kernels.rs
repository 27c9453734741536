//! Mutants whose kernels and statements are others.

use super::texts::{TYPES, code, conditions, is_steered, mentions, names, written};
use crate::support::mutants::Mutant;
use ompsplit::validate::host::directives::{directives, words};

pub(super) fn independent(_: &str, mutant: &Mutant) -> bool {
    let Some((one, two)) = &mutant.exchanged else { return false };
    let own = |text: &str, name: &String| TYPES.iter().any(|ty| text.contains(&format!("{ty} {name} =")));
    let apart = |a: &str, b: &str| {
        let other = names(b);
        written(a).iter().all(|name| !other.contains(name) || (own(a, name) && own(b, name)))
    };
    apart(one, two) && apart(two, one)
}

pub(super) fn true_condition(_: &str, mutant: &Mutant) -> bool {
    let op = &mutant.operator;
    let dropped = match (&mutant.data, op.does.as_str()) {
        (_, "drop-clause") => conditions(&mutant.what),
        (Some((data, body)), "drop-clause-everywhere") => {
            let inside = directives(body.as_bytes()).into_iter().flat_map(|d| conditions(&body[d]));
            conditions(data).into_iter().chain(inside).collect()
        }
        _ => return false,
    };
    let is_true = |condition: &String| condition.parse::<u32>().is_ok_and(|value| value != 0);
    op.clause == "if" && !dropped.is_empty() && dropped.iter().all(is_true)
}

pub(super) fn host_kernel(_: &str, mutant: &Mutant) -> bool {
    let op = &mutant.operator;
    let copies = ["private(", "firstprivate(", "reduction("].iter().any(|clause| mutant.what.contains(clause));
    (op.on.as_str(), op.does.as_str()) == ("kernel", "drop-directive") && conditions(&mutant.what) == ["0"] && !copies
}

pub(super) fn dead_variable(_: &str, mutant: &Mutant) -> bool {
    let Some((_, body)) = &mutant.data else { return false };
    let op = &mutant.operator;
    let covered = op.on == "host"
        || matches!(op.does.as_str(), "other-operator" | "firstprivate")
        || (op.on == "kernel" && matches!(op.does.as_str(), "set-type" | "drop-item"));
    let name = if op.on == "host" {
        mutant.what.split([' ', '+', '-', '=', ';']).next().unwrap_or_default()
    } else {
        mutant.what.rsplit(": ").next().unwrap_or_default().trim_end_matches(')')
    };
    let code = code(body);
    // What stands before it is over, where no control flow leads back.
    let from = mutant.place.filter(|place| !is_steered(body, *place)).unwrap_or(0);
    let mut declared = false;
    let mut offset = 0;
    let mut uses = code.split([';', '{', '}']).filter_map(|statement| {
        offset += statement.len() + 1;
        Some((statement.trim(), offset > from)).filter(|(statement, _)| names(statement).contains(name))
    });
    let dies = uses.all(|(statement, follows)| {
        let declares = TYPES.iter().any(|ty| {
            let rest = statement.strip_prefix(ty).and_then(|rest| rest.trim_start().strip_prefix(name));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" = "))
        });
        declared |= declares;
        let assigns = statement.strip_prefix(name).map(str::trim_start).is_some_and(|rest| {
            let operator = rest.trim_start_matches(['+', '-', '*', '&', '|', '^']);
            operator.starts_with("= ") || matches!(rest, "++" | "--")
        });
        let chosen = statement.starts_with("if (") && statement.contains(&format!(") {name} = "));
        !follows || declares || ((assigns || chosen) && written(statement).iter().all(|other| other == name))
    });
    covered && !name.is_empty() && declared && dies
}

pub(super) fn idempotent(_: &str, mutant: &Mutant) -> bool {
    let Some((name, value)) = mutant.what.trim_end_matches(';').split_once(" = ") else { return false };
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let alone = written(&mutant.what).iter().all(|other| other == name) && !names(value).contains(name);
    mutant.operator.does == "repeat-statement" && plain && alone
}

pub(super) fn writes_nothing(original: &str, mutant: &Mutant) -> bool {
    let Some((_, statement)) = &mutant.kernel else { return false };
    let region = mutant.data.as_ref().map_or("", |(_, body)| body.as_str());
    let declares = |name: &String| TYPES.iter().any(|ty| statement.contains(&format!("{ty} {name} =")));
    // Of the region, and named in its declaration and in this statement alone.
    let dead = |name: &String| {
        let declared = TYPES.iter().any(|ty| region.contains(&format!("{ty} {name}[")));
        declared && mentions(original, name) == mentions(statement, name) + 1
    };
    let names = written(statement);
    mutant.operator.on == "kernel"
        && matches!(mutant.operator.does.as_str(), "drop-statement" | "drop-directive")
        && !names.is_empty()
        && !calls(statement)
        && names.iter().all(|name| declares(name) || dead(name))
}

/// May a statement call something, a macro or a function object among them?
fn calls(statement: &str) -> bool {
    let pieces: Vec<&str> = statement.split('(').map(str::trim_end).collect();
    // Behind the last parenthesis nothing is called.
    pieces.iter().rev().skip(1).any(|text| {
        let word = text.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        !word.is_empty() && !matches!(word, "for" | "if" | "while" | "switch" | "sizeof" | "return")
    })
}

pub(super) fn loop_variable(_: &str, mutant: &Mutant) -> bool {
    let Some((said, statement)) = &mutant.kernel else { return false };
    let list = mutant.what.strip_prefix("private(").and_then(|list| list.strip_suffix(')'));
    let head = statement.trim_start().strip_prefix("for (").unwrap_or_default();
    let counts = |name: &str| head.strip_prefix(name.trim()).is_some_and(|rest| rest.starts_with(" = "));
    mutant.operator.does == "drop-clause"
        && !said.contains("simd")
        && list.is_some_and(|list| list.split(',').all(counts))
}

pub(super) fn barrier_follows(_: &str, mutant: &Mutant) -> bool {
    let op = &mutant.operator;
    if (op.does.as_str(), mutant.what.as_str()) != ("drop-directive", "taskwait") {
        return false;
    }
    let (before, behind) = mutant.text.split_at(mutant.at);
    let Some(open) = open_brace(before) else { return false };
    let outside = &before[..open];
    let Some(directive) = directives(outside.as_bytes()).into_iter().next_back() else { return false };
    let said = words(outside.as_bytes(), &directive);
    let declared = at_top(&code(&before[open + 1..]));
    let declares = |word: &str| TYPES.contains(&word) || matches!(word, "const" | "char" | "auto" | "struct");
    behind.trim_start().starts_with('}')
        && outside[directive.end..].trim().is_empty()
        && (said.starts_with("single") || said.starts_with("parallel"))
        && !said.contains("nowait")
        && !said.contains(" for")
        && !declared.split(|c: char| !c.is_alphanumeric() && c != '_').any(declares)
}

/// The brace that opens the block that a text ends in.
fn open_brace(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    let found = text.char_indices().rev().find(|(_, c)| {
        depth += i32::from(*c == '}') - i32::from(*c == '{');
        depth < 0
    });
    found.map(|(at, _)| at)
}

/// A text without what stands in braces and parentheses.
fn at_top(text: &str) -> String {
    let mut depth = 0_i32;
    let keep = |c: &char| {
        depth -= i32::from(matches!(c, '}' | ')'));
        let top = depth == 0;
        depth += i32::from(matches!(c, '{' | '('));
        top
    };
    text.chars().filter(keep).collect()
}
