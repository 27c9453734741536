//! Any bytes as a C and as a C++ file: the tool does not panic, and its own output is one that it leaves alone.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ompsplit::engine::{self, EngineError, Options, Outcome};
use ompsplit::source::SourceFile;

fuzz_target!(|text: &[u8]| {
    for name in ["f.c", "f.cpp"] {
        for assume in [false, true] {
            settles(name, text, &Options { assume, ..Options::default() });
        }
    }
});

/// A text that cannot be read gives an error, which is an answer too; an output must be readable and valid.
fn settles(name: &str, text: &[u8], options: &Options) {
    let output = match engine::run(&SourceFile::new(name, text.to_vec()), &[], options) {
        Ok(Outcome { text: Some(output), .. }) => output,
        Ok(_) | Err(EngineError::Host(_)) => return,
        Err(error) => panic!("{name}: {error}"),
    };
    let second = match engine::run(&SourceFile::new(name, output.clone()), &[], options) {
        Ok(second) => second,
        Err(error) => panic!("{name}: the output cannot be read: {error}"),
    };
    assert!(
        second.text.as_ref().is_none_or(|again| *again == output),
        "{name}: a second run changes the output\n{}",
        String::from_utf8_lossy(&output)
    );
}
