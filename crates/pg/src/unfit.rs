//! Servers that no room can lie on.
//!
//! Promises that each refusal names the place, what was found and what is needed. Looks at nothing by itself: a room asks for
//! version, encoding and isolation together with whatever else it wants to know.

/// The oldest server whose answers are known.
const OLDEST: i32 = 140_000;

/// A server that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    /// It is too old.
    #[error("{place} is PostgreSQL {found}; needed is version 14 or later")]
    OldServer {
        /// The place.
        place: String,
        /// Its version, as the server numbers it.
        found: i32,
    },
    /// The database cannot hold every text.
    #[error("the database of {place} has the encoding {found}; needed is UTF8")]
    Encoding {
        /// The place.
        place: String,
        /// Its encoding.
        found: String,
    },
    /// Settings that cannot be changed behind a pooler are not what is needed.
    #[error(
        "transactions of {place} are `{found}` by default, and behind a pooler that cannot be changed by this program: \
         ALTER ROLE … SET default_transaction_isolation = 'read committed'"
    )]
    Isolation {
        /// The place.
        place: String,
        /// The default isolation.
        found: String,
    },
}

impl Unfit {
    /// Refuses a server of this version, and a database of this encoding.
    ///
    /// # Errors
    /// When it is too old or cannot hold every text.
    pub fn check(place: &str, server: i32, encoding: &str) -> Result<(), Self> {
        if server < OLDEST {
            return Err(Self::OldServer { place: place.to_owned(), found: server });
        }
        if encoding != "UTF8" {
            return Err(Self::Encoding { place: place.to_owned(), found: encoding.to_owned() });
        }
        Ok(())
    }

    /// Refuses a default isolation that this program cannot change.
    ///
    /// # Errors
    /// When it is another one than `read committed`.
    pub fn check_isolation(place: &str, found: &str) -> Result<(), Self> {
        if found == "read committed" {
            return Ok(());
        }
        Err(Self::Isolation { place: place.to_owned(), found: found.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_names_the_place_what_was_found_and_what_is_needed() {
        let told = |refused: Result<(), Unfit>| refused.unwrap_err().to_string();
        assert_eq!(
            told(Unfit::check("schema s at h", 130_014, "UTF8")),
            "schema s at h is PostgreSQL 130014; needed is version 14 or later"
        );
        assert!(
            told(Unfit::check("p", 140_000, "SQL_ASCII")).contains("the encoding SQL_ASCII; needed is UTF8")
        );
        assert!(told(Unfit::check_isolation("p", "serializable")).contains("`serializable` by default"));
        assert!(
            Unfit::check("p", 140_000, "UTF8").is_ok()
                && Unfit::check_isolation("p", "read committed").is_ok()
        );
    }
}
