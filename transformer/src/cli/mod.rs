//! Arguments, configuration and exit codes.
