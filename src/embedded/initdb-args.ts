/**
 * What initdb is told when an embedded database is made. PostgreSQL begins with two segments of its log, which with its own 16 MB are
 * more than half of an empty database: each new one is 31 MB so, not 61.
 */
export const INITDB_ARGS: readonly string[] = ["--wal-segsize=1"];
