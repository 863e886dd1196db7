// How the rules grade the labelled claims of tests/corpora/claims: by kind and by language how many are supported,
// unconfirmed and unsupported without a judge, in per cent with Wilson 95 % intervals, and how long it takes. The third that is chosen by hash, which
// was kept until its errors were read, is run with --kept; of the other two thirds --part shows a validation third or the rest.
// --second-kept is another set: a third of it, by the same hash, is kept (with --kept), and the errors of the rest may be read.
// node --import ./bench/register.js bench/gate-claims.ts [--without RULE,…] [--ablation] [--part tune|check] [--items KIND] [--kept] [--second-kept] [--wrapped WIDTH]
import { createHash } from "node:crypto";
import { parseArgs } from "node:util";
import { CLAIM_RULES, gradeClaims } from "../src/worker/verify/claims/grade.ts";
import type { ClaimRule, GradedClaim } from "../src/worker/verify/claims/grade.ts";
import type { ClaimGrade } from "../src/shared/job/run-result.ts";
import type { CitableBlock } from "../src/worker/evidence/number.ts";
import { readClaims, splitOf } from "../tests/corpora/claims/read-claims.ts";
import type { LabelledClaim, Passage } from "../tests/corpora/claims/read-claims.ts";
import { pieceOf } from "../tests/worker/verify/claims/pieces-of.ts";
import { wilson } from "../src/shared/wilson.ts";

const { values: flags } = parseArgs({
  options: {
    without: { type: "string", default: "" },
    ablation: { type: "boolean", default: false },
    part: { type: "string" },
    items: { type: "string" },
    kept: { type: "boolean", default: false },
    "second-kept": { type: "boolean", default: false },
    wrapped: { type: "string" },
  },
});

type Judged = {
  readonly claim: LabelledClaim;
  readonly language: string;
  readonly graded: GradedClaim;
};

const { passages, claims } = readClaims(flags["second-kept"] ? "second-kept" : "");
const passageOf = new Map(passages.map((passage) => [passage.id, passage]));
const blockOf = new Map(passages.map((passage) => [passage.id, toBlock(passage)]));

function toBlock({ path, text }: Passage): CitableBlock {
  return pieceOf(path, flags.wrapped === undefined ? text : wrap(text, Number(flags.wrapped)));
}

