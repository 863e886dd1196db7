import { refuse } from "../shared/failure.ts";
import type { Refusal } from "../shared/failure.ts";
import type { IndexedAttachment } from "../shared/store/index/documents.ts";
import { safeName } from "./documents/formats/mail-attachments.ts";
import { quotePath } from "./sandbox/names.ts";
import type { Sandbox } from "./sandbox/open-sandbox.ts";

/** The files that a question, a tool or a check may read, by names and by paths. */
export type FileAccess = Pick<Sandbox, "readTextFile" | "locate" | "listPaths" | "listPathsNow">;

/** The attachments in the index. */
type KnownAttachments = {
  /** All attachments, in order of path. */
  readonly list: () => Promise<readonly IndexedAttachment[]>;
  /** The attachments with one of these names. */
  readonly named: (names: readonly string[]) => Promise<readonly IndexedAttachment[]>;
};

/**
 * The files of the sandbox and the attachments of mails. Attachments are listed and found by name from the index, and read by
 * path from their mails. A file has precedence over an attachment of the same name.
 */
export function withAttachments(sandbox: FileAccess, attachments: KnownAttachments): FileAccess {
  let kept: { readonly files: readonly string[]; readonly paths: readonly string[] } | undefined;
  const pathOf = async (name: string): Promise<string | Refusal | null> => {
    const found = await attachments.named([name, safeName({ filename: name, mimeType: "" })]);
    const files = found.length === 0 ? [] : await sandbox.listPaths();
    return onlyOne(name, withMails(found, files));
  };
  const orAttachment = async <Found extends { readonly kind: string }>(
    name: string,
    open: (path: string) => Promise<Found | Refusal>,
  ): Promise<Found | Refusal> => {
    const found = await open(name);
    const path = isUnknownName(name, found) ? await pathOf(name) : null;
    if (path === null) return found;
    return typeof path === "string" ? open(path) : path;
  };
  return {
    readTextFile: (args) =>
      args.lookup === "exact"
        ? sandbox.readTextFile(args)
        : orAttachment(args.path, (path) => sandbox.readTextFile({ ...args, path })),
    locate: (name) => orAttachment(name, (path) => sandbox.locate(path)),
    async listPaths() {
      const files = await sandbox.listPaths();
      if (kept?.files !== files) kept = { files, paths: addPaths(files, await attachments.list()) };
      return kept.paths;
    },
    async listPathsNow() {
      const { paths, isWhole } = await sandbox.listPathsNow();
      return { paths: addPaths(paths, await attachments.list()), isWhole };
    },
  };
}

/** A bare name that no file has, or that is not allowed for files. */
const isUnknownName = (path: string, found: Refusal | { readonly kind: string }): boolean =>
  !path.includes("/") &&
  "code" in found &&
  (found.code === "FILE_NOT_FOUND" || found.code === "PATH_DENIED");

/** Leaves out attachments of mails that are gone or may not be read any more. */
function withMails(
  attachments: readonly IndexedAttachment[],
  files: readonly string[],
): readonly string[] {
  const held = new Set(files);
  return attachments.filter(({ mail }) => held.has(mail)).map(({ path }) => path);
}

function addPaths(
  files: readonly string[],
  attachments: readonly IndexedAttachment[],
): readonly string[] {
  const paths = withMails(attachments, files);
  return paths.length === 0 ? files : [...new Set([...files, ...paths])].sort();
}

const MOST_SHOWN = 10;

function onlyOne(name: string, paths: readonly string[]): string | Refusal | null {
  const [only = null, ...others] = paths;
  if (others.length === 0) return only;
  const shown = paths.slice(0, MOST_SHOWN).map(quotePath).join(", ");
  const more = paths.length > MOST_SHOWN ? ` and ${paths.length - MOST_SHOWN} more` : "";
  return refuse(
    "AMBIGUOUS_PATH",
    `${quotePath(name)} fits ${paths.length} attachments: ${shown}${more}. Name one by its path.`,
  );
}
