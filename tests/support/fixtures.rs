//! The fixtures and what their first lines say about them.

use std::path::{Path, PathBuf};

/// One program under `fixtures/`. Its first lines may hold comments of the form `// fixture: <word>`:
///
/// - `not-runnable`: it is compiled only;
/// - `racy-original`: the original may give several results, so the output is held to the program's own check (it
///   returns 0) and to the same text in every geometry;
/// - `certain`: no edit that rests on an assumption is ever applied, since that keeps others from being made;
/// - `assume`: edits that rest on an assumption are applied, because it holds in this program;
/// - `reassociation`: sums may be formed in another order, because those of this program are exact;
/// - `versioned`: both forms are written where the lengths of loops decide which is faster;
/// - `retune`: written grids that are far off on the `device` are replaced;
/// - `device NAME`: grids are chosen for this device, and all passes run;
/// - `without PASS,..`: with a device all passes run but these, which would change first what the fixture shows;
/// - `assumed_iterations N`: what a loop of unknown length is taken for; by default it is long;
/// - `window K`: pipelines keep K tiles on the device at a time;
/// - `for COMPILER`, `pin HOW`: what `--for` and `--pin` say;
/// - `flags ..`: further compiler flags.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// `split_target/two_loops.c`
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its bytes.
    pub text: Vec<u8>,
    /// Is it run as well as compiled?
    pub runnable: bool,
    /// May the original give several results?
    pub racy_original: bool,
    /// Are edits that rest on an assumption applied?
    pub assume: bool,
    /// Further compiler flags.
    pub flags: Vec<String>,
    /// What the first lines ask for, as options of the command line; the device is the caller's choice.
    pub options: Vec<String>,
}

impl Fixture {
    /// A fixture from its name and text.
    pub fn new(name: &str, path: PathBuf, text: Vec<u8>) -> Result<Self, String> {
        let mut fixture = Self {
            name: name.to_owned(),
            path,
            runnable: true,
            racy_original: false,
            assume: false,
            flags: Vec::new(),
            options: Vec::new(),
            text,
        };
        let head = String::from_utf8_lossy(&fixture.text).lines().take(12).map(str::to_owned).collect::<Vec<_>>();
        for line in head {
            let Some((_, words)) = line.split_once("// fixture:") else { continue };
            match words.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["not-runnable"] => fixture.runnable = false,
                ["racy-original"] => fixture.racy_original = true,
                ["assume"] => {
                    fixture.assume = true;
                    fixture.options.push("--assume".to_owned());
                }
                ["reassociation"] => {
                    fixture.assume = true;
                    fixture.options.push("--assume=reassociation".to_owned());
                }
                // The options of the library's rewrite read it from the text, which may be one in between.
                ["versioned"] => fixture.options.push("--versioned".to_owned()),
                ["window", tiles] => fixture.options.extend(["--pipeline-window".to_owned(), (*tiles).to_owned()]),
                [word @ ("for" | "pin"), how] => fixture.options.extend([format!("--{word}"), (*how).to_owned()]),
                ["assumed_iterations", number] => {
                    fixture.options.extend(["--assumed-iterations".to_owned(), (*number).to_owned()]);
                }
                // Grids are replaced for a device alone, which is the caller's choice.
                ["device" | "without", _] | ["retune"] | ["certain"] => {}
                ["flags", flags @ ..] => fixture.flags.extend(flags.iter().map(|flag| (*flag).to_owned())),
                other => return Err(format!("{name}: `// fixture: {}` is not known", other.join(" "))),
            }
        }
        Ok(fixture)
    }

    /// Is it C++?
    pub fn is_cpp(&self) -> bool {
        self.path.extension().is_some_and(|ending| ending != "c")
    }

    /// The folder it stands in, where its `#include ".."` look first.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }
}

/// Every fixture, sorted by name; only those whose name holds `OMPSPLIT_FIXTURE` where that is set.
pub fn all() -> Result<Vec<Fixture>, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    below(&root, &std::env::var("OMPSPLIT_FIXTURE").unwrap_or_default())
}

/// The fixtures in a folder whose name holds `wanted`, sorted by name.
pub fn below(root: &Path, wanted: &str) -> Result<Vec<Fixture>, String> {
    let mut paths = Vec::new();
    walk(root, &mut paths)?;
    paths.sort();
    let mut fixtures = Vec::new();
    for path in paths {
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let source = matches!(path.extension().and_then(|e| e.to_str()), Some("c" | "cpp" | "cc" | "cxx"));
        if source && name.contains(wanted) {
            let text = std::fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
            fixtures.push(Fixture::new(&name, path, text)?);
        }
    }
    Ok(fixtures)
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            walk(&path, paths)?;
        } else {
            paths.push(path);
        }
    }
    Ok(())
}
