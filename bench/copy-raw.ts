import { createReadStream, createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { PoolClient } from "pg";
import { openCopyIn, openCopyOut } from "./copy-streams.ts";
import type { FreshDatabase } from "./fresh-database.ts";

const TABLES = ["documents", "chunks", "postings"];

/**
 * Copies the rows of the index out, and measures how long COPY takes to put them into tables without indexes or
 * constraints: the least that storing them costs. On a server through a connection, in the embedded database, which
 * takes no data of COPY from a client, from a file of its own.
 */
export async function copyRaw(
  fresh: Omit<FreshDatabase, "url">,
): Promise<{ readonly ms: number; readonly rows: number }> {
  const { db } = fresh;
  const folder = mkdtempSync(join(tmpdir(), "nightdesk-bench-copy-"));
  const { unload, load } =
    fresh.engine === "server" ? throughClient(fresh, folder) : throughFiles(fresh);
  try {
    let ms = 0;
    let rows = 0;
    for (const table of TABLES) {
      await unload(`nightdesk_data.${table}`);
      await db.query(`create table public.raw as select * from nightdesk_data.${table} limit 0`);
      const startedAt = performance.now();
      await load("public.raw", `nightdesk_data.${table}`);
      ms += performance.now() - startedAt;
      const counted = (await db.query("select count(*)::integer as rows from public.raw")).rows;
      rows += (counted[0] as { rows: number }).rows;
      await db.query("drop table public.raw");
    }
    return { ms, rows };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Copier = {
  readonly unload: (table: string) => Promise<unknown>;
  readonly load: (into: string, from: string) => Promise<unknown>;
};

function throughClient({ db }: Pick<FreshDatabase, "db">, folder: string): Copier {
  const withClient = async (body: (client: PoolClient) => Promise<unknown>) => {
    const client = await db.pool.connect();
    try {
      await body(client);
    } finally {
      client.release();
    }
  };
  return {
    unload: (table) =>
      withClient((client) =>
        pipeline(
          openCopyOut(client, `copy (select * from ${table}) to stdout`),
          createWriteStream(join(folder, table)),
        ),
      ),
    load: (into, from) =>
      withClient((client) =>
        pipeline(
          createReadStream(join(folder, from)),
          openCopyIn(client, `copy ${into} from stdin`),
        ),
      ),
  };
}

function throughFiles({ db }: Pick<FreshDatabase, "db">): Copier {
  // COPY takes no expression for its file.
  const run = (copy: string, table: string) =>
    db.query(
      `do $$ begin
         execute format('${copy} %L', current_setting('data_directory') || '/${table}.copy');
       end $$`,
    );
  return {
    unload: (table) => run(`copy (select * from ${table}) to`, table),
    load: (into, from) => run(`copy ${into} from`, from),
  };
}
