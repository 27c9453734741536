//! The flags that a file is compiled with.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
// Splits as a POSIX shell does that expands nothing.
use shlex::split;

use crate::context::{Arithmetic, openmp_version};
use crate::semantics::symbols::FlagDefinition;
use crate::source::Language;
use crate::validate::host::{DatabaseSource, Source};

/// The flags of one file, without the compiler, the file and what says where the output goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompilerFlags {
    /// The flags; folders in them are absolute, or relative to the current one.
    pub flags: Vec<String>,
}

/// The flags whose value is a folder or file.
const PATH_FLAGS: &[&str] = &["-iquote", "-isystem", "-idirafter", "-include", "-I"];

impl CompilerFlags {
    /// May the compiler take it that objects of different types do not share storage? The last flag that says so counts.
    #[must_use]
    pub fn has_strict_aliasing(&self) -> bool {
        let is_relaxed = self.flags.iter().any(|flag| flag == "-relaxed-aliasing");
        !is_relaxed && self.last("strict-aliasing") != Some("-fno-strict-aliasing")
    }

    /// The last flag that ends so, which counts.
    fn last(&self, ending: &str) -> Option<&str> {
        self.flags.iter().rev().find(|flag| flag.ends_with(ending)).map(String::as_str)
    }

    /// Do signed integers wrap around?
    #[must_use]
    pub fn has_wrapping_integers(&self) -> bool {
        self.flags.iter().any(|flag| matches!(flag.as_str(), "-fwrapv" | "-fno-strict-overflow"))
    }

    /// What the flags say of arithmetic. Of flags that say opposite things the last one counts.
    #[must_use]
    pub fn arithmetic(&self) -> Arithmetic {
        let (mut any_order, mut finite, mut unsigned_zeros, mut traps) = (false, false, false, false);
        let mut contracts_statements = false;
        let level = self.flags.iter().rposition(|flag| flag.starts_with("-O"));
        for (index, flag) in self.flags.iter().enumerate() {
            match flag.as_str() {
                "-Ofast" if level != Some(index) => {}
                "-ffast-math" | "-Ofast" => (any_order, finite, unsigned_zeros) = (true, true, true),
                "-fno-fast-math" => (any_order, finite, unsigned_zeros) = (false, false, false),
                "-funsafe-math-optimizations" => (any_order, unsigned_zeros) = (true, true),
                "-fno-unsafe-math-optimizations" => (any_order, unsigned_zeros) = (false, false),
                "-fassociative-math" => any_order = true,
                "-fno-associative-math" => any_order = false,
                "-ffinite-math-only" => finite = true,
                "-fno-finite-math-only" => finite = false,
                "-fno-signed-zeros" => unsigned_zeros = true,
                "-fsigned-zeros" => unsigned_zeros = false,
                "-ffp-contract=fast" => contracts_statements = true,
                "-ffp-contract=on" | "-ffp-contract=off" => contracts_statements = false,
                "-ftrapv" => traps = true,
                _ => traps |= flag.starts_with("-fsanitize="),
            }
        }
        let ignores_special = any_order && finite && unsigned_zeros;
        Arithmetic { reassociates: any_order, ignores_special, traps, contracts_statements }
    }

    /// Do the flags choose a version of OpenMP before 5.1?
    #[must_use]
    pub fn is_before_openmp_51(&self) -> bool {
        openmp_version(&self.flags).is_some_and(|version| version < 51)
    }

    /// Do the flags promise that the iterations of collapsed loops can be counted in 32 bits?
    #[must_use]
    pub fn has_optimistic_collapse(&self) -> bool {
        self.last("openmp-optimistic-collapse") == Some("-fopenmp-optimistic-collapse")
    }

    /// Do the flags forbid what LLVM's compilers take beyond OpenMP?
    #[must_use]
    pub fn forbids_openmp_extensions(&self) -> bool {
        self.last("openmp-extensions") == Some("-fno-openmp-extensions")
    }

