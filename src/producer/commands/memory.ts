import { checkedCommand } from "../../shared/commands/command-context.ts";
import { toUSVString } from "node:util";
import type { CommandContext, databaseCommand } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT, printRefusal } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import {
  deleteMemory,
  insertMemory,
  listMemory,
  MEMORY_SOURCES,
  MEMORY_TYPES,
  MOST_NOTE_CHARS,
  selectLeftOutNotes,
  selectMemory,
} from "../../shared/store/memory.ts";
import type { Memory, MemorySource, MemoryType, NewMemory } from "../../shared/store/memory.ts";
import { Failure } from "../../shared/failure.ts";
import { escapeInJson } from "../../shared/terminal/styled-text.ts";
import {
  formatDangling,
  formatPromptUse,
  exportedMemory,
  memoryJson,
  memoryTable,
} from "../../shared/views/memory.ts";
import { printList } from "../print/sections.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { writeFileInWorkroot } from "../workroot-file.ts";
import { argumentOf, textOf } from "./options.ts";
import { readAll } from "./read-stdin.ts";

/** Writes a durable note with its evidence, or nothing. */
export const memoryAdd = memoryCommand(async (context, database) => {
  const { invocation } = context;
  const note = await readNewMemory(invocation);
  const inserted = await insertMemory(database, note);
  if ("unknownKeys" in inserted) throw unknownChunks(inserted.unknownKeys);
  await printAdded(context, database, inserted.memoryId);
});

async function readNewMemory(invocation: Invocation): Promise<NewMemory> {
  const { options } = invocation;
  const type = memoryTypeOf(options);
  if (type === undefined) {
    throw new Failure(
      "USAGE_ERROR",
      `--type is missing. Give one of: ${MEMORY_TYPES.join(", ")}; answers follow preference, constraint and workflow_rule.`,
    );
  }
  const source = sourceOfNote(options);
  const chunkKeys = chunkKeysOf(options);
  if (source === "derived_from_evidence" && chunkKeys.length === 0) {
    throw new Failure(
      "INPUT_INVALID",
      "A note that is derived_from_evidence names what it rests on. Give at least one --chunk-key, or --source manual.",
    );
  }
  const content = await readNote(argumentOf(invocation), process.stdin);
  return { type, source, content, chunkKeys };
}

const memoryTypeOf = (options: Invocation["options"]): MemoryType | undefined =>
  MEMORY_TYPES.find((type) => type === textOf(options, "type"));

const sourceOfNote = (options: Invocation["options"]): MemorySource =>
  MEMORY_SOURCES.find((source) => source === textOf(options, "source")) ?? "manual";

/** The keys without duplicates. */
function chunkKeysOf(options: Invocation["options"]): readonly string[] {
  // A repeatable flag is a list.
  const said: unknown = options["chunkKey"];
  return Array.isArray(said) ? [...new Set(said.map(String))] : [];
}

const MOST_NAMED = 10;

function unknownChunks(keys: readonly string[]): Failure {
  const named = keys
    .slice(0, MOST_NAMED)
    .map((key) => JSON.stringify(key.slice(0, 80)))
    .join(", ");
  const more = keys.length > MOST_NAMED ? ` and ${keys.length - MOST_NAMED} more` : "";
  return new Failure(
    "INPUT_INVALID",
    `The index holds no chunk ${named}${more}; nothing was written. ` +
      "Keys stand in the output of: nightdesk query TEXT --json",
  );
}

async function printAdded(
  { terminal }: CommandContext,
  database: Database,
  memoryId: string,
): Promise<void> {
  const added = await selectMemory(database, memoryId);
  if (added === undefined) throw new Failure("NOT_FOUND", `Somebody deleted note ${memoryId}.`);
  if (terminal.isJson) await terminal.printJson({ ok: true, ...memoryJson(added) });
  else await terminal.print(memoryId);
  terminal.say(formatPromptUse(added, (await selectLeftOutNotes(database)).length));
}

/** Lists notes, newest first, with their missing evidence. */
export const memoryList = memoryCommand(async ({ terminal, invocation }, database) => {
  const type = memoryTypeOf(invocation.options) ?? null;
  const notes = await listMemory(database, type);
  if (terminal.isJson) return terminal.printJson(notes.map(memoryJson));
  if (notes.length === 0) {
    const which = type === null ? "" : ` of type ${type}`;
    terminal.say(
      `There are no notes${which} yet. Write one with: nightdesk memory add TEXT --type preference`,
    );
    return;
  }
  await printList(terminal, memoryTable(notes));
  for (const line of notes.flatMap(formatDangling)) terminal.say(line);
});

