//! The C header with which programs page-lock host memory, as `ompsplit header` prints it.

/// The name by which a program includes it.
pub const HEADER_NAME: &str = "ompsplit_pin.h";

/// The text of the header, whose comments say what its functions guarantee.
pub const HEADER: &str = include_str!("pinned_memory/ompsplit_pin.h");

/// Is a text this header, perhaps of another version?
#[must_use]
pub fn is_header(text: &[u8]) -> bool {
    ["`ompsplit header`", "#define OMPSPLIT_PIN_H"]
        .iter()
        .all(|mark| memchr::memmem::find(text, mark.as_bytes()).is_some())
}
