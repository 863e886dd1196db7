import { Composer, Parser } from "yaml";
import { findTooDeep } from "../../shared/config/yaml-depth.ts";
import { shortenTitle } from "./cut-span.ts";
import type { FileMetadata } from "./extraction.ts";
import { splitLines } from "./lines.ts";

/** The metadata that a text file has before its text. `firstLine` is the line where the text begins, counted from 0. */
export type Frontmatter = {
  readonly firstLine: number;
  readonly title: string | null;
  /** Aliases and tags, as they are written. */
  readonly labels: readonly string[];
  /** Paths of older versions of the document, as they are written. */
  readonly supersedes: readonly string[];
  /** Why it is dangerous to parse; null if it is harmless, even if it is invalid. */
  readonly danger: string | null;
} & (
  | { readonly state: "absent"; readonly json: null; readonly problem: null }
  /** `problem`: why it can't be read, as a clause that quotes nothing of the text. */
  | { readonly state: "unknown"; readonly json: null; readonly problem: string }
  | { readonly state: "present"; readonly json: string; readonly problem: null }
);

/** Longer frontmatter is not written by hand, and is not read. */
const MAX_CHARS = 16_384;
const MAX_DEPTH = 32;

export const NO_FRONTMATTER: Frontmatter = {
  state: "absent",
  json: null,
  problem: null,
  firstLine: 0,
  title: null,
  labels: [],
  supersedes: [],
  danger: null,
};
/** For frontmatter that is not closed, no YAML or no mapping: it stays text, because a note may begin with a rule. */
const noMapping = (problem: string, danger: string | null = null): Frontmatter => ({
  ...NO_FRONTMATTER,
  state: "unknown",
  problem,
  danger,
});

/** Reads the YAML mapping between two lines of `---` at the start of a text. Never throws. */
export function parseFrontmatter(text: string): Frontmatter {
  if (!/^\uFEFF?---[ \t]*(?:\r|\n|$)/.test(text)) return NO_FRONTMATTER;
  const lines = splitLines(text.slice(0, MAX_CHARS));
  for (let line = 1; line < lines.count; line += 1) {
    if (lines.text.slice(lines.start(line), lines.end(line)).trim() !== "---") continue;
    return parseMapping(lines.text.slice(lines.start(1), lines.start(line)), line + 1);
  }
  return noMapping(
    text.length > MAX_CHARS
      ? `does not end within ${MAX_CHARS.toLocaleString("en-US")} characters`
      : "does not end with a line of ---",
  );
}

function parseMapping(yaml: string, firstLine: number): Frontmatter {
  const value = parseYaml(yaml);
  if (value instanceof Unreadable) {
    return noMapping(value.what, value.kind === "dangerous" ? value.what : null);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return noMapping(
      `is ${Array.isArray(value) ? "a list" : "a text"} and no mapping of names to values`,
    );
  }
  const title: unknown = "title" in value ? value.title : undefined;
  const itemsOf = (isWanted: (key: string) => boolean) =>
    Object.entries(value).flatMap(([key, item]: [string, unknown]) =>
      isWanted(key.toLowerCase()) ? stringsOf(item) : [],
    );
  return {
    ...NO_FRONTMATTER,
    state: "present",
    problem: null,
    json: metadataJson(value),
    firstLine,
    title: typeof title === "string" && title.trim() !== "" ? title.trim() : null,
    labels: itemsOf((key) => LABEL_KEYS.has(key)).map(shortenTitle),
    supersedes: itemsOf((key) => key === "supersedes"),
  };
}

/** Adds the properties of the file outside of its text; values of the frontmatter win, and its problem stays. */
export function withFileMetadata(
  frontmatter: Frontmatter,
  metadata: FileMetadata | undefined,
): Frontmatter {
  const { title, json, state } = frontmatter;
  const isEmpty = metadata === undefined || Object.keys(metadata).length === 0;
  if (isEmpty || state === "unknown") return frontmatter;
  const written = json === null ? {} : (JSON.parse(json) as object);
  const known = metadata["title"];
  return {
    ...frontmatter,
    state: "present",
    problem: null,
    title: title ?? (typeof known === "string" ? known : null),
    json: metadataJson({ ...metadata, ...written }),
  };
}

/** Keys of Obsidian, Jekyll, Hugo and others for aliases and tags of a note. */
const LABEL_KEYS = new Set(["alias", "aliases", "tag", "tags", "keywords"]);
const MOST_ITEMS = 50;

/** A string, or the strings of a list. */
const stringsOf = (item: unknown): string[] =>
  (Array.isArray(item) ? item.slice(0, MOST_ITEMS) : [item]).filter(
    (text: unknown) => typeof text === "string",
  );

class Unreadable {
  readonly kind: "dangerous" | "wrong";
  readonly what: string;
  constructor(kind: "dangerous" | "wrong", what: string) {
    this.kind = kind;
    this.what = what;
  }
}

/** Parses YAML; gives an Unreadable for anything that is not plain data, such as an error or a tag. */
function parseYaml(yaml: string): unknown {
  const tokens = [...new Parser().parse(yaml)];
  const isTooDeep = tokens.some(
    (token) => token.type === "document" && findTooDeep(token.value, MAX_DEPTH) !== undefined,
  );
  if (isTooDeep) return new Unreadable("dangerous", `is nested more than ${MAX_DEPTH} levels deep`);
  // Each pretty error would copy the text.
  const options = { schema: "core", logLevel: "silent", prettyErrors: false } as const;
  const [document, ...others] = new Composer(options).compose(tokens, true, yaml.length);
  if (document === undefined || others.length > 0) {
    return new Unreadable("wrong", "holds several YAML documents");
  }
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) {
    // Its message may quote the text. The first line of the file is the one of ---.
    const line = yaml.slice(0, fault.pos[0]).split(/\r\n?|\n/).length + 1;
    const what = fault.code.toLowerCase().replaceAll("_", " ");
    return new Unreadable("wrong", `is not valid YAML: ${what} on line ${line}`);
  }
  if (document.contents === null) return {};
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof ReferenceError)
      return new Unreadable("dangerous", "has aliases, which can grow without end");
    throw error;
  }
}

/** A `\` escape of JSON: a NUL, half of a surrogate pair, or any other. */
const ESCAPE = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g;

/** A value as JSON that Postgres can store: without NUL, lone surrogates, and numbers that JSON lacks. */
function metadataJson(value: object): string {
  const json = JSON.stringify(value, (_key, item: unknown) =>
    typeof item === "number" && !Number.isFinite(item) ? String(item) : item,
  );
  return json.replace(ESCAPE, (escape) =>
    escape.length > 2 && isUnstorable(escape) ? "�" : escape,
  );
}

const isUnstorable = (escape: string): boolean => escape === "\\u0000" || escape.startsWith("\\ud");
