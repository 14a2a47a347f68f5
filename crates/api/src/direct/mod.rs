//! x
pub struct Direct; pub struct DirectRooms;
