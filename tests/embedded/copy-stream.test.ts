import { describe, expect, test } from "@jest/globals";
import { copiesToClient } from "../../src/embedded/collect-batch.ts";

describe("COPY from or to the client", () => {
  test.each([
    "copy t from stdin",
    "COPY t (a, b) FROM STDIN WITH (format csv)",
    "copy (select 1) to stdout",
    "select 1; copy t from stdin",
    "/* a /* nested */ comment */ -- and a line\n copy t from stdin",
    "select 'it''s; ' ; copy t from stdin",
    String.raw`select e'\'; ' ; copy t from stdin`,
    "do $x$ begin end $x$; copy t from stdin",
    'copy "from;table" from stdin',
    "copy t from stdin; select 1",
  ])("is found in %s", (sql) => {
    expect(copiesToClient(sql)).toBe(true);
  });

  test.each([
    "select 'copy t from stdin'",
    "select 1 -- ; copy t from stdin",
    "select $$; copy t from stdin$$",
    'select 1 as "; copy t from stdin"',
    String.raw`select e'\'; copy t from stdin'`,
    "select copy, stdin from t",
    "copy t to '/tmp/stdout.csv'",
    "insert into copy values ('stdin')",
    "create table t (copy text default 'stdin')",
    "select '; copy t from stdin",
  ])("is not found in %s", (sql) => {
    expect(copiesToClient(sql)).toBe(false);
  });
});
