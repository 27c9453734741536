//! Text to stdout, diffs, files in place.
