//! What a server answers, and what is read out of it.
//!
//! Promises: an answer of another form than the script's contract is a fault, `Corrupt`, and never a guess.

use protocol::{Fault, Guard};

use super::events::Head;
pub(super) use super::events::Verdict;

/// A server's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// No value.
    Nil,
    /// A whole number.
    Number(i64),
    /// A text, or bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Self>),
}

/// What is wrong with an answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Malformed(pub(super) String);

/// A field that is read.
pub(super) type Read<T> = Result<T, Malformed>;

fn malformed<T>(what: &str, found: &Reply) -> Read<T> {
    let mut shown = format!("{found:?}");
    shown.truncate(shown.floor_char_boundary(200));
    Err(Malformed(format!("expected {what}, found {shown}")))
}

impl Reply {
    pub(super) fn list(self) -> Read<Vec<Self>> {
        match self {
            Self::List(list) => Ok(list),
            Self::Nil => Ok(Vec::new()),
            other => malformed("a list", &other),
        }
    }

    pub(super) fn bytes(&self) -> Read<&[u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            other => malformed("bytes", other),
        }
    }

    pub(super) fn text(&self) -> Read<&str> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).or_else(|_| malformed("text", self))
    }

    /// A number, also one written as text.
    pub(super) fn number<T: TryFrom<i64>>(&self) -> Read<T> {
        let number = match self {
            Self::Number(number) => Some(*number),
            Self::Bytes(bytes) => std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()),
            _ => None,
        };
        number.and_then(|number| T::try_from(number).ok()).map_or_else(|| malformed("a number", self), Ok)
    }

    pub(super) fn flag(&self) -> Read<bool> {
        self.number::<i64>().map(|number| number != 0)
    }

    /// An id of 16 bytes.
    pub(super) fn id(&self) -> Read<u128> {
        let bytes = self.bytes()?;
        bytes.try_into().map(u128::from_be_bytes).or_else(|_| malformed("an id of 16 bytes", self))
    }

    /// An id, or nothing where the script had none.
    pub(super) fn id_if_any(&self) -> Read<Option<u128>> {
        if self.bytes()?.is_empty() { Ok(None) } else { self.id().map(Some) }
    }
}

/// A row's fields, taken one by one.
#[derive(Debug)]
pub(super) struct Fields {
    fields: std::vec::IntoIter<Reply>,
}

impl Fields {
    pub(super) fn new(fields: Vec<Reply>) -> Self {
        Self { fields: fields.into_iter() }
    }

    pub(super) fn take(&mut self) -> Read<Reply> {
        self.fields.next().ok_or_else(|| Malformed("the answer ends too early".to_owned()))
    }

    pub(super) fn are_left(&self) -> bool {
        !self.fields.as_slice().is_empty()
    }
}

/// One row of a script's answer.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) order: u64,
    /// Whether it happened now and is an event; a repeat and a look in vain are none.
    pub(super) recorded: bool,
    pub(super) verdict: Verdict,
    pub(super) fields: Fields,
}

impl Row {
    fn read(reply: Reply) -> Read<Self> {
        let mut fields = Fields::new(reply.list()?);
        let taken = fields.take()?.flag()?;
        let order = fields.take()?.number()?;
        let recorded = fields.take()?.flag()?;
        let third = fields.take()?;
        let verdict = if taken {
            Verdict::Taken { in_use: third.number()? }
        } else {
            let name = third.text()?;
            let guard = Guard::from_name(name);
            Verdict::Refused(guard.ok_or_else(|| Malformed(format!("no guard is called `{name}`")))?)
        };
        Ok(Self { order, recorded, verdict, fields })
    }
}

/// A script's answer: the pool at that moment, and its rows.
#[derive(Debug)]
pub(super) struct Answered {
    /// The store's epoch; 0 when it is empty.
    pub(super) epoch: u64,
    pub(super) order: u64,
    pub(super) lease_ms: u64,
    pub(super) limit: u32,
    /// Whether the end of the grace gave places back.
    pub(super) freed: bool,
    pub(super) rows: Vec<Reply>,
}

impl Answered {
    pub(super) fn read(reply: Reply) -> Read<Self> {
        let mut list = reply.list()?.into_iter();
        let mut next = || list.next().ok_or_else(|| Malformed("the answer has no head".to_owned()));
        Ok(Self {
            epoch: next()?.number()?,
            order: next()?.number()?,
            lease_ms: next()?.number()?,
            limit: next()?.number()?,
            freed: next()?.flag()?,
            rows: list.collect(),
        })
    }

    /// The rows of an action.
    pub(super) fn into_rows(self) -> Read<Vec<Row>> {
        self.rows.into_iter().map(Row::read).collect()
    }
}

impl Head {
    pub(super) fn of(answered: &Answered) -> Self {
        Self { epoch: answered.epoch, limit: answered.limit, lease_ms: answered.lease_ms }
    }
}

/// A malformed answer as a fault.
pub(super) fn corrupt(doing: &str) -> impl Fn(Malformed) -> Fault + '_ {
    move |malformed| Fault::corrupt(doing, malformed)
}