    /// The macros that flags define or take back, in order.
    #[must_use]
    pub fn definitions(&self) -> Vec<FlagDefinition> {
        let mut found = Vec::new();
        let mut flags = self.flags.iter();
        while let Some(flag) = flags.next() {
            let (is_defined, rest) = match (flag.strip_prefix("-D"), flag.strip_prefix("-U")) {
                (Some(rest), _) => (true, rest),
                (None, Some(rest)) => (false, rest),
                _ => continue,
            };
            let text = if rest.is_empty() { flags.next().map_or("", String::as_str) } else { rest };
            let (head, body) = text.split_once('=').unwrap_or((text, "1"));
            let (name, list) = head.split_once('(').map_or((head, None), |(name, list)| (name, Some(list)));
            let parameters = list.map(|list| list.trim_end().trim_end_matches(')'));
            let parameters = parameters.map(|list| list.split(',').map(|one| one.trim().to_owned()).collect());
            found.push(FlagDefinition {
                name: name.trim().to_owned(),
                parameters,
                body: is_defined.then(|| body.to_owned()),
            });
        }
        found
    }

    /// The folders in which `#include ".."` is looked up after the file's own, in the compiler's order.
    #[must_use]
    pub fn quote_dirs(&self) -> Vec<PathBuf> {
        let of = |flag: &'static str| path_values(&self.flags, flag).into_iter();
        of("-iquote").chain(of("-I")).chain(of("-isystem")).map(PathBuf::from).collect()
    }
}

/// The values of a flag, joined to it or behind it.
fn path_values<'a>(flags: &'a [String], flag: &str) -> Vec<&'a str> {
    let mut values = Vec::new();
    let mut rest = flags.iter();
    while let Some(word) = rest.next() {
        match word.strip_prefix(flag) {
            Some("") => values.extend(rest.next().map(String::as_str)),
            Some(value) => values.push(value),
            None => {}
        }
    }
    values
}

/// An entry of `compile_commands.json`, as clang documents it.
#[derive(Deserialize)]
struct Entry {
    directory: PathBuf,
    file: PathBuf,
    arguments: Option<Vec<String>>,
    command: Option<String>,
    output: Option<PathBuf>,
}

/// A `compile_commands.json`.
#[derive(Clone, Debug, Default)]
pub(super) struct Database {
    entries: BTreeMap<PathBuf, CompilerFlags>,
    /// Every entry, with the folder of the program or library that it belongs to.
    all: Vec<(PathBuf, CompilerFlags, Option<PathBuf>)>,
}

impl Database {
    /// Reads the database in a folder, or the file itself.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let path = if path.is_dir() { path.join("compile_commands.json") } else { path.to_path_buf() };
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let entries: Vec<Entry> =
            serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let mut database = Self::default();
        for entry in entries {
            let directory = folder.join(&entry.directory);
            let file = canonical(&directory.join(&entry.file));
            let words = match entry.arguments {
                Some(words) => words,
                None => split(&entry.command.unwrap_or_default()).ok_or_else(|| {
                    let (path, file) = (path.display(), entry.file.display());
                    format!("{path}: the command of {file} ends in a quotation or behind a backslash")
                })?,
            };
            let flags = flags_of(&words, &directory, &entry.file);
            let named = words.iter().skip_while(|word| *word != "-o").nth(1).map(PathBuf::from);
            let target = entry.output.or(named).and_then(|output| target_of(&directory.join(output)));
            database.all.push((file.clone(), flags.clone(), target));
            // The first entry of a file counts, as for clang's tools.
            database.entries.entry(file).or_insert(flags);
        }
        Ok(database)
    }

    /// The nearest database in the usual places: a folder above a source file, or the build folder there.
    pub(super) fn above(folder: &Path) -> Option<PathBuf> {
        let places = ["", "build", "builddir", "out"];
        let candidates = folder.ancestors().flat_map(|above| places.map(|place| above.join(place)));
        candidates.map(|folder| folder.join("compile_commands.json")).find(|path| path.is_file())
    }

    /// Its C and C++ sources.
    pub(super) fn sources(&self) -> Vec<DatabaseSource> {
        let is_source = |path: &Path| Language::of_path(path) != Language::Either;
        let all = self.all.iter().filter(|(path, ..)| is_source(path)).cloned();
        all.map(|(path, CompilerFlags { flags }, target)| DatabaseSource { source: Source { path, flags }, target })
            .collect()
    }

    /// The flags of a file, or `None` if it has no entry, as headers do.
    pub(super) fn flags(&self, file: &Path) -> CompilerFlags {
        self.entries.get(&canonical(file)).cloned().unwrap_or_default()
    }
}

