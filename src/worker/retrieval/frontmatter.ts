import { Composer, Parser } from "yaml";
import { findTooDeep } from "../../shared/yaml-depth.ts";
import { splitLines } from "./chunk/lines.ts";
import { metadataJson } from "./metadata-json.ts";

/** What a file says about itself before its text. `firstLine` is where the text begins, counted from 0. */
export type Frontmatter = {
  readonly firstLine: number;
  readonly title: string | null;
} & (
  | { readonly state: "absent" | "unknown"; readonly json: null }
  | { readonly state: "present"; readonly json: string }
);

/** More is no frontmatter that somebody wrote by hand. */
const MAX_CHARS = 16_384;
const MAX_DEPTH = 32;

const ABSENT: Frontmatter = { state: "absent", json: null, firstLine: 0, title: null };
/** Not closed, not YAML or no mapping: all of it stays text, because a note may open with a rule. */
const UNKNOWN: Frontmatter = { ...ABSENT, state: "unknown" };

/** Reads the YAML mapping between two lines of `---` at the start of a text. Never throws. */
export function readFrontmatter(text: string): Frontmatter {
  if (!/^\uFEFF?---[ \t]*(?:\r|\n|$)/.test(text)) return ABSENT;
  const lines = splitLines(text.slice(0, MAX_CHARS));
  for (let line = 1; line < lines.count; line += 1) {
    if (lines.text.slice(lines.start(line), lines.end(line)).trim() !== "---") continue;
    return readMapping(lines.text.slice(lines.start(1), lines.start(line)), line + 1);
  }
  return UNKNOWN;
}

function readMapping(yaml: string, firstLine: number): Frontmatter {
  const value = parseYaml(yaml);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return UNKNOWN;
  const title: unknown = "title" in value ? value.title : undefined;
  return {
    state: "present",
    json: metadataJson(value),
    firstLine,
    title: typeof title === "string" && title.trim() !== "" ? title.trim() : null,
  };
}

/** Undefined for anything that is not plain data: an error, an alias (they can grow without bounds), a tag. */
function parseYaml(yaml: string): unknown {
  const tokens = [...new Parser().parse(yaml)];
  const isTooDeep = tokens.some(
    (token) => token.type === "document" && findTooDeep(token.value, MAX_DEPTH) !== undefined,
  );
  if (isTooDeep) return undefined;
  // Pretty errors copy the text once for each of them.
  const options = { schema: "core", logLevel: "silent", prettyErrors: false } as const;
  const [document, ...others] = new Composer(options).compose(tokens, true, yaml.length);
  if (document === undefined || others.length > 0) return undefined;
  if (document.errors.length > 0 || document.warnings.length > 0) return undefined;
  if (document.contents === null) return {};
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}
