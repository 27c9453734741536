//! A tree-sitter grammar for the text of one OpenMP directive.
