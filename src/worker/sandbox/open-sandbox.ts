import { hash } from "node:crypto";
import { closeSync, readFileSync } from "node:fs";
import { attachmentPlaces } from "../../shared/files/attachment-path.ts";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { Locator } from "../../shared/job/locator.ts";
import { OWN_RESULTS } from "../../shared/files/skipped-files.ts";
import type { ExtractText, LeftOut } from "../documents/extraction.ts";
import { splitLines } from "../documents/lines.ts";
import { locate as locateText, locatePassage } from "../documents/places.ts";
import type { Places } from "../documents/places.ts";
import { readContent, rememberLast } from "./attachments.ts";
import { selectDescriptors } from "./descriptors.ts";
import type { HeldFile, OpenedFile, PlatformFacts } from "./descriptors.ts";
import { findFile, leadsOut } from "./find-file.ts";
import type { KeptText, Named, Search } from "./find-file.ts";
import { countCodePoints, firstCodePoints } from "../text/clean-text.ts";
import { quotePath } from "./names.ts";
import { rulesBelowRoots, rulesForAnyPath } from "./policy.ts";
import type { SecurityPolicy } from "./policy.ts";
import { pinAnywhere, pinRoots } from "./roots.ts";
import type { PinnedRoot, SkippedRoot } from "./roots.ts";
import { cacheNames, LISTED_ENTRIES, listNames, namesBelow } from "./suggest-names.ts";
import type { KnownAttachment } from "./suggest-names.ts";
import { readFileBelow } from "./visit-file.ts";
import type { FileBytes, Access } from "./visit-file.ts";

/** All readable files at one time. */
export type PathsNow = {
  readonly paths: readonly string[];
  /** False if the listing was cut, so that files can't be counted. */
  readonly isWhole: boolean;
};

/** The only way to a document's content. Every refusal is a value; policy.ts holds the order of checks. */
export type Sandbox = {
  readonly roots: readonly PinnedRoot[];
  /** Configured roots that are missing or no folders. */
  readonly skipped: readonly SkippedRoot[];
  /**
   * Reads a file as text: resolves a path as a question names it (bare name or sub-path), opens, checks, reads. With `exact`
   * only the file at this path from the work root.
   */
  readTextFile(args: ReadArguments): Promise<Reading>;
  /** For the index: reads one known file by its path relative to a root, by the same rules. */
  readFileBelow(root: PinnedRoot, relativePath: string): Promise<FileBytes | Refusal>;
  /**
   * For a copy in the shell's sandbox: resolves, opens and checks as `readTextFile` does, but checks the size instead of the
   * content. An attachment is read from its mail.
   */
  openFile(named: Named): Promise<OpenedFile | HeldFile | Refusal>;
  /** Extracts the text of a file that was read for the index. */
  readonly extractText: ExtractText;
  /**
   * The path of the file that a name means, relative to the security root and as spelled on disk, without reading the file; for
   * an attachment, the mail is read to check that it has it.
   */
  locate(path: string): Promise<{ readonly kind: "located"; readonly path: string } | Refusal>;
  /** Whether the path of a document, although it may be read, is a link to a file that may not be read. */
  leadsOut(path: string): boolean;
  /**
   * The files that a bare name may mean, relative to the security root, in order, without hidden and denied ones.
   * The list may be some seconds old.
   */
  listPaths(): Promise<readonly string[]>;
  /** The same list from a new walk through the folders. */
  listPathsNow(): Promise<PathsNow>;
  /** The same sandbox for a job that may read only paths, from the security root, with one of these prefixes. */
  within(pathPrefixes: readonly string[]): BoundSandbox;
  /** Closes the roots. Nothing can be read afterwards. */
  close(): void;
};

export type BoundSandbox = Omit<Sandbox, "within" | "close">;

/** Contents that are known besides the files. */
export type KnownContents = {
  /** Known attachments of mails, to suggest for a name that no file has. */
  readonly attachments?: Search["attachments"];
  /** The database's copies, for recorded files that are gone or have other bytes. */
  readonly kept?: Search["kept"];
};

/**
 * Checks the policy, pins the allowed roots and opens the sandbox. Throws CONFIG_ERROR on Windows, on a machine without
 * /proc (unless `allowRacyReads`), for a root outside the security root, and if no root is left. A root that is missing
 * or no folder is skipped.
 */
export async function openSandbox(
  policy: SecurityPolicy,
  extractText: ExtractText,
  known: KnownContents = {},
): Promise<Sandbox> {
  const host = { platform: process.platform, descriptorFolder: "/proc/self/fd" } as const;
  return openSandboxOn(host, policy, extractText, known);
}

const noAttachments = (): Promise<readonly KnownAttachment[]> => Promise.resolve([]);
const nothingKept = () => Promise.resolve(null);

