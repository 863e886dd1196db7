import { databaseCommand, userName } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { askForYes } from "../../shared/commands/ask-for-yes.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import {
  forgetDocuments,
  removeUnnamedSlice,
  selectForgettable,
  selectReaders,
  sumContents,
} from "../../shared/store/index/contents.ts";
import type { Forgettable, ReaderRun } from "../../shared/store/index/contents.ts";
import { recordAction } from "../../shared/store/operator/actions.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { argumentOf } from "./options.ts";

/** Removes a document from the index, with its stored bytes; lists the runs that read it. */
export const forget: CommandHandler = databaseCommand(
  async ({ invocation, terminal }, database) => {
    const path = argumentOf(invocation);
    const { documents, runs } = await selectForgotten(database, path);
    if (!terminal.isJson) {
      for (const run of runs) await terminal.print(lineOf(run));
    }
    const what = `${countOf(documents.length, "document")} at ${JSON.stringify(path)}, read by ${countOf(runs.length, "run")}`;
    if (!(await askForYes(invocation, `Forget ${what}?`, `${what}, may be forgotten`))) {
      terminal.say("Nothing was changed.");
      return;
    }
    const contents = await forgetAll(database, path, { documents, runs });
    const shared = documents.filter(({ others, isKept }) => isKept && others > 0);
    if (terminal.isJson)
      return terminal.printJson({
        ...{ ok: true, path, documents: documents.map((one) => one.path) },
        ...{ contents, contents_of_others: shared.map((one) => one.path), runs: runs.map(jsonOf) },
      });
    terminal.say(
      `Forgotten: ${what}. Contents removed: ${formatCount(contents)}. Answers and quotes of those runs stay. ` +
        "A file that still lies in a source is indexed again by the next index, unless a .nightdeskignore names it.",
    );
    if (shared.length > 0)
      terminal.say(
        `Kept, because other documents have the same bytes: ${shared.map((one) => one.path).join(", ")}`,
      );
  },
);

type Forgotten = {
  readonly documents: readonly Forgettable[];
  readonly runs: readonly ReaderRun[];
};

/** @throws Failure NOT_FOUND if neither the index nor a run knows the path */
async function selectForgotten(database: Database, path: string): Promise<Forgotten> {
  const documents = await selectForgettable(database, path);
  const runs = await selectReaders(
    database,
    path,
    documents.map(({ sha256 }) => sha256),
  );
  if (documents.length + runs.length > 0) return { documents, runs };
  throw new Failure(
    "NOT_FOUND",
    `There is no document ${JSON.stringify(path)} in the index, and no run read one. Give its path from the work root, as in: ` +
      `nightdesk sql "select path from documents"`,
  );
}

const forgetAll = (
  database: Database,
  path: string,
  { documents, runs }: Forgotten,
): Promise<number> =>
  database.transaction(async (db) => {
    const contents = await forgetDocuments(db, path, documents);
    const detail = { path, documents: documents.length, contents, runs: runs.length };
    await recordAction(
      db,
      { actor: userName(), action: "forget", detail },
      `Document ${path}, and what was stored of it.`,
    );
    return contents;
  });

const lineOf = ({ runId, batch, customId }: ReaderRun): string => `${runId}  ${batch}  ${customId}`;

const jsonOf = ({ runId, jobId, batch, customId }: ReaderRun) => ({
  ...{ run_id: runId, job_id: jobId, batch, custom_id: customId },
});

const SLICE_CONTENTS = 500;
/** Longer than any transaction of an index job. */
const GRACE_SECONDS = 10 * 60;

/** Removes contents that no document has and no run's evidence refers to. */
export const prune: CommandHandler = databaseCommand(async ({ terminal }, database) => {
  let contents = 0;
  let bytes = 0;
  for (let after = ""; ;) {
    const limits = { limit: SLICE_CONTENTS, graceSeconds: GRACE_SECONDS };
    const slice = await removeUnnamedSlice(database, after, limits);
    if (slice.last === null) break;
    after = slice.last;
    contents += slice.contents;
    bytes += slice.bytes;
    terminal.status(`${formatCount(contents)} contents removed`);
  }
  terminal.clearStatus();
  const left = await sumContents(database);
  if (terminal.isJson)
    return terminal.printJson({
      ok: true,
      removed_contents: contents,
      removed_bytes: bytes,
      bytes_left: left,
    });
  terminal.say(
    `Contents removed: ${formatCount(contents)}, ${formatCount(bytes)} bytes. Kept: ${formatCount(left)} bytes.`,
  );
});
