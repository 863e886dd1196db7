import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import {
  insertMemory,
  MEMORY_SOURCES,
  MEMORY_TYPES,
  selectLeftOutNotes,
  selectMemory,
} from "../../shared/db/memory.ts";
import type { MemorySource, MemoryType, NewMemory } from "../../shared/db/memory.ts";
import { Failure } from "../../shared/failure.ts";
import { describeUse, memoryJson } from "../print/describe-memory.ts";
import { withMemory } from "./memory-database.ts";
import { readNote } from "./memory-text.ts";
import { argumentOf, textOf } from "./read-options.ts";

/** Writes a durable note: all of it, or nothing. */
export const memoryAdd: CommandHandler = async (invocation) =>
  withMemory(invocation, async (context, database) => {
    const note = await readNewMemory(invocation);
    const inserted = await insertMemory(database, note);
    if ("unknownKeys" in inserted) throw unknownChunks(inserted.unknownKeys);
    await printAdded(context, database, inserted.memoryId);
    return EXIT.ok;
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

export const memoryTypeOf = (options: Invocation["options"]): MemoryType | undefined =>
  MEMORY_TYPES.find((type) => type === textOf(options, "type"));

const sourceOfNote = (options: Invocation["options"]): MemorySource =>
  MEMORY_SOURCES.find((source) => source === textOf(options, "source")) ?? "manual";

/** Each key once, as often as it was said. */
function chunkKeysOf(options: Invocation["options"]): readonly string[] {
  // A flag that is said several times comes as a list.
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
  { terminal, invocation }: CommandContext,
  database: Database,
  memoryId: string,
): Promise<void> {
  const added = await selectMemory(database, memoryId);
  if (added === undefined) throw new Failure("NOT_FOUND", `Somebody deleted note ${memoryId}.`);
  if (invocation.options["json"] === true)
    await terminal.printJson({ ok: true, ...memoryJson(added) });
  else await terminal.print(memoryId);
  terminal.say(describeUse(added, (await selectLeftOutNotes(database)).length));
}