/** As mails and columns of a PDF have it: lines of prose and items are broken at a blank; headings and rows of tables stay. */
function wrap(text: string, width: number): string {
  const wrapLine = (line: string): string => {
    if (/^(?:#|\||---|```)/.test(line)) return line;
    const under = /^\s*(?:[-*+]|\d+[.)])\s+/.exec(line)?.[0].length ?? 0;
    let at = 0;
    return line.split(" ").reduce((wrapped, word) => {
      const isFull = at > under && at + 1 + word.length > width;
      at = isFull ? under + word.length : at + (at === 0 ? 0 : 1) + word.length;
      return wrapped === "" ? word : `${wrapped}${isFull ? `\n${" ".repeat(under)}` : " "}${word}`;
    }, "");
  };
  return text.split("\n").map(wrapLine).join("\n");
}

/** A third of what may be tuned on, by another hash: rules are not written against it. */
const partOf = ({ passages: [first = ""] }: LabelledClaim): "tune" | "check" =>
  BigInt(`0x${createHash("sha256").update(`second ${first}`).digest("hex")}`) % 3n === 0n
    ? "check"
    : "tune";

const chosen = claims.filter(
  (claim) =>
    splitOf(claim) === (flags.kept ? "final" : "tune") &&
    (flags.part === undefined || partOf(claim) === flags.part),
);

const judgeAll = (rules: ReadonlySet<ClaimRule>): Judged[] =>
  chosen.map((claim) => {
    const blocks = claim.passages.flatMap((id) => blockOf.get(id) ?? []);
    const evidence = blocks.map((block, at) => (at === 0 ? block : numbered(block, at + 1)));
    const cites = evidence.map(({ number }) => number);
    const [graded] = gradeClaims([{ text: claim.claim, cites }], evidence, {
      question: "",
      rules,
    });
    if (graded === undefined) throw new Error(`no grade for ${claim.id}`);
    return { claim, language: passageOf.get(claim.passages[0] ?? "")?.language ?? "", graded };
  });

const copies = new Map<CitableBlock, CitableBlock>();
function numbered(block: CitableBlock, number: number): CitableBlock {
  const copy = copies.get(block) ?? { ...block, number };
  copies.set(block, copy);
  return copy;
}

const GRADES: readonly ClaimGrade[] = ["supported", "unconfirmed", "unsupported"];

function printGroups(title: string, all: readonly Judged[], keyOf: (one: Judged) => string): void {
  const groups = groupBy(all, keyOf);
  console.log(`\n${title.padEnd(22)}    n  ${GRADES.map((grade) => grade.padEnd(24)).join("")}`);
  for (const [key, members] of [...groups].sort(([one], [other]) => (one < other ? -1 : 1))) {
    printRow(key, members);
  }
  printRow("all", all);
}

function printRow(name: string, members: readonly Judged[]): void {
  const columns = GRADES.map((grade) => shareOf(members, grade).padEnd(24));
  console.log(`${name.padEnd(22)} ${String(members.length).padStart(4)}  ${columns.join("")}`);
}

function shareOf(members: readonly Judged[], grade: ClaimGrade): string {
  const hits = members.filter(({ graded }) => graded.grade === grade).length;
  const { low, high } = wilson(hits, members.length);
  const percent = (share: number): string => (share * 100).toFixed(1);
  return `${hits} ${percent(hits / members.length)} [${percent(low)}-${percent(high)}]`;
}

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

const isGood = ({ claim }: Judged): boolean => claim.verdict === "good";

function printAll(all: readonly Judged[]): void {
  const good = all.filter(isGood);
  const bad = all.filter((one) => !isGood(one));
  printGroups("bad by kind", bad, ({ claim }) => claim.kind);
  printGroups("bad by language", bad, ({ language }) => language);
  printGroups("good by kind", good, ({ claim }) => claim.kind);
  printGroups("good by language", good, ({ language }) => language);
  printRow(
    "good, same language",
    good.filter(({ claim }) => claim.kind !== "translated"),
  );
  const reasons = groupBy(all, ({ graded }) => `${graded.grade} ${graded.reason}`);
  console.log("\nreasons, good and bad");
  for (const [reason, members] of [...reasons].sort()) {
    const right = members.filter(isGood).length;
    console.log(
      `${reason.padEnd(26)} ${String(right).padStart(4)} ${String(members.length - right).padStart(4)}`,
    );
  }
}

/** What each rule brings: the rates with it taken out. */
function printAblation(): void {
  console.log(
    "taken out              bad supported  bad unsupported  good supported  good unsupported, %",
  );
  const print = (name: string, all: readonly Judged[]): void => {
    const rate = (verdict: string, grade: ClaimGrade): string => {
      const members = all.filter(({ claim }) => claim.verdict === verdict);
      const hits = members.filter(({ graded }) => graded.grade === grade).length;
      return ((hits / members.length) * 100).toFixed(1).padStart(15);
    };
    const rates = (["bad", "good"] as const).flatMap((verdict) =>
      (["supported", "unsupported"] as const).map((grade) => rate(verdict, grade)),
    );
    console.log(`${name.padEnd(20)}${rates.join(" ")}`);
  };
  print("nothing", judgeAll(new Set(CLAIM_RULES)));
  for (const rule of CLAIM_RULES) {
    print(rule, judgeAll(new Set(CLAIM_RULES.filter((name) => name !== rule))));
  }
}

/** 35 claims of some 500 words against pieces of 40,000 characters. */
function printTimes(): void {
  const english = passages.filter(({ language }) => language === "en");
  const pieces = (): CitableBlock[] => {
    let chars = 0;
    return english.flatMap((passage, at) => {
      chars += chars < 40_000 ? passage.text.length : Number.POSITIVE_INFINITY;
      return chars <= 42_000 ? [numberedPiece(passage, at + 1)] : [];
    });
  };
  const evidence = pieces();
  const ids = new Map(english.map(({ id }, at) => [id, at + 1]));
  const shown = claims.filter(({ passages: [id = ""] }) => (ids.get(id) ?? 99) <= evidence.length);
  const asked = everyNth(
    shown.filter((claim) => splitOf(claim) === "tune"),
    35,
  ).map((claim) => ({
    text: claim.claim,
    cites: claim.passages.flatMap((id) => ids.get(id) ?? []),
  }));
  const words = asked.reduce((sum, { text }) => sum + text.split(" ").length, 0);
  const chars = evidence.reduce((sum, { text }) => sum + text.length, 0);
  const once = (blocks: readonly CitableBlock[]): number => {
    const startedAt = performance.now();
    gradeClaims(asked, blocks, { question: "" });
    return performance.now() - startedAt;
  };
  const all = asked.map(({ text }) => ({ text, cites: evidence.map(({ number }) => number) }));
  const first = Math.min(...Array.from({ length: 5 }, () => once(pieces())));
  const warm = Math.min(...Array.from({ length: 5 }, () => once(evidence)));
  const startedAt = performance.now();
  gradeClaims(all, evidence, { question: "" });
  const wide = performance.now() - startedAt;
  console.log(
    `\n${asked.length} claims of ${words} words against ${chars} characters: ${first.toFixed(0)} ms with the first reading, ` +
      `${warm.toFixed(0)} ms warm, ${wide.toFixed(0)} ms where each cites all ${evidence.length} pieces`,
  );
}

const numberedPiece = (passage: Passage, number: number): CitableBlock => ({
  ...toBlock(passage),
  number,
});

const everyNth = <T>(all: readonly T[], count: number): T[] =>
  Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)]).filter(
    (one) => one !== undefined,
  );

function printItems(all: readonly Judged[], kind: string): void {
  const [verdict = "", of = ""] = kind.split("/");
  for (const { claim, graded } of all) {
    if (claim.verdict !== verdict || (of !== "" && claim.kind !== of)) continue;
    const failed = graded.checks
      .filter((check) => check.verdict === "fail")
      .map((check) => `${check.rule}: ${check.detail}`);
    console.log(
      `${graded.grade} ${graded.reason} ${claim.id} ${claim.claim} {${failed.join("; ")}}`,
    );
  }
}

if (flags.kept && flags.items !== undefined)
  throw new Error("the kept third is never read: --items goes without --kept");
if (flags.ablation) printAblation();
else {
  const without = new Set(flags.without.split(","));
  const judged = judgeAll(new Set(CLAIM_RULES.filter((rule) => !without.has(rule))));
  if (flags.items === undefined) {
    printAll(judged);
    printTimes();
  } else printItems(judged, flags.items);
}
