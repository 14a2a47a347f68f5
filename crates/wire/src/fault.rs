//! Faults cross the wire with their kind, their text and the texts of their causes.

use std::error::Error;
use std::fmt;

use protocol::{Fault, FaultKind};
use serde::{Deserialize, Serialize};

/// A fault, as sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentFault {
    kind: FaultKind,
    doing: String,
    /// From the direct cause to the root.
    causes: Vec<String>,
}

/// A cause that happened on the other side.
#[derive(Debug)]
struct RemoteCause {
    text: String,
    source: Option<Box<RemoteCause>>,
}

impl fmt::Display for RemoteCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for RemoteCause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

impl From<&Fault> for SentFault {
    fn from(fault: &Fault) -> Self {
        let causes = std::iter::successors(fault.source(), |cause| (**cause).source());
        Self {
            kind: fault.kind,
            doing: fault.doing.clone(),
            causes: causes.map(ToString::to_string).collect(),
        }
    }
}

impl From<SentFault> for Fault {
    fn from(sent: SentFault) -> Self {
        let cause = sent
            .causes
            .into_iter()
            .rev()
            .fold(None, |source, text| Some(Box::new(RemoteCause { text, source })));
        let fault = Self::new(sent.kind, sent.doing);
        match cause {
            Some(cause) => fault.caused_by(*cause),
            None => fault,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_arrives_with_its_whole_chain() {
        let root = RemoteCause {
            text: "disk".to_owned(),
            source: Some(Box::new(RemoteCause { text: "full".to_owned(), source: None })),
        };
        let sent = SentFault::from(&Fault::ambiguous("claim attempts", root));
        let bytes = postcard::to_allocvec(&sent).unwrap();
        let fault = Fault::from(postcard::from_bytes::<SentFault>(&bytes).unwrap());
        assert_eq!(fault.kind, FaultKind::Ambiguous);
        assert_eq!(fault.to_string(), "no answer when trying to claim attempts");
        let cause = fault.source().unwrap();
        assert_eq!(cause.to_string(), "disk");
        assert_eq!(cause.source().unwrap().to_string(), "full");
        assert!(cause.source().unwrap().source().is_none());
    }
}
