import { hash } from "node:crypto";
import { attachmentPlaces, DEEPEST_ATTACHMENT } from "../../shared/files/attachment-path.ts";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { attachedBytes } from "../documents/extraction.ts";
import type { ExtractText } from "../documents/extraction.ts";
import { checkPlace, findFile } from "./find-file.ts";
import type { KeptText, Named, Search } from "./find-file.ts";
import { quotePath } from "./names.ts";

/** The content that a path names: a file, or an attachment, whose path lies below the path of its mail. */
export type FileContent = {
  readonly kind: "content";
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  readonly bytes: Buffer;
};

/** The stored text of bytes that are gone. */
type FileText = {
  readonly kind: "text";
  readonly path: string;
  /** The hash of those bytes. */
  readonly sha256: string;
  readonly extracted: KeptText;
};

/**
 * Finds, opens and reads a file, or a mail and its attachment, with all checks of policy.ts. If a path may name an
 * attachment, the mail is looked up first, because no other file can lie below a mail.
 */
export async function readContent(
  search: Search,
  named: Named,
  extractText: ExtractText,
): Promise<FileContent | FileText | Refusal> {
  const now = await readCurrent(search, named, extractText);
  const { path, sha256 } = named;
  if (sha256 === undefined || !isOutdated(now, sha256)) return now;
  const kept = checkPlace(search, path) ? await search.kept(sha256) : null;
  if (kept === null) return now;
  return Buffer.isBuffer(kept)
    ? { kind: "content", path, bytes: kept }
    : { kind: "text", path, sha256, extracted: kept };
}

/** Whether the file is gone or has other bytes. A refusal for any other reason stays, even if the database has the bytes. */
const isOutdated = (now: FileContent | Refusal, sha256: string): boolean =>
  now.kind === "content"
    ? hash("sha256", now.bytes, "hex") !== sha256
    : GONE.some((code) => code === now.code);

const GONE = ["FILE_NOT_FOUND", "CONTENT_NOT_KEPT", "STORE_FULL"] as const;

async function readCurrent(
  search: Search,
  named: Named,
  extractText: ExtractText,
): Promise<FileContent | Refusal> {
  let refusal: Refusal | null = null;
  for (const { file, names } of attachmentPlaces(named.path)) {
    // "./" makes it a path relative to the work root or an allowed root, not a bare name.
    const path = file.includes("/") ? file : `./${file}`;
    const mail = await readFile(search, { ...named, path });
    if (mail.kind === "content") return openAttachment(mail, names, extractText);
    refusal = preferLater(refusal, mail);
  }
  const found = await readFile(search, named);
  return found.kind === "refused" && refusal !== null ? preferLater(refusal, found) : found;
}

/** Prefers the later refusal if the first one only says that there is no such mail, or that it is a folder. */
const preferLater = (refusal: Refusal | null, next: Refusal): Refusal =>
  refusal === null || refusal.code === "FILE_NOT_FOUND" || refusal.code === "PATH_IS_DIRECTORY"
    ? next
    : refusal;

async function readFile(search: Search, named: Named): Promise<FileContent | Refusal> {
  const { descriptors, rules } = search.access;
  const found = await findFile(search, named, (file) => ({
    path: file.path,
    bytes: descriptors.readAll(file, rules.maxBytes),
  }));
  if (found.kind === "refused") return found;
  const bytes = await found.value.bytes;
  return Buffer.isBuffer(bytes) ? { kind: "content", path: found.value.path, bytes } : bytes;
}

/** Reads an attachment of a mail; each further name is an attachment of the one before. */
export async function openAttachment(
  mail: FileContent,
  names: readonly string[],
  extractText: ExtractText,
): Promise<FileContent | Refusal> {
  if (names.length > DEEPEST_ATTACHMENT) {
    return refuse(
      "FILE_TOO_LARGE",
      `${quotePath([mail.path, ...names].join("/"))} lies in too many mails to be read: save it as a file.`,
    );
  }
  let content = mail;
  for (const name of names) {
    const { path, bytes } = content;
    const extracted = await extractText(path, bytes);
    if (extracted.kind === "unreadable") {
      return refuse(extracted.code, `${quotePath(path)} ${extracted.why}`);
    }
    const held = extracted.attachments ?? [];
    const found = held.find((attachment) => attachment.name === name);
    if (found === undefined) return refuseAttachment(path, name, held);
    content = { kind: "content", path: `${path}/${name}`, bytes: attachedBytes(found) };
  }
  return content;
}

/** Caches the extraction of the last file. */
export function rememberLast(extractText: ExtractText): ExtractText {
  let last: { readonly key: string; readonly extracted: ReturnType<ExtractText> } | undefined;
  return async (path, bytes) => {
    const key = `${hash("sha256", bytes, "hex")} ${path}`;
    if (last?.key === key) return last.extracted;
    const extracted = extractText(path, bytes);
    last = { key, extracted };
    extracted.catch(() => {
      last = undefined;
    });
    return extracted;
  };
}

const MOST_SHOWN = 10;

function refuseAttachment(
  mail: string,
  name: string,
  held: readonly { readonly name: string }[],
): Refusal {
  const shown = held.slice(0, MOST_SHOWN).map((attachment) => quotePath(attachment.name));
  const more = held.length > MOST_SHOWN ? ` and ${held.length - MOST_SHOWN} more` : "";
  const those = shown.length === 0 ? "It has none." : `Those that are: ${shown.join(", ")}${more}.`;
  return refuse(
    "FILE_NOT_FOUND",
    `${quotePath(mail)} has no attachment ${quotePath(name)} that is read. ${those}`,
  );
}
