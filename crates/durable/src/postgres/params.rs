//! Parameters of a statement with their types, so that it can be sent with or without being prepared before.

use std::error::Error;

use bytes::{BufMut as _, BytesMut};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// An id, as PostgreSQL's `uuid`: 16 bytes in their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Id(pub(super) [u8; 16]);

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
pub(super) struct Params(Vec<(Value, Type)>);

impl Params {
    /// None so far.
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn with(mut self, kind: Type, value: impl ToSql + Sync + Send + 'static) -> Self {
        self.0.push((Box::new(value), kind));
        self
    }

    /// The store's clock, where it is not the server's.
    pub(super) fn now(self, now: Option<i64>) -> Self {
        self.with(Type::INT8, now)
    }

    pub(super) fn id(self, id: [u8; 16]) -> Self {
        self.with(Type::UUID, Id(id))
    }

    pub(super) fn maybe_id(self, id: Option<[u8; 16]>) -> Self {
        self.with(Type::UUID, id.map(Id))
    }

    pub(super) fn big(self, value: i64) -> Self {
        self.with(Type::INT8, value)
    }

    pub(super) fn maybe_big(self, value: Option<i64>) -> Self {
        self.with(Type::INT8, value)
    }

    pub(super) fn maybe_small(self, value: Option<i32>) -> Self {
        self.with(Type::INT4, value)
    }

    pub(super) fn small(self, value: i32) -> Self {
        self.with(Type::INT4, value)
    }

    pub(super) fn text(self, value: Option<String>) -> Self {
        self.with(Type::TEXT, value)
    }

    pub(super) fn ids(self, ids: impl IntoIterator<Item = [u8; 16]>) -> Self {
        self.with(Type::UUID_ARRAY, ids.into_iter().map(Id).collect::<Vec<_>>())
    }

    pub(super) fn maybe_ids(self, ids: impl IntoIterator<Item = Option<[u8; 16]>>) -> Self {
        self.with(Type::UUID_ARRAY, ids.into_iter().map(|id| id.map(Id)).collect::<Vec<_>>())
    }

    pub(super) fn bigs(self, values: impl IntoIterator<Item = i64>) -> Self {
        self.with(Type::INT8_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    pub(super) fn maybe_bigs(self, values: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.with(Type::INT8_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    pub(super) fn smalls(self, values: impl IntoIterator<Item = i32>) -> Self {
        self.with(Type::INT4_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    pub(super) fn maybe_smalls(self, values: impl IntoIterator<Item = Option<i32>>) -> Self {
        self.with(Type::INT4_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    pub(super) fn texts(self, values: impl IntoIterator<Item = Option<String>>) -> Self {
        self.with(Type::TEXT_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    pub(super) fn byte_strings(self, values: impl IntoIterator<Item = Vec<u8>>) -> Self {
        self.with(Type::BYTEA_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    pub(super) fn bools(self, values: impl IntoIterator<Item = bool>) -> Self {
        self.with(Type::BOOL_ARRAY, values.into_iter().collect::<Vec<_>>())
    }

    /// The values alone, for a statement that was prepared.
    pub(super) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.0.iter().map(|(value, _)| value.as_ref() as &(dyn ToSql + Sync)).collect()
    }

    /// The types alone.
    pub(super) fn types(&self) -> Vec<Type> {
        self.0.iter().map(|(_, kind)| kind.clone()).collect()
    }

    /// Values and types, for a statement that is sent as it is.
    pub(super) fn typed(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.0.iter().map(|(value, kind)| (value.as_ref() as &(dyn ToSql + Sync), kind.clone())).collect()
    }
}

/// A small count as PostgreSQL's `integer`, held at the highest it can keep.
pub(super) fn small(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}
