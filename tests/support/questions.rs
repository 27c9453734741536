//! Outputs in which the host asks how long loops are, with questions that the short loops of tests answer both ways.

/// What the comment above such a question begins with.
const SHORTER: [&str; 2] = ["/* Shorter ", "// Shorter "];

/// The length that is asked for instead, and the number of iterations of two loops.
const LENGTH: &str = ">= 8";
const ITERATIONS: &str = "> 63";

/// An output, and its copy in which the host asks for few iterations, where it asks for any.
pub fn both_ways(output: &[u8]) -> Vec<Vec<u8>> {
    let short = for_short_loops(&String::from_utf8_lossy(output)).map(String::into_bytes);
    std::iter::once(output.to_vec()).chain(short).collect()
}

/// A copy of an output in which the host asks for few iterations. `None` where it asks for none.
pub fn for_short_loops(output: &str) -> Option<String> {
    let (mut copy, mut is_asked, mut is_found) = (String::new(), false, false);
    for line in output.split_inclusive('\n') {
        if is_asked && line.trim_start().starts_with("if (") {
            copy.push_str(&asking_for_few(line));
            is_found = true;
        } else {
            copy.push_str(line);
        }
        is_asked = SHORTER.iter().any(|shorter| line.trim_start().starts_with(shorter));
    }
    is_found.then_some(copy)
}

/// The question with other numbers behind its comparisons, but for those with 0.
fn asking_for_few(question: &str) -> String {
    let terms = question.split(" && ").map(|term| {
        for (comparison, few) in [(">=", LENGTH), (">", ITERATIONS)] {
            let Some((before, number)) = term.split_once(&format!(" {comparison} ")) else { continue };
            let rest = number.trim_start_matches(|character: char| character.is_ascii_digit());
            if rest.len() < number.len() && !number.starts_with('0') {
                return format!("{before} {few}{rest}");
            }
        }
        term.to_owned()
    });
    terms.collect::<Vec<_>>().join(" && ")
}
