//! Copies by threads of the host, beside kernels: what passes that write them share.

pub(super) mod deferred;
pub(super) mod host_code;
pub(super) mod host_values;
pub(super) mod include;
pub(super) mod lines;
pub(super) mod text;
