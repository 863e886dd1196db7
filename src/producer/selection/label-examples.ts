import { resolve } from "node:path";
import { z } from "zod";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Invocation } from "../../shared/commands/command.ts";
import { withDatabase } from "../../shared/commands/command-context.ts";
import { readSmallFile } from "../../shared/config/read-small-file.ts";
import { Failure } from "../../shared/failure.ts";
import {
  exampleText,
  MOST_CHARS_OF_EXAMPLES,
  MOST_EXAMPLES,
  MOST_LABEL_CHARS,
} from "../../shared/job/label-examples.ts";
import type { LabelExample } from "../../shared/job/label-examples.ts";
import { selectBeginnings } from "../../shared/store/index/samples.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { readAll } from "../commands/read-stdin.ts";
import { parseObject } from "../../shared/enqueue/parse-line.ts";
import { issueText, ruleWords } from "../../shared/config/issue-words.ts";
import { findNamedFile } from "./find-in-roots.ts";

const rowSchema = z
  .strictObject({
    text: exampleText.optional(),
    path: z.string().min(1).max(4096).optional(),
    label: z.string().trim().min(1).max(MOST_LABEL_CHARS),
  })
  .refine(
    ({ text, path }) => (text === undefined) !== (path === undefined),
    "needs either text or path, not both",
  );

type Row = z.infer<typeof rowSchema> & { readonly line: number };

/** The name of a list from stdin or from a form of the dashboard, for messages. */
const WHAT = "The list of examples";
const MOST_FILE_BYTES = 1024 * 1024;
const MOST_PROBLEMS = 5;

/**
 * The labelled texts of a JSONL file, or of stdin for `-`, in its order. If a row names a document, its beginning comes from
 * the index, because commands open no documents.
 * @param labels the allowed labels; undefined: all labels of the file
 * @throws Failure INPUT_INVALID with the first invalid lines, and why; USAGE_ERROR if stdin would be read twice
 */
export async function readLabelExamples(
  context: CommandContext,
  file: string,
  labels: readonly string[] | undefined,
): Promise<readonly LabelExample[]> {
  const rows = parseRows(file, await readExampleFile(file, context.invocation));
  const stray = rows.filter(({ label }) => labels?.includes(label) === false);
  refuseLines(
    file,
    stray.map(
      ({ line, label }) =>
        `line ${line} has the label ${JSON.stringify(label)}, which --labels does not name`,
    ),
  );
  return withBeginnings(context, file, rows);
}

/** Reads the operator's own file, which may be outside of the work root. */
async function readExampleFile(file: string, { args, options, cwd }: Invocation): Promise<string> {
  if (file === "-") {
    if (args.includes("-") || options["filesFrom"] === "-") {
      throw new Failure(
        "USAGE_ERROR",
        "Stdin is read once: give the examples, the text or the list of files there, and the others as files.",
      );
    }
    return readAll(process.stdin, WHAT, MOST_FILE_BYTES);
  }
  const read = await readSmallFile(resolve(cwd, file), MOST_FILE_BYTES);
  if (read.kind === "text") return read.text;
  throw badFile(file, read.kind === "missing" ? "is not there" : read.reason);
}

const badFile = (file: string, why: string): Failure =>
  new Failure(
    "INPUT_INVALID",
    `${file === "-" ? WHAT : `The file of examples ${JSON.stringify(file)}`} ${why}. Expected one example a line, such as ` +
      '{"text": "Please transfer 480.00 by 24 May.", "label": "invoice"} or {"path": "corpus/a.md", "label": "letter"}.',
  );

function refuseLines(file: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  const shown = problems.slice(0, MOST_PROBLEMS).join("; ");
  throw badFile(file, `has ${countOf(problems.length, "line")} that can't be taken: ${shown}`);
}

function parseRows(file: string, text: string): readonly Row[] {
  const parsed = text
    .split(/\r?\n/)
    .map((line, at) => ({ line: at + 1, text: line }))
    .filter((line) => line.text.trim() !== "")
    .map(parseRow);
  refuseLines(
    file,
    parsed.filter((row) => typeof row === "string"),
  );
  const rows = parsed.filter((row) => typeof row !== "string");
  if (rows.length === 0) throw badFile(file, "holds no example");
  if (rows.length > MOST_EXAMPLES) throw badFile(file, `holds more than ${MOST_EXAMPLES} examples`);
  return rows;
}

function parseRow({ line, text }: { readonly line: number; readonly text: string }): Row | string {
  const value = parseObject(text);
  if (typeof value === "string") return `line ${line} ${value}`;
  const parsed = rowSchema.safeParse(value, { error: ruleWords });
  if (parsed.success) return { ...parsed.data, line };
  return `line ${line} ${parsed.error.issues.map(issueText).join("; ")}`;
}

/** Characters of each document: fewer if there are many documents, but never fewer than `least`. */
const DOCUMENT_CHARS = { most: 1_000, least: 200 };

async function withBeginnings(
  context: CommandContext,
  file: string,
  rows: readonly Row[],
): Promise<readonly LabelExample[]> {
  const chars = charsOfDocument(rows);
  const found = await pathsOf(context, rows);
  const beginnings =
    found.size === 0
      ? new Map<string, string>()
      : await withDatabase(context, "create", (database) =>
          selectBeginnings(database, [...found.values()], chars),
        );
  const problems: string[] = [];
  const examples = rows.flatMap(({ line, label, text, path = "" }) => {
    const whole = text ?? beginnings.get(found.get(path) ?? path)?.trim();
    if (whole !== undefined && whole !== "") return [{ text: whole, label }];
    problems.push(
      `line ${line} names ${JSON.stringify(path)}, of which the index holds no text (nightdesk index)`,
    );
    return [];
  });
  refuseLines(file, problems);
  return examples;
}

function charsOfDocument(rows: readonly Row[]): number {
  const written = rows.reduce((sum, { text = "" }) => sum + text.length, 0);
  const documents = rows.filter(({ path }) => path !== undefined).length;
  const share = Math.floor((MOST_CHARS_OF_EXAMPLES - written) / Math.max(1, documents));
  return Math.max(DOCUMENT_CHARS.least, Math.min(DOCUMENT_CHARS.most, share));
}

/** The paths of rows in the form of the index: resolved from the current folder, otherwise unchanged. */
async function pathsOf(
  { invocation, config }: CommandContext,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, string>> {
  const named = rows.flatMap(({ path }) => (path === undefined ? [] : [path]));
  const found = await Promise.all(
    named.map((path) => findNamedFile(path, invocation.cwd, config.roots.workroot)),
  );
  return new Map(named.map((path, at) => [path, found[at] ?? path]));
}
