import { lstat } from "node:fs/promises";
import { extname, relative, resolve } from "node:path";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { allowedExtensionsText } from "../../shared/files/skipped-files.ts";
import { textOf } from "../commands/options.ts";
import { readAll } from "../commands/read-stdin.ts";
import { writeFileInWorkroot } from "../workroot-file.ts";

const WHAT = "The text";

/**
 * With the argument `-`, saves the text from stdin as a new document, so that its answers can be checked against it, and
 * its SHA-256 be verified, like those of any file.
 *
 * Refusal: PATH_DENIED if the path of --save-as is outside of the work root, or behind a link.
 * @returns the path from the work root; undefined without the argument `-`
 * @throws Failure USAGE_ERROR; INPUT_INVALID for a path where no document may be, and for invalid text
 */
export async function saveText({
  invocation,
  config,
  terminal,
}: CommandContext): Promise<
  { readonly kind: "written"; readonly path: string } | Refusal | undefined
> {
  const { args, options, cwd } = invocation;
  const file = textOf(options, "saveAs");
  if (!args.includes("-")) {
    if (file === undefined) return undefined;
    throw new Failure("USAGE_ERROR", "--save-as keeps a text on stdin; give - as the path.");
  }
  if (file === undefined || args.length > 1 || options["filesFrom"] !== undefined) {
    throw new Failure(
      "USAGE_ERROR",
      "A text on stdin is worked alone, and kept as a document first: - --save-as allowed/inbox/note.md",
    );
  }
  if (options["dryRun"] === true) {
    throw new Failure("USAGE_ERROR", "--save-as writes a file; leave --dry-run away.");
  }
  await checkPlace(file, resolve(cwd, file), config);
  const text = await readAll(process.stdin, WHAT, config.security.max_file_bytes);
  if (text.trim() === "") throw new Failure("INPUT_INVALID", `${WHAT} on stdin is empty.`);
  const saved = await writeFileInWorkroot({ file, cwd, roots: config.roots }, "keep", text);
  if (saved.kind === "written") terminal.say(`Kept as ${saved.path}.`);
  return saved;
}

async function checkPlace(
  file: string,
  place: string,
  config: CommandContext["config"],
): Promise<void> {
  const { security, roots } = config;
  const name = JSON.stringify(file);
  const isBelow = security.allowed_roots.some((root) => {
    const path = relative(resolve(roots.workroot, root), place);
    return path !== "" && !/^\.\.(?:\/|$)/.test(path);
  });
  if (!isBelow) {
    throw new Failure(
      "INPUT_INVALID",
      `${name} is below no allowed root. Name a file below ${security.allowed_roots.join(", ")}.`,
    );
  }
  if (!security.allowed_exts.includes(extname(file).toLowerCase())) {
    throw new Failure(
      "INPUT_INVALID",
      `${name} could not be read. ${allowedExtensionsText(config)}.`,
    );
  }
  if ((await lstat(place).catch(() => undefined)) !== undefined) {
    throw new Failure("INPUT_INVALID", `${name} is there already. Name another file.`);
  }
}
