import { resolve } from "node:path";
import type { Invocation } from "../../shared/commands/command.ts";
import { Failure } from "../../shared/failure.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { textOf } from "../commands/options.ts";
import { openInput } from "../enqueue/read-lines.ts";

/** As `find` and `git ls-files` write them, or with `-print0` and `-z`. */
type PathEnd = "line" | "nul";

const MOST_BYTES = 64 * 1024 * 1024;

/**
 * The paths that `--files-from` names, each as it is written: no glob is read in one. With `--null` they end in NUL.
 * @returns undefined without the option
 * @throws Failure INPUT_INVALID for a list that is none, USAGE_ERROR for --null alone
 */
export async function listedPaths(
  { options, cwd }: Pick<Invocation, "options" | "cwd">,
  stdin: AsyncIterable<Uint8Array> = process.stdin,
): Promise<readonly string[] | undefined> {
  const file = textOf(options, "filesFrom");
  const end = options["null"] === true ? "nul" : "line";
  if (file === undefined) {
    if (end === "line") return undefined;
    throw new Failure("USAGE_ERROR", "--null says how --files-from ends its paths; give both.");
  }
  const input = await openInput(file === "-" ? file : resolve(cwd, file), stdin, "path");
  try {
    return splitPaths(await readBytes(input.chunks), end);
  } finally {
    await input.close();
  }
}

async function readBytes(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) {
      throw invalid(`is over ${formatCount(MOST_BYTES)} bytes. Split it, or name a folder`);
    }
    read.push(chunk);
  }
  return Buffer.concat(read);
}

function splitPaths(bytes: Buffer, end: PathEnd): readonly string[] {
  const text = decode(bytes);
  if (end === "nul") return text.split("\0").filter((path) => path !== "");
  if (text.includes("\0")) throw invalid("has paths that end in NUL. Give --null as well");
  return text.split(/\r?\n/).filter((path) => path.trim() !== "");
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (!hasCode(error, "ERR_ENCODING_INVALID_ENCODED_DATA")) throw error;
    throw invalid("is not UTF-8. Leave out names of files in another encoding, or name a folder");
  }
}

const invalid = (reason: string): Failure =>
  new Failure("INPUT_INVALID", `The list of --files-from ${reason}.`);
