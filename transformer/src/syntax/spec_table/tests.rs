//! Spot checks against the specification.
