//! Real processes under what happens to them: killed, frozen, told to stop, losing what they lost; and programs as they are.

mod cancel;
mod damage;
mod drain;
mod freeze;
mod kills;
mod losses;
mod owner;
mod places;
mod programs;
mod run;
mod signals;
mod storm;
mod upgrade;
mod verbs;
