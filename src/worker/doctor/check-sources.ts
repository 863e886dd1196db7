import { stat } from "node:fs/promises";
import { posix, resolve } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectVectorSettings } from "../../shared/store/connection/health.ts";
import { selectMirrors } from "../../shared/store/index/remote-files.ts";
import type { MirrorState } from "../../shared/store/index/remote-files.ts";
import { countUnindexed, selectIndexedFiles } from "../../shared/store/index/totals.ts";
import type { IndexedFile } from "../../shared/store/index/totals.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { listFiles } from "../index/list-files.ts";
import { storablePath } from "../index/sources.ts";
import { ok, warn } from "./check.ts";
import type { Check } from "./check.ts";

/** The most files that are checked: 20,000 take about a second. */
const MOST_FILES = 20_000;

/** Compares size and time of files with the index, and counts new files; reads no file. No check on a machine without files. */
export async function checkFiles(config: Config, database: Database): Promise<readonly Check[]> {
  if (config.documents.from === "store") return [];
  const files = await selectIndexedFiles(database, MOST_FILES);
  if (files.length === 0) return [];
  const states: ("same" | "changed" | "gone")[] = [];
  for (const file of files) states.push(await stateOf(config, file));
  const [changed, gone] = (["changed", "gone"] as const).map(
    (state) => states.filter((one) => one === state).length,
  );
  const added = await countNew(config, database);
  const looked = files.length === MOST_FILES ? ` (of ${MOST_FILES} that were looked at)` : "";
  return [
    changed === 0 && gone === 0 && added === 0
      ? ok(
          "DOCTOR_FILES_OK",
          files.length === 1
            ? "The file is as it was when it was indexed."
            : `${files.length} files are as they were when they were indexed.`,
        )
      : warn(
          "DOCTOR_FILES_CHANGED",
          `Files that changed since they were indexed: ${changed}; that are gone: ${gone}${looked}; that are new: ${added}.`,
          "Run: nightdesk index",
        ),
  ];
}

async function stateOf(
  { roots }: Config,
  { path, bytes, mtime_ns: mtimeNs }: IndexedFile,
): Promise<"same" | "changed" | "gone"> {
  const found = await stat(resolve(roots.workroot, path), { bigint: true }).catch(() => undefined);
  if (found === undefined) return "gone";
  return found.mtimeNs === mtimeNs && Number(found.size) === bytes ? "same" : "changed";
}

const PATHS_AT_ONCE = 5_000;

/** Counts files of the sources that the next `nightdesk index` would read for the first time. */
async function countNew({ index, roots, security }: Config, database: Database): Promise<number> {
  let added = 0;
  for (const { name, root, exts } of index.sources) {
    const folder = posix.resolve(roots.workroot, root);
    const label = posix.relative(roots.workroot, folder);
    const listing = await listFiles({ folder, label }, new Set(exts ?? security.allowed_exts));
    const files = listing.kind === "listed" ? listing.files : [];
    const paths = files.map(({ relativePath }) =>
      storablePath(posix.join(label, relativePath)).toWellFormed(),
    );
    for (let from = 0; from < paths.length; from += PATHS_AT_ONCE) {
      added += await countUnindexed(database, name, paths.slice(from, from + PATHS_AT_ONCE));
    }
  }
  return added;
}

const FEW_BYTES = 64 * 1024 * 1024;

/** Checks the server's settings that affect building the index of vectors. No check for an embedded database. */
export async function checkVectorSettings(
  config: Config,
  database: Database,
): Promise<readonly Check[]> {
  if (config.database.url === "embedded") return [];
  const { installed, available, memory_bytes: memory } = await selectVectorSettings(database);
  const megabytes = Math.round(memory / 1024 / 1024);
  if (installed !== null && available !== null && installed !== available) {
    return [
      warn(
        "DOCTOR_PGVECTOR_OLD",
        `The database has pgvector ${installed}, and the server has ${available}.`,
        "As its owner: alter extension vector update",
      ),
    ];
  }
  return [
    memory < FEW_BYTES
      ? warn(
          "DOCTOR_VECTOR_MEMORY_LOW",
          `maintenance_work_mem is ${megabytes} MB: an index of vectors that does not fit is built many times slower.`,
          "As a superuser: alter system set maintenance_work_mem = '256MB'; select pg_reload_conf()",
        )
      : ok(
          "DOCTOR_VECTOR_SETTINGS_OK",
          `maintenance_work_mem is ${megabytes} MB, pgvector ${installed ?? "missing"}.`,
        ),
  ];
}

/** Reports the age of mirrors of remote sources, and files that they hold though the source lacks them. */
export async function checkMirrors(
  { index }: Config,
  database: Database,
): Promise<readonly Check[]> {
  const names = index.sources.filter(({ from }) => from !== undefined).map(({ name }) => name);
  if (names.length === 0) return [];
  const states = new Map((await selectMirrors(database)).map((state) => [state.source, state]));
  return names.map((name) => checkMirror(name, states.get(name)));
}

function checkMirror(name: string, state: MirrorState | undefined): Check {
  const hours = state?.hours ?? null;
  if (state === undefined || hours === null)
    return warn(
      "DOCTOR_MIRROR_NONE",
      `Source ${name} was not mirrored to the end yet.`,
      `Run: nightdesk sync ${name} --wait`,
    );
  const { files, held, skipped } = state;
  const message =
    `The mirror of source ${name} has ${countOf(files, "file")}, and its place was last listed ${hours.toFixed(1)} h ago` +
    `; skipped: ${skipped}`;
  return held === 0
    ? ok("DOCTOR_MIRROR_OK", `${message}.`)
    : warn(
        "DOCTOR_MIRROR_HELD",
        `${message}; gone there and kept here: ${held}.`,
        `Look: nightdesk sql "select path, reason from remote_files where fate = 'held'"; delete them: nightdesk sync ${name} --accept-deletions`,
      );
}
