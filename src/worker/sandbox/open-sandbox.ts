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
import type { FileBytes, Ground } from "./visit-file.ts";

/** All files of a desk at one time. */
export type PathsNow = {
  readonly paths: readonly string[];
  /** False where there are more than are listed, so that nothing can be counted. */
  readonly isWhole: boolean;
};

/** The only way to a document's content. Every refusal is a value; policy.ts holds the order of checks. */
export type Sandbox = {
  readonly roots: readonly PinnedRoot[];
  /** Configured roots that are not there. */
  readonly skipped: readonly SkippedRoot[];
  /**
   * The tool: resolves a path as a question names it (bare name or sub-path), opens, decides, reads. With `exact` only
   * what lies at this path from the work root.
   */
  readTextFile(args: ReadArguments): Promise<Reading>;
  /** For the index: opens one known file below a root by its path relative to that root, by the same rules. */
  readFileBelow(root: PinnedRoot, relativePath: string): Promise<FileBytes | Refusal>;
  /**
   * For a copy in the shell's sandbox: resolves, opens and decides as the tool does, by size instead of by content. An
   * attachment is read out of its mail.
   */
  openFile(named: Named): Promise<OpenedFile | HeldFile | Refusal>;
  /** Makes the text of what was read for the index. */
  readonly extractText: ExtractText;
  /**
   * Which file a name means, relative to the security root and as spelled on disk, without reading it; a mail is read to see
   * whether it holds the attachment that is meant.
   */
  locate(path: string): Promise<{ readonly kind: "located"; readonly path: string } | Refusal>;
  /** Whether the path of a document, which lies where something may be read, is a link to what may not be read. */
  leadsOut(path: string): boolean;
  /**
   * The files that a bare name may mean, relative to the security root, in order: none that is hidden or denied.
   * The same list until the folders are looked through again.
   */
  listPaths(): Promise<readonly string[]>;
  /** The same as the folders are now. */
  listPathsNow(): Promise<PathsNow>;
  /** The same for a job that is bound to paths from the security root that begin with one of these: there is nothing else for it. */
  within(pathPrefixes: readonly string[]): BoundSandbox;
  /** Lets go of the roots. Nothing can be read afterwards. */
  close(): void;
};

export type BoundSandbox = Omit<Sandbox, "within" | "close">;

/** What is known beside the files. */
export type KnownContents = {
  /** What is known to lie in mails, to be offered for a name that nothing has. */
  readonly attachments?: Search["attachments"];
  /** What the database has kept, for files on record that are gone or hold something else. */
  readonly kept?: Search["kept"];
};

/**
 * Checks the policy, pins the allowed roots and gives the sandbox on them. Throws CONFIG_ERROR for Windows, for
 * a machine without /proc (unless `allowRacyReads`), for a root outside the security root, and when no root is
 * left. A root that is missing or no folder is skipped.
 * @param extractText makes the texts of files
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

/** The same on a given platform. */
export async function openSandboxOn(
  host: PlatformFacts,
  policy: SecurityPolicy,
  extractText: ExtractText,
  { attachments = noAttachments, kept = nothingKept }: KnownContents = {},
): Promise<Sandbox> {
  const descriptors = selectDescriptors(host, policy);
  const ground = { descriptors, rules: rulesBelowRoots(policy) };
  const { roots, skipped } = pinRoots(policy);
  const anyRoot = policy.allowAnyPath ? pinAnywhere(policy) : null;
  const search: Search = {
    policy,
    ground,
    roots,
    listing: cacheNames(
      () => listNames(ground, roots, LISTED_ENTRIES),
      () => performance.now(),
    ),
    isListed: false,
    attachments,
    kept,
    anywhere:
      anyRoot === null
        ? null
        : { root: anyRoot, ground: { descriptors, rules: rulesForAnyPath(policy) } },
  };
  return {
    ...sandboxOn(search, skipped, extractText),
    close: () => {
      for (const root of anyRoot === null ? roots : [...roots, anyRoot]) closeSync(root.descriptor);
    },
  };
}

/** The sandbox on what a search finds. @param skipped configured roots that are not there */
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
  const { ground, roots } = search;
  const { extractText, extractMail } = extractors;
  return {
    roots,
    skipped,
    readTextFile: (args) => readTextFile(search, args, extractors),
    readFileBelow: async (root, relativePath) => readFileBelow(ground, { root, relativePath }),
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
  const bound = ({ descriptors, rules }: Ground): Ground => ({
    descriptors,
    rules: { ...rules, pathPrefixes },
  });
  const { ground, listing, anywhere } = search;
  return {
    ...search,
    ground: bound(ground),
    listing: namesBelow(listing, pathPrefixes),
    anywhere: anywhere === null ? null : { root: anywhere.root, ground: bound(anywhere.ground) },
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

/** All bytes of a file, which is closed then. */
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
  const { descriptors, rules } = search.ground;
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

/** What a read gives. Characters are Unicode code points. */
export type Reading =
  | {
      readonly kind: "read";
      /** Relative to the security root, as spelled on disk. */
      readonly path: string;
      /** Lower-case hex, of the file's bytes: `sha256sum` confirms it. */
      readonly sha256: string;
      /** Version of the extractor that made the text, and the hash of all of that as UTF-8. */
      readonly extractor: string;
      readonly textSha256: string;
      /** Where in the file the text begins; null where its lines say it. */
      readonly locator: Locator | null;
      /** And where its parts stand; left out where its lines say it. */
      readonly places?: Places;
      readonly leftOut?: LeftOut | undefined;
      readonly bytes: number;
      readonly charsFull: number;
      readonly charsReturned: number;
      readonly truncated: boolean;
      /** The first `charsReturned` characters; a byte order mark is the first of them. */
      readonly text: string;
    }
  | Refusal;

type ReadArguments = Named & {
  /** In code points. */
  readonly maxChars: number;
};

/** Who reads the attachments of a mail one by one has it read once. */
type Extractors = { readonly extractText: ExtractText; readonly extractMail: ExtractText };

/** Finds, opens and reads a file as text: all the checks of policy.ts. */
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

/** Of a table with more rows each line would have to be looked at for too long. */
const MOST_LOOKED_AT = 100_000;

function locateWhole(places: Places, text: string): Locator | null {
  const first = locateText(places, 0);
  if (first?.row === undefined || places.numbers.length > MOST_LOOKED_AT) return first;
  return locatePassage(places, splitLines(text), { start: 0, end: text.length });
}

const MIN_CHARS = 200;
const MAX_CHARS = 10_000_000;

/** The arguments of a tool call come from a model, so nothing about them is certain: INVALID_ARGS or null. */
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