/// The path without symbolic links, or made absolute where there is no such file.
fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}

/// The words of a command, less the compiler, the file, and what concerns the output and dependency files.
fn flags_of(words: &[String], directory: &Path, file: &Path) -> CompilerFlags {
    let mut flags = Vec::new();
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "-MF" | "-MT" | "-MQ" => drop(words.next()),
            "-c" | "-S" | "-E" | "-M" | "-MM" | "-MD" | "-MMD" | "-MP" | "-MG" | "--" => {}
            word if word.starts_with("-o") || Path::new(word) == file => {}
            word if directory.join(word) == directory.join(file) => {}
            word => match PATH_FLAGS.iter().find_map(|flag| word.strip_prefix(flag).map(|value| (*flag, value))) {
                Some((flag, "")) => {
                    let value = words.next().map(|value| absolute(directory, value));
                    flags.extend(std::iter::once(flag.to_owned()).chain(value));
                }
                Some((flag, value)) => flags.push(format!("{flag}{}", absolute(directory, value))),
                None => flags.push(word.to_owned()),
            },
        }
    }
    CompilerFlags { flags }
}

fn absolute(directory: &Path, value: &str) -> String {
    directory.join(value).to_string_lossy().into_owned()
}

/// The folder in which a build keeps the objects of one program or library: CMake's `CMakeFiles/NAME.dir`, Meson's `NAME.p`.
fn target_of(object: &Path) -> Option<PathBuf> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_target = |folder: &&Path| {
        let of_cmake = name(folder).ends_with(".dir") && folder.parent().is_some_and(|up| name(up) == "CMakeFiles");
        of_cmake || name(folder).ends_with(".p")
    };
    object.ancestors().skip(1).find(is_target).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_as_a_shell_does() {
        let words = |command: &str| split(command).unwrap();
        assert_eq!(words(r#"cc -DA="x y" '-DB=\"' c\ d.c  """#), ["cc", "-DA=x y", "-DB=\\\"", "c d.c", ""]);
        // In double quotes a backslash stands for itself before most characters.
        assert_eq!(words(r#"cc "-DP=a\b" "-DQ=\"x\"" -DN=1#2"#), ["cc", r"-DP=a\b", r#"-DQ="x""#, "-DN=1#2"]);
    }

    #[test]
    fn keeps_what_matters_and_makes_folders_absolute() {
        let words = split("clang -Iinc -I /usr/x -DN=1 -c src/a.c -o a.o -MD -MF a.d -isystem sys -O2").unwrap();
        let flags = flags_of(&words, Path::new("/p"), Path::new("src/a.c"));
        assert_eq!(flags.flags, ["-I/p/inc", "-I", "/usr/x", "-DN=1", "-isystem", "/p/sys", "-O2"]);
        assert_eq!(flags.quote_dirs(), [Path::new("/p/inc"), Path::new("/usr/x"), Path::new("/p/sys")]);
    }

    #[test]
    fn flags_define_macros_with_and_without_parameters() {
        let flags = CompilerFlags { flags: split("-DN=4 -D 'AT(x, y)=x + y' -DON -UN").unwrap() };
        let found: Vec<_> = flags.definitions();
        let words = |one: &FlagDefinition| (one.name.clone(), one.parameters.clone(), one.body.clone());
        let known = |name: &str, parameters: Option<&[&str]>, body: Option<&str>| {
            let parameters = parameters.map(|all| all.iter().map(|&one| one.to_owned()).collect());
            (name.to_owned(), parameters, body.map(str::to_owned))
        };
        let expected = [
            known("N", None, Some("4")),
            known("AT", Some(&["x", "y"]), Some("x + y")),
            known("ON", None, Some("1")),
            known("N", None, None),
        ];
        assert_eq!(found.iter().map(words).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn flags_say_what_holds_for_arithmetic() {
        let of = |text: &str| CompilerFlags { flags: split(text).unwrap() }.arithmetic();
        let (any_order, all) = (true, true);
        assert_eq!(of("-O2 -ffp-contract=on"), Arithmetic::default());
        let before = |text: &str| CompilerFlags { flags: split(text).unwrap() }.is_before_openmp_51();
        assert!(before("-fopenmp-version=51 -fopenmp-version=50") && !before("-fopenmp-version=51") && !before(""));
        assert!(of("-ffp-contract=fast").contracts_statements);
        assert!(!of("-ffp-contract=fast -ffp-contract=off").contracts_statements);
        let fast = Arithmetic { reassociates: any_order, ignores_special: all, ..Arithmetic::default() };
        assert_eq!(of("-ffast-math -O2"), fast);
        assert_eq!(of("-O2 -Ofast"), fast);
        assert_eq!(of("-Ofast -O2"), Arithmetic::default());
        assert_eq!(of("-ffast-math -fno-fast-math"), Arithmetic::default());
        let in_any_order = Arithmetic { reassociates: any_order, ..Arithmetic::default() };
        assert_eq!(of("-fassociative-math -fno-signed-zeros"), in_any_order);
        assert_eq!(of("-ffast-math -fno-finite-math-only"), in_any_order);
        assert!(of("-ftrapv").traps && of("-fsanitize=undefined").traps);
    }

    #[test]
    fn the_last_flag_counts() {
        let of = |text: &str| CompilerFlags { flags: split(text).unwrap() };
        assert!(of("-fopenmp-extensions -fno-openmp-extensions").forbids_openmp_extensions());
        assert!(!of("-fno-openmp-extensions -fopenmp-extensions").forbids_openmp_extensions());
        assert!(of("-fopenmp-optimistic-collapse").has_optimistic_collapse());
        assert!(!of("-fopenmp-optimistic-collapse -fno-openmp-optimistic-collapse").has_optimistic_collapse());
        assert!(!of("-fno-strict-aliasing").has_strict_aliasing() && of("").has_strict_aliasing());
    }

    #[test]
    fn objects_tell_their_program() {
        let target = |object: &str| target_of(Path::new(object)).map(|path| path.display().to_string());
        assert_eq!(target("/b/CMakeFiles/app.dir/src/a.c.o").as_deref(), Some("/b/CMakeFiles/app.dir"));
        assert_eq!(target("/b/app.p/src_a.c.o").as_deref(), Some("/b/app.p"));
        assert_eq!(target("/b/obj/a.o"), None);
    }

    #[test]
    fn reads_a_database_of_either_form() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().to_string_lossy().into_owned();
        let text = serde_json::json!([
            { "directory": directory, "file": "a.c", "command": "cc -DA a.c" },
            { "directory": directory, "file": "b.c", "arguments": ["cc", "-DB", "b.c"] },
        ]);
        fs::write(folder.path().join("compile_commands.json"), text.to_string()).unwrap();
        fs::write(folder.path().join("a.c"), "").unwrap();
        let database = Database::read(folder.path()).unwrap();
        assert_eq!(database.flags(&folder.path().join("a.c")).flags, ["-DA"]);
        assert_eq!(database.flags(&folder.path().join("b.c")).flags, ["-DB"]);
        assert_eq!(database.flags(&folder.path().join("c.c")), CompilerFlags::default());
    }

    #[test]
    fn a_command_that_is_no_whole_one_is_an_error() {
        for command in ["cc -DA=\"x a.c", "cc '-DA a.c", "cc a.c \\"] {
            let folder = tempfile::tempdir().unwrap();
            let text = serde_json::json!([{ "directory": "/p", "file": "a.c", "command": command }]);
            fs::write(folder.path().join("compile_commands.json"), text.to_string()).unwrap();
            let error = Database::read(folder.path()).unwrap_err();
            assert!(error.contains("the command of a.c"), "{error}");
        }
    }
}
