//! Where a variable is written, or its address taken.
