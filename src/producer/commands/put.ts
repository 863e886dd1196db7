import { lstat, readdir } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import { createAtomicFile } from "../../shared/files/atomic-file.ts";
import { openContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT, printRefusal } from "../../shared/commands/report-failure.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { allowedExtensionsText } from "../../shared/files/skipped-files.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";
import { openTarget } from "../workroot-file.ts";
import { argumentOf, countOfOption, textOf } from "./options.ts";

/** The most files and bytes in the folder; beyond them somebody has to make room. */
const MOST_FILES = 1_000;
const MOST_BYTES = 1_000_000_000;
const MOST_NAME_BYTES = 200;
const MAKE_ROOM = "Move some elsewhere (move_to of a rule does).";

/** Stores stdin as a new file in a watched folder, from which workers take it like any other. */
export const put: CommandHandler = async (invocation) => {
  const { config, terminal } = await openContext(invocation);
  const { options } = invocation;
  const wanted = {
    watch: textOf(options, "watch") ?? "",
    name: argumentOf(invocation),
    bytes: countOfOption(options, "bytes"),
  };
  const stored = await storeFile(config, wanted, process.stdin);
  if (stored.kind === "refused") return printRefusal(stored, invocation);
  const { path, bytes } = stored;
  if (terminal.isJson) await terminal.printJson({ ok: true, path, bytes });
  else await terminal.print(path);
  return EXIT.ok;
};

type Wanted = {
  /** Name of a watched source. */
  readonly watch: string;
  readonly name: string;
  /** The expected size of stdin, if known: fewer bytes mean that the transfer was cut. */
  readonly bytes?: number | undefined;
};
type Stored = { readonly kind: "stored"; readonly path: string; readonly bytes: number };

/**
 * Writes a stream to a new file of a watched folder. Refusal: PATH_DENIED for a link in the folder's path.
 * @throws Failure NOT_FOUND for no watched source, INPUT_INVALID for a bad name, a wrong size or a full folder; no file stays
 */
export async function storeFile(
  config: Pick<Config, "index" | "security" | "roots">,
  { watch, name, bytes: expected }: Wanted,
  stdin: AsyncIterable<Uint8Array>,
): Promise<Stored | Refusal> {
  const { roots, security } = config;
  const source = watchedSource(watch, config);
  checkName(name, source.exts ?? security.allowed_exts, config);
  const folder = resolve(roots.workroot, source.root);
  const file = join(folder, name.normalize("NFC"));
  const target = await openTarget({ file, cwd: roots.workroot, roots });
  if (target.kind === "refused") return target;
  try {
    const room = await roomIn(target.place, source.root);
    const most = security.max_file_bytes;
    const limit =
      room < most
        ? {
            most: room,
            text: `${source.root} has room for ${countOf(room, "byte")} alone. ${MAKE_ROOM}`,
          }
        : { most, text: `The file is larger than ${formatCount(most)} bytes.` };
    const begun = await createAtomicFile(join(target.place, target.name), "keep");
    try {
      const bytes = await copyToFile(stdin, begun.handle, limit);
      if (expected !== undefined && bytes !== expected)
        throw invalid(name, `was cut: ${bytes} of ${expected} bytes came. Send it again`);
      await begun.commit();
      return { kind: "stored", path: target.path, bytes };
    } finally {
      await begun.discard();
    }
  } catch (error) {
    throw hasCode(error, "EEXIST") ? invalid(name, "is there already. Give another name") : error;
  } finally {
    await target.folder.close();
  }
}

function watchedSource(watch: string, { index }: Pick<Config, "index">) {
  const watched = index.sources.filter((source) => source.watch !== undefined);
  const found = watched.find((source) => source.name === watch);
  if (found !== undefined) return found;
  const names = watched.map((source) => source.name).join(", ");
  throw new Failure(
    "NOT_FOUND",
    names === ""
      ? "There is no watched source: give one of index.sources a watch."
      : `There is no watched source ${JSON.stringify(watch.slice(0, MOST_NAME_BYTES))}. Watched: ${names}.`,
  );
}

/** Characters that a list or a terminal does not show, and path separators. */
const NOT_IN_NAMES = /[/\\\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

function checkName(
  name: string,
  extensions: readonly string[],
  config: Pick<Config, "security">,
): void {
  if (Buffer.byteLength(name) > MOST_NAME_BYTES)
    throw invalid(name, `is longer than ${MOST_NAME_BYTES} bytes`);
  if (name === "" || name.startsWith(".") || name !== name.trim() || NOT_IN_NAMES.test(name))
    throw invalid(name, "is no name of a file: no slash, no control character, no dot in front");
  if (!extensions.includes(extname(name).toLowerCase()))
    throw invalid(name, `could not be read. ${allowedExtensionsText(config)}`);
}

async function roomIn(place: string, root: string): Promise<number> {
  const names = await readdir(place);
  const sizes = await Promise.all(
    names.slice(0, MOST_FILES).map((name) => sizeOf(join(place, name))),
  );
  const room = MOST_BYTES - sizes.reduce((sum, size) => sum + size, 0);
  if (names.length < MOST_FILES && room > 0) return room;
  throw new Failure(
    "INPUT_INVALID",
    `${root} is full: it takes ${formatCount(MOST_FILES)} files of ${formatCount(MOST_BYTES)} bytes together. ${MAKE_ROOM}`,
  );
}

/** 0 for a missing file, because a worker may have moved it meanwhile. */
const sizeOf = async (path: string): Promise<number> =>
  (await lstat(path).catch(() => undefined))?.size ?? 0;

async function copyToFile(
  stdin: AsyncIterable<Uint8Array>,
  handle: FileHandle,
  { most, text }: { readonly most: number; readonly text: string },
): Promise<number> {
  let bytes = 0;
  for await (const chunk of stdin) {
    bytes += chunk.byteLength;
    if (bytes > most) throw new Failure("INPUT_INVALID", text);
    await handle.appendFile(chunk);
  }
  return bytes;
}

const invalid = (name: string, reason: string): Failure =>
  new Failure("INPUT_INVALID", `${JSON.stringify(name.slice(0, MOST_NAME_BYTES))} ${reason}.`);
