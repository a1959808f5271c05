//! Stand-ins: the mock provider under the address of a real one, with that one's schema.
//!
//! - [`address`]: how a provider is named. [`constraint`]: versions, and what programs demand of them.
//! - [`schema_file`]: what `terraform providers schema -json` writes, checked by `schema_check` and cut to one
//!   provider. [`store`]: where schemas are looked for.
//! - [`program`]: which providers a program needs. [`lock`]: the versions that it was deployed with.
//! - [`mirror`]: stand-ins where engines install them from.
//! - [`chosen`]: a schema and a version for each provider of a program. [`session`]: an engine in a `copy` of a
//!   program, with its stand-ins.

pub mod address;
pub mod chosen;
pub mod constraint;
mod copy;
pub mod lock;
pub mod mirror;
pub mod program;
mod schema_check;
pub mod schema_file;
pub mod session;
pub mod store;
