import type { Config } from "../../shared/config/schema.ts";
import type { JobInput } from "../../shared/job/job.ts";
import { parseGlob } from "../../shared/files/parse-glob.ts";
import { jobForFile } from "../../shared/job/watched-job.ts";
import { formatOf } from "../documents/formats/registry.ts";
import type { IndexSource } from "./sources.ts";

export type Watch = NonNullable<Config["index"]["sources"][number]["watch"]>;
export type Rule = Watch["rules"][number];

/** The state of a file when the rules are applied: it is new, or its classification has ended. */
export type Stage =
  | { readonly kind: "new" }
  | { readonly kind: "labelled"; readonly label: string }
  | { readonly kind: "unclassified" };

/** The rules for files of this stage, in their order. */
export function rulesOf(rules: readonly Rule[], stage: Stage): readonly Rule[] {
  return rules.filter(({ label, unclassified }) => {
    switch (stage.kind) {
      case "new":
        return label === undefined && unclassified === undefined;
      case "labelled":
        return label !== undefined && [label].flat().includes(stage.label);
      case "unclassified":
        return unclassified === true;
    }
  });
}

/** The rules that apply to attachments too. */
export const rulesForAttachments = (rules: readonly Rule[]): readonly Rule[] =>
  rules.filter(({ attachments }) => attachments === true);

export type FileToMatch = {
  /** Below the root of the source. */
  readonly relativePath: string;
  /** Below the work root. */
  readonly path: string;
  /** Empty where the file has no text. Called only for a rule that depends on the content. */
  readonly readText: () => Promise<string>;
};

/** Extracts the text of a file at the first call, and returns the same text afterwards. */
export function textReader(
  { extractText }: Pick<IndexSource, "extractText">,
  path: string,
  bytes: Buffer,
): () => Promise<string> {
  let text: Promise<string> | undefined;
  return () =>
    (text ??= extractText(path, bytes).then((extracted) =>
      extracted.kind === "text" ? extracted.text : "",
    ));
}

/** The first of these rules whose conditions on path, format and tags the file meets. */
export async function selectRule(
  rules: readonly Rule[],
  { relativePath, path, readText }: FileToMatch,
): Promise<Rule | undefined> {
  for (const rule of rules) {
    if (rule.match !== undefined && !isMatch(rule.match, relativePath)) continue;
    if (rule.formats !== undefined) {
      const { name } = formatOf(path, await readText());
      if (!rule.formats.includes(name)) continue;
    }
    if (rule.tags !== undefined && !hasTag(rule.tags, path, await readText())) continue;
    return rule;
  }
  return undefined;
}

/** The job of a rule for a file. The check of the configuration has tried the rule's job with a sample path. */
export function jobOf({ job }: Rule, path: string): JobInput | null {
  const parsed = jobForFile(job, path);
  return parsed.ok ? parsed.input : null;
}

function isMatch(glob: string, path: string): boolean {
  const parsed = parseGlob(glob);
  return typeof parsed === "function" && parsed(path);
}

function hasTag(tags: readonly string[], path: string, text: string): boolean {
  const { labels } = formatOf(path, text).parseFrontmatter(text);
  const held = new Set(
    labels
      .flatMap((label) => label.split(/[,\s]+/))
      .map((label) => label.replace(/^#/, "").toLowerCase()),
  );
  return tags.some((tag) => held.has(tag.replace(/^#/, "").toLowerCase()));
}
