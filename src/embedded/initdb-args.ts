/**
 * Arguments of initdb for a new embedded database. PostgreSQL begins with two WAL segments; at its default of 16 MB they are
 * more than half of an empty database. With 1 MB a new database takes 31 MB, not 61.
 */
export const INITDB_ARGS: readonly string[] = ["--wal-segsize=1"];
