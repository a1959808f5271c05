//! Campaigns on real engines: silent where the engine is sound, loud where a fault was put in.

mod clean;
mod commands;
mod compare;
mod costs;
mod faults;
mod fork;
mod interrupt;
mod keep;
mod kept;
mod leftovers;
mod limits;
mod modes;
mod reduce_command;
mod reduction;
mod runaway;
mod second_signal;
mod show;
mod stages;
mod stored_cases;
mod support;
mod texts;
