import { foldWord } from "../../../shared/text/normalise-text.ts";
import { areRelated, stemIn } from "../claims/terms.ts";
import type { ClaimLanguage, Term } from "../claims/terms.ts";
import { append } from "../../../shared/group-by.ts";

/** The files that a claim is about, and a name for the set. */
export type MemberSet = {
  /** "files below contracts/" */
  readonly query: string;
  readonly paths: readonly string[];
};

type SetRequest = {
  /** The question and the claim, which may name a folder. */
  readonly texts: readonly string[];
  /** Words that may name the set, the most likely first. */
  readonly names: readonly Term[];
  readonly language: ClaimLanguage | null;
  /** Paths that the claim cites. */
  readonly cited: readonly string[];
};

/** A set that only a word in file names defines has at least this many members. */
const FEWEST_MEMBERS = 2;

/**
 * Finds the set of files that a claim is about: a folder that is named by its path, folders or files whose name holds a word of
 * the claim or question, else the folders of the cited files.
 */
export function findMemberSet(paths: readonly string[], request: SetRequest): MemberSet {
  return byFolderPath(paths, request) ?? byWord(paths, request) ?? byCited(paths, request);
}

const FOLDER = /(?<![\p{L}\p{N}/.])((?:[\p{L}\p{N}_.-]{1,80}\/){1,8})(?![\p{L}\p{N}])/gu;

function byFolderPath(paths: readonly string[], { texts }: SetRequest): MemberSet | null {
  for (const text of texts) {
    for (const [, folder = ""] of text.slice(0, 4_000).matchAll(FOLDER)) {
      const found = paths.filter((path) => `/${path}`.includes(`/${folder}`));
      if (found.length > 0) return { query: `files below ${folder}`, paths: found };
    }
  }
  return null;
}

function byWord(paths: readonly string[], { names, language }: SetRequest): MemberSet | null {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const parts = path.split("/");
    for (let depth = 1; depth < parts.length; depth += 1)
      append(folders, parts.slice(0, depth).join("/"), path);
  }
  const stemsOfFolder = new Map(
    [...folders.keys()].map((folder) => [
      folder,
      stemsOfName(folder.split("/").at(-1) ?? "", language),
    ]),
  );
  for (const { word } of names) {
    const stem = plainStem(word, language);
    const named = [...stemsOfFolder].filter(([, stems]) =>
      stems.some((one) => areRelated(one, stem)),
    );
    const tops = named
      .map(([folder]) => folder)
      .filter((folder, _, all) => !all.some((other) => folder.startsWith(`${other}/`)));
    const within = new Set(tops.flatMap((folder) => folders.get(folder) ?? []));
    if (within.size > 0) {
      const query = `files below ${tops.map((folder) => `${folder}/`).join(" and ")}`;
      return { query, paths: paths.filter((path) => within.has(path)) };
    }
  }
  for (const { word } of names) {
    const stem = plainStem(word, language);
    const found = paths.filter((path) =>
      stemsOfName(baseOf(path), language).some((one) => areRelated(one, stem)),
    );
    if (found.length >= FEWEST_MEMBERS) return { query: `files named "${word}"`, paths: found };
  }
  return null;
}

const baseOf = (path: string): string =>
  path.slice(path.lastIndexOf("/") + 1).replace(/\.\p{L}[\p{L}\d]{0,7}$/u, "");

/** Makes "vertraege" equal to "Verträge". */
const plainStem = (word: string, language: ClaimLanguage | null): string =>
  stemIn(foldWord(word), language).replace(/([aou])e/g, "$1");

const stemsOfName = (name: string, language: ClaimLanguage | null): string[] =>
  (name.slice(0, 200).match(/[\p{L}\p{M}]{3,60}/gu) ?? []).map((word) => plainStem(word, language));

function byCited(paths: readonly string[], { cited }: SetRequest): MemberSet {
  const folders = [
    ...new Set(cited.map((path) => path.slice(0, path.lastIndexOf("/") + 1))),
  ].sort();
  const tops = folders.filter(
    (folder) => !folders.some((other) => other !== folder && folder.startsWith(other)),
  );
  const found = paths.filter((path) => tops.some((folder) => path.startsWith(folder)));
  const isAll = tops.includes("") || tops.length === 0;
  const query = isAll ? "files" : `files below ${tops.join(" and ")}`;
  return { query, paths: isAll ? paths : found };
}
