//! What `--help` says beside the flags.

/// The examples and rules at the end of `--help`.
pub const AFTER_HELP: &str = "\
Examples:
  ompsplit src/*.c --in-place          rewrite files
  ompsplit --diff src                  show what would change in a folder
  ompsplit --check src                 exit 1 if something would change
  ompsplit f.c -DN=8 -Iinclude         give the flags that f.c is compiled with
  ompsplit - --stdin-filename f.c      read standard input, as an editor does

Suppression comments:
  // ompsplit off  ..  // ompsplit on      leave the constructs between alone
  // NOLINT(OMPS104), NOLINTNEXTLINE(..)   silence a rule on a line

Exit codes:
  0  nothing to do, or written
  1  --check or --diff would change something; with --error-on-refusal, a refusal
  2  wrong usage, unreadable or unwritable files, failed validation; with standard
     input the input is passed on unchanged

Diagnostics go to standard error; the formats for programs go to standard output
where that carries no text (--in-place, --check without --diff).";

/// What `--help` adds: every key of the configuration, in an example that `tests/docs.rs` reads.
pub const CONFIGURATION: &str = r#"Configuration:
  The nearest .ompsplit.toml above a file holds for it; flags win. An unknown key is
  an error, and so is a file that cannot be read. Every key, with an example:

    passes = ["split", "collapse"]
    include_dirs = ["include"]    # where #include ".." is looked up
    facts = "clang"               # also ask clang for types and names (installed)
    sources = ["src"]             # where called functions may be defined
    compile_commands = "build"    # or flags = ["-Iinclude", "-DN=1024"]
    error_on_refusal = false
    require_clean = true          # write no file that has uncommitted changes
    write_header = "include"      # for ompsplit_pin.h; by default beside the file
    assume = false
    reassociation = false         # floating-point sums in another order; runs reduce
    assumed_iterations = 65536    # of loops of unknown length: decides what pays
    device_memory = 2147483648    # bytes that data kept on the device may take
    device = "h200"               # or "native", or your own profile.toml
    retune = false                # replace written grids that are far off
    resources = "clang"           # clang and ptxas count registers, for grids
    versioned = false             # both forms, chosen at run time by loop lengths
    pin = "stage"                 # stage, register, alloc or none
    pipeline_window = 4           # tiles on the device at a time
    pipeline_tiles = 16           # how many tiles a pipeline has
    pipeline_from = 33554432      # tile loops over arrays of at least these bytes
    for = "llvm"                  # compiler for pipelines: llvm, gcc or nvhpc

    [verify]
    level = "host"                # none, syntax, device or host
    sources = ["src/main.c"]      # other sources; default: compile_commands
    link_flags = ["-lfftw3"]
    args = ["--size", "64"]
    stdin = "tests/small.in"
    cwd = "tests"                 # each run gets a copy; by default an empty folder
    env = { LANG = "C" }
    timeout = 60.0                # seconds for one run
    ignore = ["seconds"]          # do not compare lines that hold this text
    tolerance = 1e-9              # for numbers, relative above 1; default: exact
    outputs = ["result.dat"]      # files that it writes, compared as well
    stderr = false                # compare standard error too
    expected = "tests/small.out"  # what the original must print
    exit = 0                      # the exit status it must end with
    races = true                  # look for races

    [tuned.0123456789abcdef]
    file = "src/solver.c"         # what `ompsplit tune` found for a loop, by its hash
    device = "NVIDIA H200"
    date = "2026-11-26"
    form = "128 threads, at most 4224 teams"
    ratio = 1.25                  # how many times as fast as before
    clock = "device"              # or wall"#;
