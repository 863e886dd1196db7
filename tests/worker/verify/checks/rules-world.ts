import type { ClaimRecord } from "../../../../src/shared/job/run-result.ts";
import {
  newerVersionFinder,
  supersededPaths,
} from "../../../../src/shared/files/version-family.ts";
import { parseFrontmatter } from "../../../../src/worker/documents/frontmatter.ts";
import type { CitableBlock } from "../../../../src/worker/evidence/number.ts";
import { spanPassage } from "../../../../src/worker/evidence/span-passage.ts";
import type { CheckSources, Passage, Reading } from "../../../../src/worker/evidence/types.ts";
import { sliceCodePoints } from "../../../../src/worker/text/clean-text.ts";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { checkByRules } from "../../../../src/worker/verify/checks/rule-checks.ts";
import type {
  CheckedClaim,
  RuleFindings,
  RuleSettings,
} from "../../../../src/worker/verify/checks/rule-check.ts";
import { sha256Of } from "../../../support/pipeline-world.ts";
import { blockOf } from "../support-world.ts";

export type Documents = Readonly<Record<string, string>>;

export const readingOf = (path: string, text: string): Reading => ({
  kind: "read",
  path,
  text,
  sha256: sha256Of(text),
  textSha256: sha256Of(text),
  extractor: "utf8/1",
  locator: null,
  bytes: Buffer.byteLength(text),
  charsFull: [...text].length,
  charsReturned: [...text].length,
  truncated: false,
});

/** A folder of documents whose search finds all of them, and whose index knows what they supersede. */
export const sourcesOf = (documents: Documents): CheckSources => ({
  listPaths: () => Promise.resolve(Object.keys(documents)),
  listPathsNow: () => Promise.resolve({ paths: Object.keys(documents), isWhole: true }),
  read: (path) => {
    const text = documents[path];
    return Promise.resolve(
      text === undefined
        ? { kind: "refused", code: "FILE_NOT_FOUND", message: `${path} is not there.` }
        : readingOf(path, text),
    );
  },
  search: (_query, limit) =>
    Promise.resolve(
      Object.entries(documents)
        .map(([path, text]): Passage => spanPassage(readingOf(path, text), 0, text.length))
        .slice(0, limit),
    ),
  versions: (paths) => {
    const newer = newerVersionFinder(
      Object.entries(documents).map(([path, text]) => ({
        path,
        supersedes: supersededPaths(path, parseFrontmatter(text).supersedes),
      })),
    );
    return Promise.resolve(new Map(paths.map((path) => [path, { newer: newer(path) }])));
  },
});

/** A claim as an answer stores it, graded by the rules. */
export function claimOf(
  number: number,
  text: string,
  cites: readonly number[],
  { evidence, task }: { readonly evidence: readonly CitableBlock[]; readonly task: string },
): CheckedClaim {
  const [graded] = gradeClaims([{ text, cites }], evidence, { question: task });
  if (graded === undefined) throw new Error("no claim was graded");
  const { grade, reason, arithmetic, place, checks } = graded;
  const block = evidence.find((one) => one.number === place?.number);
  const carrier =
    place === null || block === undefined
      ? null
      : sliceCodePoints(
          block.text,
          place.startChar - block.startChar,
          place.endChar - block.startChar,
        );
  const claim: ClaimRecord = {
    ...{ draft: 0, text, cites, quote: null, grade, reason, arithmetic, span: place, carrier },
    ...{ fate: "kept", stands: true, otherSpans: [], checks },
  };
  return { number, text, claim };
}

export const SETTINGS: RuleSettings = { negative: "auto", newestWins: true, mostMembers: 200 };

type Asked = {
  readonly task?: string;
  readonly settings?: Partial<RuleSettings>;
  /** Documents as they are when the checks run. */
  readonly now?: Documents;
};

/** Checks statements that all cite the first document. */
export function checkStatements(
  documents: Documents,
  statements: readonly string[],
  { task = "", settings = {}, now = documents }: Asked = {},
): Promise<RuleFindings> {
  const evidence = Object.entries(documents)
    .slice(0, 1)
    .map(([path, text]) => blockOf(1, path, text));
  const claims = statements.map((text, at) => claimOf(at + 1, text, [1], { evidence, task }));
  return checkByRules(
    { task, claims, evidence },
    sourcesOf(now),
    { ...SETTINGS, ...settings },
    new AbortController().signal,
  );
}

/** The state of a rule for one statement; null where it does not fire. */
export async function stateOf(
  rule: string,
  documents: Documents,
  statement: string,
  asked: Asked = {},
): Promise<string | null> {
  const { checks } = await checkStatements(documents, [statement], asked);
  return checks.find((check) => check.rule === rule)?.state ?? null;
}
