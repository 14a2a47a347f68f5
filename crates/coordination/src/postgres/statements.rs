//! The statements: files of SQL, with the schema's name put in once at start.
//!
//! Promises that a name that is not there does not compile, and that nothing else is ever put into a statement. A function
//! is made once in the schema; what is sent is its call.

use pg::schema::in_schema;

/// The tables, and the type that functions answer with.
pub(super) const TABLES: &str = include_str!("sql/tables.sql");

macro_rules! statements {
    (
        parts { $($part:literal)* }
        functions { $($function:ident($($parameter:literal),*);)* }
        reads { $($read:ident;)* }
    ) => {
        /// Every function's name and text, in the order in which they can be made.
        pub(super) const FUNCTIONS: &[(&str, &str)] = &[
            $(($part, include_str!(concat!("sql/", $part, ".sql"))),)*
            $((stringify!($function), include_str!(concat!("sql/", stringify!($function), ".sql"))),)*
        ];

        /// What is sent, for one schema.
        pub(super) struct Statements {
            $(pub(super) $function: String,)*
            $(pub(super) $read: String,)*
        }

        impl Statements {
            pub(super) fn new(schema: &str) -> Self {
                Self {
                    $($function: in_schema(
                        concat!("SELECT * FROM {schema}.", stringify!($function), "($1", $(", ", $parameter,)* ")"),
                        schema,
                    ),)*
                    $($read: in_schema(include_str!(concat!("sql/", stringify!($read), ".sql")), schema),)*
                }
            }

            /// All of them, by name.
            #[cfg(test)]
            pub(super) fn all(&self) -> Vec<(&'static str, &str)> {
                vec![
                    $((stringify!($function), self.$function.as_str()),)*
                    $((stringify!($read), self.$read.as_str()),)*
                ]
            }
        }
    };
}

statements! {
    parts {
        "forget" "in_use" "arrive" "leave" "end_reservation" "end_stay" "add_lease" "renew" "drop_entry"
    }
    functions {
        enqueue("$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11");
        reserve("$2", "$3", "$4", "$5", "$6", "$7", "$8");
        claim_refused("$2", "$3", "$4", "$5", "$6");
        renew_reservation("$2", "$3", "$4", "$5", "$6");
        activate_attempt("$2", "$3", "$4", "$5", "$6", "$7", "$8");
        renew_lease("$2", "$3", "$4", "$5", "$6");
        expire_lease("$2", "$3", "$4");
        false_suspicion("$2", "$3", "$4");
        release_reservation("$2", "$3", "$4", "$5");
        release_lease("$2", "$3", "$4", "$5");
        publish_cancel_notice("$2", "$3", "$4");
        clean_terminal_coordination("$2", "$3", "$4");
        report_progress("$2", "$3", "$4", "$5", "$6", "$7");
        restore_lease("$2", "$3", "$4", "$5", "$6", "$7");
        reap_observe("$2", "$3", "$4", "$5", "$6", "$7", "$8");
        settle("$2", "$3", "$4");
        account("$2", "$3", "$4");
        register("$2", "$3", "$4", "$5", "$6", "$7", "$8");
        deregister("$2", "$3", "$4");
        request_drain("$2", "$3", "$4");
        configure("$2", "$3", "$4", "$5", "$6", "$7");
        install_epoch("$2", "$3", "$4", "$5");
        open_epoch("$2", "$3");
        lose();
    }
    reads {
        pool;
        holdings;
        windows;
        workers;
        progress;
        doctor;
    }
}
