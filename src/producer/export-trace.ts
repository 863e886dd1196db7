import { readdir } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Failure } from "../shared/failure.ts";
import type { Refusal } from "../shared/failure.ts";
import type { Database } from "../shared/store/connection/database.ts";
import { hasCode } from "../shared/store/connection/errors.ts";
import { jsonForTerminal } from "../shared/terminal/styled-text.ts";
import { moveOf, queryOf } from "../shared/views/trace-moves.ts";
import type { TraceLine } from "../shared/views/trace-lines.ts";
import { openTracePage } from "../shared/views/trace-page.ts";
import { selectReasoning } from "../shared/views/reasoning.ts";
import { readTrace } from "../shared/views/trace.ts";
import { markdownPage } from "./report/markdown.ts";
import { beginFileInWorkroot, makeFoldersInWorkroot } from "./workroot-file.ts";
import type { WorkrootPlace } from "./workroot-file.ts";

/** The files of the export of one job. */
const TRACE_FILES = [
  "evidence.jsonl",
  "moves.jsonl",
  "queries.jsonl",
  "notes.md",
  "trace.jsonl",
] as const;
const REASONING_FILE = "reasoning.jsonl";
type TraceFile = (typeof TRACE_FILES)[number] | typeof REASONING_FILE;

type TracePlace = WorkrootPlace & {
  /** Absolute. */
  readonly folder: string;
  /** Whether the reasoning of models is written, to its own file. */
  readonly reasoning: "with" | "without";
};

/**
 * Writes all records of a job into an empty folder, line by line. The files appear when all of them are
 * complete, the trace last: a folder without it holds no complete export.
 *
 * Refusal: PATH_DENIED if the folder is outside of the work root, behind a link, or in the database's folder.
 * @returns the number of lines of the trace
 * @throws Failure INPUT_INVALID if the folder is not empty or not writable
 */
export async function exportTrace(
  database: Database,
  jobId: string,
  place: TracePlace,
): Promise<number | Refusal> {
  const denied = await makeFoldersInWorkroot(place.folder, place);
  if (denied !== undefined) return denied;
  await assertEmpty(place);
  const files = await beginFiles(place);
  if (files.kind === "refused") return files;
  try {
    const lines = await writeTrace(database, jobId, files, place);
    await files.commit();
    return lines;
  } finally {
    await files.discard();
  }
}

async function assertEmpty({ folder, cwd }: TracePlace): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (hasCode(error, "ENOTDIR")) return [folder];
    throw error;
  });
  if (names.length === 0) return;
  throw new Failure(
    "INPUT_INVALID",
    `--output ${JSON.stringify(relative(cwd, folder))} is no empty folder. Name a new one: a trace is never written over another.`,
  );
}

type BegunFile = Extract<Awaited<ReturnType<typeof beginFileInWorkroot>>, { kind: "begun" }>;
type Files = {
  readonly kind: "files";
  write(name: TraceFile, text: string): Promise<void>;
  commit(): Promise<void>;
  discard(): Promise<void>;
};

async function beginFiles({ folder, cwd, roots, reasoning }: TracePlace): Promise<Files | Refusal> {
  const begun = new Map<TraceFile, BegunFile>();
  const discard = async (): Promise<void> => {
    for (const file of begun.values()) await file.discard();
  };
  const names: readonly TraceFile[] =
    reasoning === "with" ? [REASONING_FILE, ...TRACE_FILES] : TRACE_FILES;
  for (const name of names) {
    const request = { file: relative(cwd, join(folder, name)), cwd, roots };
    const file = await beginFileInWorkroot(request).catch(async (error: unknown) => {
      await discard();
      throw error;
    });
    if (file.kind === "refused") {
      await discard();
      return file;
    }
    begun.set(name, file);
  }
  return {
    kind: "files",
    async write(name, text) {
      await begun.get(name)?.write(text);
    },
    async commit() {
      for (const file of begun.values()) await file.commit();
    },
    discard,
  };
}

async function writeTrace(
  database: Database,
  jobId: string,
  files: Files,
  { folder, roots, reasoning }: TracePlace,
): Promise<number> {
  const notes = openTracePage();
  const lines = await readTrace(database, jobId, async (line) => {
    await files.write("trace.jsonl", jsonLine(withHeadFirst(line)));
    await writeLedgers(line, files);
    notes.take(line);
  });
  if (reasoning === "with") {
    for (const row of await selectReasoning(database, jobId)) {
      await files.write(REASONING_FILE, jsonLine(row));
    }
  }
  const up = relative(folder, roots.workroot).split(sep).join("/");
  await files.write("notes.md", markdownPage(notes.page(), MARKER, `${up}/`));
  return lines;
}

const MARKER = "<!-- nightdesk runs trace -->";

async function writeLedgers(line: TraceLine, files: Files): Promise<void> {
  if (line.type === "evidence") {
    await files.write("evidence.jsonl", jsonLine(withHeadFirst(line)));
  }
  if (line.type !== "tool") return;
  await files.write("moves.jsonl", jsonLine(moveOf(line)));
  const query = queryOf(line);
  if (query !== undefined) await files.write("queries.jsonl", jsonLine(query));
}

const withHeadFirst = <Line extends TraceLine>(line: Line): Line => {
  const { seq, at, run_id, scope, type } = line;
  return { ...{ seq, at, run_id, scope, type }, ...line };
};

/** JSON without control sequences: it holds text of documents and models, and somebody may print it to a terminal. */
const jsonLine = (value: object): string => `${jsonForTerminal(value)}\n`;
