//! Values on their way to PostgreSQL and back.

use std::{error::Error as StdError, fmt};

use bytes::BytesMut;
use kit::{Cell, Error, Param, Result, Row};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// Parameters are announced with their types, so that `$1 + 1` means the same
/// as on SQLite; what a NULL stands for is left to PostgreSQL.
pub(super) fn type_of(param: &Param<'_>) -> Type {
    match param {
        Param::Null => Type::UNKNOWN,
        Param::Int(_) => Type::INT8,
        Param::Real(_) => Type::FLOAT8,
        Param::Text(_) => Type::TEXT,
    }
}

pub(super) struct Bind<'a>(pub &'a Param<'a>);

impl ToSql for Bind<'_> {
    fn to_sql(
        &self,
        r#type: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self.0 {
            Param::Null => Ok(IsNull::Yes),
            Param::Int(value) => value.to_sql(r#type, out),
            Param::Real(value) => value.to_sql(r#type, out),
            Param::Text(value) => value.to_sql(r#type, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// The driver prints parameters at its debug level; they are people's data.
impl fmt::Debug for Bind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(type_of(self.0).name())
    }
}

pub(super) fn row(row: &tokio_postgres::Row) -> Result<Row> {
    let mut cells = Vec::with_capacity(row.len());
    for (index, column) in row.columns().iter().enumerate() {
        let value = match *column.type_() {
            Type::INT8 => get(row, index)?.map(Cell::Int),
            Type::INT4 => get::<i32>(row, index)?.map(|value| Cell::Int(value.into())),
            Type::INT2 => get::<i16>(row, index)?.map(|value| Cell::Int(value.into())),
            Type::BOOL => get::<bool>(row, index)?.map(|value| Cell::Int(value.into())),
            Type::FLOAT8 => get(row, index)?.map(Cell::Real),
            Type::FLOAT4 => get::<f32>(row, index)?.map(|value| Cell::Real(value.into())),
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => {
                get(row, index)?.map(Cell::Text)
            }
            ref other => {
                return Err(Error::internal(format!(
                    "column {index} has the type {other}, which is not read: cast it"
                )));
            }
        };
        cells.push(value.unwrap_or(Cell::Null));
    }
    Ok(Row(cells))
}

fn get<'a, T: FromSql<'a>>(row: &'a tokio_postgres::Row, index: usize) -> Result<Option<T>> {
    row.try_get(index).map_err(Error::internal)
}
