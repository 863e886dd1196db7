import { resolve } from "node:path";
import type { Invocation } from "../../shared/commands/command.ts";
import { Failure } from "../../shared/failure.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { textOf } from "../commands/options.ts";
import { readText } from "../commands/read-stdin.ts";
import { openInput } from "../../shared/enqueue/read-lines.ts";

/** The end of a path in a list of `find` or `git ls-files`: a line end, or NUL with `-print0` and `-z`. */
type PathEnd = "line" | "nul";

const MOST_BYTES = 64 * 1024 * 1024;
const MESSAGES = {
  tooLong: `The list of --files-from is over ${formatCount(MOST_BYTES)} bytes. Split it, or name a folder.`,
  notUtf8:
    "The list of --files-from is not UTF-8. Leave out names of files in another encoding, or name a folder.",
};

/**
 * The paths in the list of `--files-from`, taken literally, without globs. With `--null` they end in NUL.
 * @returns undefined without the option
 * @throws Failure INPUT_INVALID for an invalid list, USAGE_ERROR for --null alone
 */
export async function listedPaths({
  options,
  cwd,
}: Pick<Invocation, "options" | "cwd">): Promise<readonly string[] | undefined> {
  const file = textOf(options, "filesFrom");
  const end = options["null"] === true ? "nul" : "line";
  if (file === undefined) {
    if (end === "line") return undefined;
    throw new Failure("USAGE_ERROR", "--null says how --files-from ends its paths; give both.");
  }
  const input = await openInput(file === "-" ? file : resolve(cwd, file), process.stdin, "path");
  try {
    return splitPaths(await readText(input.chunks, MOST_BYTES, MESSAGES), end);
  } finally {
    await input.close();
  }
}

function splitPaths(text: string, end: PathEnd): readonly string[] {
  if (end === "nul") return text.split("\0").filter((path) => path !== "");
  if (text.includes("\0")) {
    throw new Failure(
      "INPUT_INVALID",
      "The list of --files-from has paths that end in NUL. Give --null as well.",
    );
  }
  return text.split(/\r?\n/).filter((path) => path.trim() !== "");
}