/** Opens the sandbox on a given platform. */
export async function openSandboxOn(
  host: PlatformFacts,
  policy: SecurityPolicy,
  extractText: ExtractText,
  { attachments = noAttachments, kept = nothingKept }: KnownContents = {},
): Promise<Sandbox> {
  const descriptors = selectDescriptors(host, policy);
  const access = { descriptors, rules: rulesBelowRoots(policy) };
  const { roots, skipped } = pinRoots(policy);
  const anyRoot = policy.allowAnyPath ? pinAnywhere(policy) : null;
  const search: Search = {
    policy,
    access,
    roots,
    listing: cacheNames(
      () => listNames(access, roots, LISTED_ENTRIES),
      () => performance.now(),
    ),
    isListed: false,
    attachments,
    kept,
    anywhere:
      anyRoot === null
        ? null
        : { root: anyRoot, access: { descriptors, rules: rulesForAnyPath(policy) } },
  };
  return {
    ...sandboxOn(search, skipped, extractText),
    close: () => {
      for (const root of anyRoot === null ? roots : [...roots, anyRoot]) closeSync(root.descriptor);
    },
  };
}

/** The sandbox on the files of a search. @param skipped configured roots that are missing or no folders */
export function sandboxOn(
  search: Search,
  skipped: readonly SkippedRoot[],
  extractText: ExtractText,
): Omit<Sandbox, "close"> {
  const extractors = { extractText, extractMail: rememberLast(extractText) };
  return {
    ...sandboxOf(search, skipped, extractors),
    within: (pathPrefixes) => sandboxOf(searchBelow(search, pathPrefixes), skipped, extractors),
  };
}

function sandboxOf(
  search: Search,
  skipped: readonly SkippedRoot[],
  extractors: Extractors,
): BoundSandbox {
  const { access, roots } = search;
  const { extractText, extractMail } = extractors;
  return {
    roots,
    skipped,
    readTextFile: (args) => readTextFile(search, args, extractors),
    readFileBelow: async (root, relativePath) => readFileBelow(access, { root, relativePath }),
    extractText,
    openFile: (named) => openFile(search, named, extractMail),
    locate: (path) => locate(search, path, extractMail),
    leadsOut: (path) => leadsOut(search, attachmentPlaces(path)[0]?.file ?? path),
    listPaths: async () => (await search.listing.renewed()).paths,
    async listPathsNow() {
      const { paths, cutAt } = await search.listing.begunNow();
      return { paths, isWhole: cutAt === null };
    },
  };
}

function searchBelow(search: Search, pathPrefixes: readonly string[]): Search {
  const bound = ({ descriptors, rules }: Access): Access => ({
    descriptors,
    rules: { ...rules, pathPrefixes },
  });
  const { access, listing, anywhere } = search;
  return {
    ...search,
    access: bound(access),
    listing: namesBelow(listing, pathPrefixes),
    anywhere: anywhere === null ? null : { root: anywhere.root, access: bound(anywhere.access) },
  };
}

async function locate(
  search: Search,
  path: string,
  extractMail: ExtractText,
): ReturnType<Sandbox["locate"]> {
  const invalid = checkPath(path);
  if (invalid !== null) return invalid;
  if (attachmentPlaces(path).length > 0) {
    const content = await readContent(search, { path }, extractMail);
    return content.kind === "refused" ? content : { kind: "located", path: content.path };
  }
  const found = await findFile(search, { path }, (file) => file.path);
  return found.kind === "refused" ? found : { kind: "located", path: found.value };
}

/** Reads all bytes of a file, and closes it. */
export function bytesOf(file: OpenedFile | HeldFile): Buffer {
  if (file.kind === "held") return file.content;
  try {
    return readFileSync(file.descriptor);
  } finally {
    closeSync(file.descriptor);
  }
}

async function openFile(
  search: Search,
  named: Named,
  extractMail: ExtractText,
): Promise<OpenedFile | HeldFile | Refusal> {
  const invalid = checkPath(named.path);
  if (invalid !== null) return invalid;
  if (named.sha256 !== undefined || attachmentPlaces(named.path).length > 0) {
    const held = await readContent(search, named, extractMail);
    if (held.kind === "refused") return held;
    if (held.kind === "text") return refuseText(held.path);
    return { kind: "held", path: held.path, content: held.bytes, bytes: held.bytes.length };
  }
  const { descriptors, rules } = search.access;
  const found = await findFile(search, named, (file) => ({
    file: descriptors.keepOpen(file, rules.maxBytes),
  }));
  return found.kind === "visited" ? found.value.file : found;
}

