//! Pictures for people: a campaign, a comparison of engines or a ledger as one HTML file that needs nothing else.
//!
//! [`campaign`], [`comparison`] and [`ledger`] each make a page; [`page`] is what a file consists of and how it is
//! written. `overview` is all that a campaign's page says of the whole, `detail` what it says of one variant, `layout`
//! where the nodes of a graph stand, `clip` what is cut short. What is drawn is data here; the scripts in `assets`
//! draw it when somebody looks at it, so that a large page opens at once.

pub mod campaign;
mod clip;
pub mod comparison;
mod detail;
mod layout;
pub mod ledger;
mod ledger_data;
mod overview;
pub mod page;
mod reduced;
