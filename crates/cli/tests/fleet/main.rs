//! An installation on PostgreSQL, Redis and S3 under what happens to it, and what it shows of itself.

mod kills;
mod numbers;
mod orphans;
mod storm;