/** Deletes one note. Runs that used it keep its id and, in their prompts, its words. */
export const memoryDelete = memoryCommand(async ({ terminal, invocation }, database) => {
  const given = argumentOf(invocation);
  const id = await findId(database, given, ["note"]);
  if (id === undefined || !(await deleteMemory(database, id))) {
    throw new Failure(
      "NOT_FOUND",
      `There is no note ${JSON.stringify(given)}. nightdesk memory list shows the ids.`,
    );
  }
  if (terminal.isJson) await terminal.printJson({ ok: true, memory_id: id });
  terminal.say(`Deleted note ${id}.`);
});

/** Version of the export format. */
const SCHEMA_VERSION = 1;

/** Exports all notes as JSON, oldest first. */
export const memoryExport = memoryCommand(async (context, database) => {
  const { invocation } = context;
  const notes = await listMemory(database, null);
  const written = await writeFileInWorkroot(
    { file: argumentOf(invocation), cwd: invocation.cwd, roots: context.config.roots },
    invocation.options["force"] === true ? "replace" : "keep",
    exportOf(notes),
  );
  if (written.kind === "refused") return printRefusal(written, invocation);
  if (context.terminal.isJson)
    await context.terminal.printJson({ ok: true, file: written.path, items: notes.length });
  else await context.terminal.print(written.path);
  context.terminal.say(`Exported ${countOf(notes.length, "note")}.`);
  return EXIT.ok;
});

function exportOf(notes: readonly Memory[]): string {
  const items = notes.toReversed().map(exportedMemory);
  const exported = { schema_version: SCHEMA_VERSION, exported_at: new Date(), items };
  return `${escapeInJson(JSON.stringify(exported, null, 2))}\n`;
}

/**
 * A command of the durable memory, with an open database.
 * @throws Failure MEMORY_ERROR if memory.enabled is false
 */
function memoryCommand(run: Parameters<typeof databaseCommand>[0]): CommandHandler {
  return checkedCommand(assertEnabled, run);
}

function assertEnabled({ config }: CommandContext): void {
  if (config.memory.enabled) return;
  throw new Failure(
    "MEMORY_ERROR",
    `The durable memory is switched off: memory.enabled is false. Set it to true in ${config.file} to use it.`,
  );
}

/** Prompts show each line indented, so many blank lines would waste a prompt. */
const MOST_NOTE_LINES = 100;
/** Control characters but tab and line feed. */
const CONTROL = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;
/** A visible character. */
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** The text of a note: the argument, or for `-` the whole stdin. @throws Failure INPUT_INVALID */
export async function readNote(
  argument: string,
  stdin: AsyncIterable<Uint8Array>,
): Promise<string> {
  return checkNote(argument === "-" ? await readAll(stdin, "The text of the note") : argument);
}

/**
 * Trims a note and converts line ends to line feeds. It changes nothing else, and refuses text that can't be stored
 * unchanged, because a note is an instruction.
 */
function checkNote(text: string): string {
  const note = text.replace(/\r\n?/g, "\n").trim();
  const problem = findUnkeepable(note) ?? findExcess(note);
  if (problem !== undefined) throw invalid(problem);
  return note;
}

function findUnkeepable(note: string): string | undefined {
  if (!VISIBLE.test(note)) return "holds no words. Give some, or - to read them from stdin";
  const control = CONTROL.exec(note)?.[0];
  if (control !== undefined) {
    const code = control.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `holds the control character U+${code}. Take it out`;
  }
  return toUSVString(note) === note ? undefined : "holds half of a surrogate pair. Take it out";
}

function findExcess(note: string): string | undefined {
  const chars = Array.from(note).length;
  const lines = note.split("\n").length;
  const remedy = "Shorten it, or make several of it";
  if (chars > MOST_NOTE_CHARS)
    return `has ${formatCount(chars)} characters, and at most ${formatCount(MOST_NOTE_CHARS)} are kept. ${remedy}`;
  return lines > MOST_NOTE_LINES
    ? `has ${formatCount(lines)} lines, and at most ${MOST_NOTE_LINES} are kept. ${remedy}`
    : undefined;
}

const invalid = (reason: string): Failure =>
  new Failure("INPUT_INVALID", `The text of the note ${reason}.`);