const refuseText = (path: string): Refusal =>
  refuse(
    "CONTENT_NOT_KEPT",
    `The database holds the text of ${quotePath(path)}, and not its bytes, which this needs: set documents.keep to bytes, and run ` +
      "nightdesk index where the file is.",
  );

/** The result of a read. Characters are Unicode code points. */
export type Reading =
  | {
      readonly kind: "read";
      /** Relative to the security root, as spelled on disk. */
      readonly path: string;
      /** Lower-case hex, of the file's bytes: `sha256sum` confirms it. */
      readonly sha256: string;
      /** Version of the extractor, and the hash of the whole text as UTF-8. */
      readonly extractor: string;
      readonly textSha256: string;
      /** Where in the file the text begins; null if line numbers suffice. */
      readonly locator: Locator | null;
      /** Where its parts stand; absent if line numbers suffice. */
      readonly places?: Places;
      readonly leftOut?: LeftOut | undefined;
      readonly bytes: number;
      readonly charsFull: number;
      readonly charsReturned: number;
      readonly truncated: boolean;
      /** The first `charsReturned` characters, including a byte order mark. */
      readonly text: string;
    }
  | Refusal;

type ReadArguments = Named & {
  /** In code points. */
  readonly maxChars: number;
};

/** `extractMail` caches the last mail, for callers that read its attachments one by one. */
type Extractors = { readonly extractText: ExtractText; readonly extractMail: ExtractText };

/** Finds, opens and reads a file as text, with all checks of policy.ts. */
async function readTextFile(
  search: Search,
  { path, maxChars, lookup, sha256 }: ReadArguments,
  { extractText, extractMail }: Extractors,
): Promise<Reading> {
  const invalid = checkPath(path) ?? checkMaxChars(maxChars);
  if (invalid !== null) return invalid;
  const content = await readContent(search, { path, lookup, sha256 }, extractMail);
  if (content.kind === "refused") return content;
  if (content.kind === "text") {
    const bytes = Buffer.byteLength(content.extracted.text);
    return readingOf({ ...content, bytes }, content.extracted, maxChars);
  }
  const extracted = await extractText(content.path, content.bytes);
  if (extracted.kind === "unreadable") {
    return refuse(extracted.code, `${quotePath(content.path)} ${extracted.why}`);
  }
  const { bytes } = content;
  const file = { path: content.path, sha256: hash("sha256", bytes, "hex"), bytes: bytes.length };
  return readingOf(file, extracted, maxChars);
}

function readingOf(
  { path, sha256, bytes }: Pick<Extract<Reading, { kind: "read" }>, "path" | "sha256" | "bytes">,
  { text, extractor, places, leftOut }: KeptText,
  maxChars: number,
): Reading {
  if (leftOut?.[OWN_RESULTS] !== undefined) return refuseOwnResults(path);
  const charsFull = countCodePoints(text);
  const truncated = charsFull > maxChars;
  return {
    kind: "read",
    path,
    sha256,
    extractor,
    textSha256: hash("sha256", text, "hex"),
    locator: locateWhole(places, text),
    ...(places.numbers.length === 0 ? {} : { places }),
    ...(leftOut === undefined ? {} : { leftOut }),
    bytes,
    charsFull,
    charsReturned: truncated ? maxChars : charsFull,
    truncated,
    text: truncated ? firstCodePoints(text, maxChars) : text,
  };
}

const refuseOwnResults = (path: string): Refusal =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `${quotePath(path)} is a report or an export of Nightdesk, and no evidence: name the documents that it is about.`,
  );

/** For a table with more rows, a check of each line takes too long. */
const MOST_LOOKED_AT = 100_000;

function locateWhole(places: Places, text: string): Locator | null {
  const first = locateText(places, 0);
  if (first?.row === undefined || places.numbers.length > MOST_LOOKED_AT) return first;
  return locatePassage(places, splitLines(text), { start: 0, end: text.length });
}

const MIN_CHARS = 200;
const MAX_CHARS = 10_000_000;

/** Returns INVALID_ARGS or null. The arguments of a tool call come from a model, so their types are not certain. */
function checkPath(path: unknown): Refusal | null {
  if (typeof path === "string" && path.trim() !== "") return null;
  return refuse("INVALID_ARGS", "path must be a string that is not blank: name a file to read.");
}

/** `max_chars`, in code points. */
function checkMaxChars(maxChars: unknown): Refusal | null {
  const isInteger = typeof maxChars === "number" && Number.isInteger(maxChars);
  if (isInteger && maxChars >= MIN_CHARS && maxChars <= MAX_CHARS) return null;
  const given = typeof maxChars === "number" ? String(maxChars) : `a ${typeof maxChars}`;
  return refuse(
    "INVALID_ARGS",
    `max_chars must be an integer from ${MIN_CHARS} to ${MAX_CHARS}; it is ${given}.`,
  );
}
