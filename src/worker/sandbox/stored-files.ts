import { hash } from "node:crypto";
import { posix } from "node:path";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { ExtractText } from "../documents/extraction.ts";
import { refuseSize } from "./descriptors.ts";
import type { Descriptors, FileStat, OpenFile } from "./descriptors.ts";
import type { Search } from "./find-file.ts";
import { quotePath } from "./names.ts";
import { sandboxOn } from "./open-sandbox.ts";
import type { KnownContents, Sandbox } from "./open-sandbox.ts";
import { rulesBelowRoots } from "./policy.ts";
import type { SecurityPolicy } from "./policy.ts";
import { nameRoots, placesOf, shownPath } from "./roots.ts";
import type { FileLocation } from "./roots.ts";
import { cacheNames, isCandidate, listingOf } from "./suggest-names.ts";

/** A file in the index; `content` is null if its bytes are not stored, or exceed the requested maximum. */
type StoredFile = {
  readonly sha256: string;
  readonly bytes: number;
  readonly content: Buffer | null;
  readonly isOverQuota: boolean;
  /** Whether its text is stored in place of its bytes. */
  readonly isTextKept: boolean;
};

/** The files of an index, by their paths from the work root. */
export type FileStore = {
  list(): Promise<readonly { readonly path: string; readonly bytes: number }[]>;
  read(path: string, maxBytes: number): Promise<StoredFile | undefined>;
};

/**
 * The sandbox of a worker without files: the documents of the index replace the files below the allowed roots, with the
 * same names, rules and order of checks. The checks of a disk (links, devices, times) took place when the bytes were indexed.
 * The hash of the bytes is verified before their use. Throws CONFIG_ERROR for a root outside the security root.
 */
export async function openStore(
  policy: SecurityPolicy,
  extractText: ExtractText,
  { store, attachments, kept }: Required<KnownContents> & { readonly store: FileStore },
): Promise<Sandbox> {
  const roots = nameRoots(policy);
  const rules = rulesBelowRoots(policy);
  const known = { files: new Map<string, number>(), folders: new Set<string>() };
  const list = async () => {
    const files = await store.list();
    known.files = new Map(files.map(({ path, bytes }) => [path, bytes]));
    known.folders = new Set(files.flatMap(({ path }) => foldersOf(path)));
    return listingOf(placesIn(files, { roots, rules, policy }), null);
  };
  const search: Search = {
    policy,
    access: { descriptors: storeDescriptors(known, store, policy), rules },
    roots,
    listing: cacheNames(list, () => performance.now()),
    isListed: true,
    attachments,
    kept,
    anywhere: null,
  };
  return { ...sandboxOn(search, [], extractText), close: () => undefined };
}

function foldersOf(path: string): readonly string[] {
  const folders = [""];
  for (let end = path.indexOf("/"); end > 0; end = path.indexOf("/", end + 1)) {
    folders.push(path.slice(0, end));
  }
  return folders;
}

/** The places of the files that a bare name may mean, by path. */
function placesIn(
  files: readonly { readonly path: string }[],
  { policy, roots, rules }: Pick<Search, "policy" | "roots"> & Parameters<typeof isCandidate>[1],
): ReadonlyMap<string, FileLocation> {
  const places = new Map<string, FileLocation>();
  for (const { path } of files) {
    const [place] = placesOf(posix.join(policy.securityRoot, path), roots);
    if (place !== undefined && isCandidate(place.relativePath, { rules })) places.set(path, place);
  }
  return places;
}

type KnownFiles = { files: ReadonlyMap<string, number>; folders: ReadonlySet<string> };

/** An open file of the store; `bytes` is null for a folder. */
type Opened = { readonly path: string; readonly bytes: number | null };

function storeDescriptors(
  known: KnownFiles,
  store: FileStore,
  { securityRoot }: SecurityPolicy,
): Descriptors {
  const opened = new Map<number, Opened>();
  let last = 0;
  const openedAt = (descriptor: number): Opened => {
    const file = opened.get(descriptor);
    if (file === undefined) throw new Error(`Descriptor ${descriptor} of the store is closed.`);
    return file;
  };
  const readAll = (file: OpenFile, maxBytes: number) => readStored(store, file.path, maxBytes);
  return {
    open: ({ root, relativePath }) => {
      const path = shownPath(root, relativePath);
      const bytes = known.files.get(path) ?? (known.folders.has(path) ? null : undefined);
      if (bytes === undefined) throw missingFile(path);
      last += 1;
      opened.set(last, { path, bytes });
      return last;
    },
    stat: (descriptor) => statOf(openedAt(descriptor)),
    close: (descriptor) => {
      opened.delete(descriptor);
    },
    realPath: (_descriptor, { root, relativePath }) => posix.join(root.realPath, relativePath),
    isInPlace: () => true,
    readAll,
    keepOpen: async (file, maxBytes) => {
      const content = await readAll(file, maxBytes);
      if (!Buffer.isBuffer(content)) return content;
      return { kind: "held", path: file.path, content, bytes: content.length };
    },
    isTaken: (absolute) => {
      const path = posix.relative(securityRoot, absolute);
      return known.files.has(path) || known.folders.has(path);
    },
  };
}

/** The error that the system reports for a missing file. */
const missingFile = (path: string): Error =>
  Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT", syscall: "open" });

const statOf = ({ bytes }: Opened): FileStat => ({
  dev: 0n,
  ino: 0n,
  nlink: 1n,
  size: BigInt(bytes ?? 0),
  mtimeNs: 0n,
  ctimeNs: 0n,
  isDirectory: () => bytes === null,
  isFile: () => bytes !== null,
  isFIFO: () => false,
  isSocket: () => false,
});

/** Reads the current row, because the listing may be some seconds old. */
async function readStored(
  store: FileStore,
  path: string,
  maxBytes: number,
): Promise<Buffer | Refusal> {
  const file = await store.read(path, maxBytes);
  if (file === undefined) return refuse("FILE_NOT_FOUND", `There is no file ${quotePath(path)}.`);
  if (file.bytes > maxBytes) return refuseSize(path, maxBytes);
  if (file.content === null) return refuseUnkept(path, file);
  if (hash("sha256", file.content, "hex") === file.sha256) return file.content;
  return refuse(
    "EVIDENCE_INVALID",
    `The database holds other bytes of ${quotePath(path)} than were indexed: run nightdesk forget on it, then nightdesk index ` +
      "where the files are.",
  );
}

const refuseUnkept = (path: string, { isOverQuota, isTextKept }: StoredFile): Refusal => {
  const held = isTextKept ? ", which holds its text alone" : "";
  const [code, why] = isOverQuota
    ? (["STORE_FULL", "would have gone over documents.quota: raise it"] as const)
    : ([
        "CONTENT_NOT_KEPT",
        `are not in the database${held}: set documents.keep to bytes`,
      ] as const);
  const message = `The bytes of ${quotePath(path)} ${why}, and run nightdesk index where the files are.`;
  return refuse(code, message);
};
