//! Writes the parser from `grammar.js`; with `--check` it writes nothing and fails where the parser is out of date.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use tree_sitter_generate::{ALLOC_HEADER, ARRAY_HEADER, OptLevel, PARSER_HEADER};

/// The ABI that editors of 2022 and later read: Helix to 25.01 and Neovim to 0.10 do not know the next one.
const ABI: usize = 14;

fn main() -> ExitCode {
    let check = env::args().any(|argument| argument == "--check");
    let grammar = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    match regenerate(&grammar, check) {
        Ok(differing) if differing.is_empty() => ExitCode::SUCCESS,
        Ok(differing) => {
            for file in differing {
                eprintln!("grammar/src/{file} is not what grammar.js gives: run `cargo run` in grammar/regenerate");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Generates into a folder of its own and then compares with, or copies to, `grammar/src`.
fn regenerate(grammar: &Path, check: bool) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let fresh = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join("generated");
    fs::create_dir_all(&fresh)?;
    generate(grammar, &fresh)?;
    let kept = grammar.join("src");
    let mut differing = Vec::new();
    for file in ["parser.c", "grammar.json", "node-types.json", "tree_sitter/parser.h"] {
        let new = fs::read(fresh.join(file))?;
        if check {
            if fs::read(kept.join(file)).ok().as_ref() != Some(&new) {
                differing.push(file.to_owned());
            }
        } else {
            write(&kept.join(file), &new)?;
        }
    }
    Ok(differing)
}

fn generate(grammar: &Path, out: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut diagnostics = Vec::new();
    tree_sitter_generate::generate_parser_in_directory(
        grammar,
        Some(out),
        Some(grammar.join("grammar.js")),
        ABI,
        None,
        Some("native"), // the JavaScript engine that is built in: Node is not needed
        true,
        OptLevel::default(),
        &mut diagnostics,
    )?;
    for diagnostic in &diagnostics {
        eprintln!("{diagnostic}");
    }
    let headers = out.join("tree_sitter");
    write(&headers.join("parser.h"), PARSER_HEADER.as_bytes())?;
    write(&headers.join("alloc.h"), ALLOC_HEADER.as_bytes())?;
    write(&headers.join("array.h"), ARRAY_HEADER.as_bytes())?;
    Ok(())
}

fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)
}
