//! Parameters of a statement with their types, so that it can be sent with or without being prepared before.

use std::error::Error;

use bytes::{BufMut as _, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// An id, as PostgreSQL's `uuid`: 16 bytes in their order.
#[derive(Debug, Clone, Copy)]
pub struct Id(pub [u8; 16]);

impl ToSql for Id {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_slice(&self.0);
        Ok(IsNull::No)
    }

    accepts!(UUID);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Id {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw.try_into()?))
    }

    accepts!(UUID);
}

type Value = Box<dyn ToSql + Sync + Send>;

/// The parameters, in their order.
#[derive(Debug, Default)]
pub struct Params(Vec<(Value, Type)>);

impl Params {
    /// None so far.
    pub fn new() -> Self {
        Self::default()
    }

    fn with(mut self, kind: Type, value: impl ToSql + Sync + Send + 'static) -> Self {
        self.0.push((Box::new(value), kind));
        self
    }

    /// The store's clock, where it is not the server's.
    pub fn now(self, now: Option<i64>) -> Self {
        self.with(Type::INT8, now)
    }

    /// An id.
    #[must_use]
    pub fn id(self, id: [u8; 16]) -> Self {
        self.with(Type::UUID, Id(id))
    }

    /// An id, or nothing.
    #[must_use]
    pub fn maybe_id(self, id: Option<[u8; 16]>) -> Self {
        self.with(Type::UUID, id.map(Id))
    }

    /// A `bigint`.
    #[must_use]
    pub fn big(self, value: i64) -> Self {
        self.with(Type::INT8, value)
    }

    /// A `bigint`, or nothing.
    #[must_use]
    pub fn maybe_big(self, value: Option<i64>) -> Self {
        self.with(Type::INT8, value)
    }

    /// An `integer`, or nothing.
    #[must_use]
    pub fn maybe_small(self, value: Option<i32>) -> Self {
        self.with(Type::INT4, value)
    }

    /// An `integer`.
    #[must_use]
    pub fn small(self, value: i32) -> Self {
        self.with(Type::INT4, value)
    }

    /// A `text`, or nothing.
    #[must_use]
    pub fn text(self, value: Option<String>) -> Self {
        self.with(Type::TEXT, value)
    }

    /// An array of ids.
    #[must_use]
    pub fn ids(self, ids: impl IntoIterator<Item = [u8; 16]>) -> Self {
        self.with(Type::UUID_ARRAY, ids.into_iter().map(Id).collect::<Vec<_>>())
    }

    /// An array of ids, or nothing.
    #[must_use]
    pub fn ids_or_nothing(self, ids: Option<Vec<[u8; 16]>>) -> Self {
        self.with(Type::UUID_ARRAY, ids.map(|ids| ids.into_iter().map(Id).collect::<Vec<_>>()))
    }

    /// An array of ids, where there are any.
    #[must_use]
    pub fn maybe_ids(self, ids: impl IntoIterator<Item = Option<[u8; 16]>>) -> Self {
        self.with(Type::UUID_ARRAY, ids.into_iter().map(|id| id.map(Id)).collect::<Vec<_>>())
    }

    /// An array of `bigint`.
    #[must_use]
    pub fn bigs(self, values: impl IntoIterator<Item = i64>) -> Self {
        self.with(Type::INT8_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    /// An array of `bigint`, where there are any.
    #[must_use]
    pub fn maybe_bigs(self, values: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.with(Type::INT8_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    /// An array of `integer`.
    #[must_use]
    pub fn smalls(self, values: impl IntoIterator<Item = i32>) -> Self {
        self.with(Type::INT4_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    /// An array of `integer`, where there are any.
    #[must_use]
    pub fn maybe_smalls(self, values: impl IntoIterator<Item = Option<i32>>) -> Self {
        self.with(Type::INT4_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    /// An array of `text`, where there are any.
    #[must_use]
    pub fn texts(self, values: impl IntoIterator<Item = Option<String>>) -> Self {
        self.with(Type::TEXT_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    /// An array of `bytea`.
    #[must_use]
    pub fn byte_strings(self, values: impl IntoIterator<Item = Vec<u8>>) -> Self {
        self.with(Type::BYTEA_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    /// An array of `boolean`.
    #[must_use]
    pub fn bools(self, values: impl IntoIterator<Item = bool>) -> Self {
        self.with(Type::BOOL_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    /// A `boolean`.
    #[must_use]
    pub fn bool(self, value: bool) -> Self {
        self.with(Type::BOOL, value)
    }

    /// An array of `text` that is not there at all.
    #[must_use]
    pub fn maybe_texts(self, values: Option<Vec<String>>) -> Self {
        self.with(Type::TEXT_ARRAY, values)
    }

    /// The values alone, for a statement that was prepared.
    pub fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.0.iter().map(|(value, _)| value.as_ref() as &(dyn ToSql + Sync)).collect()
    }

    /// The types alone.
    pub fn types(&self) -> Vec<Type> {
        self.0.iter().map(|(_, kind)| kind.clone()).collect()
    }

    /// Values and types, for a statement that is sent as it is.
    pub fn typed(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.0.iter().map(|(value, kind)| (value.as_ref() as &(dyn ToSql + Sync), kind.clone())).collect()
    }
}

/// A small count as PostgreSQL's `integer`, held at the highest it can keep.
pub fn small(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}
