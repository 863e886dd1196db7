// What the gate and the checks make of good and bad answers of tests/corpora, by the default configuration: how many of
// the good are refused, how many of the bad accepted, with Wilson 95 % intervals. The third that is chosen by hash is run
// with --held-out alone, and is for the end of a round of work.
// node --import ./bench/register.js bench/gate.ts [--held-out] [--items] [--json]
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadConfig } from "../src/shared/config/load-config.ts";
import { playAnswer, type Played } from "../tests/corpora/play-answer.ts";
import { type CorpusAnswer, isHeldOut, readAnswers } from "../tests/corpora/read-corpora.ts";
import { testOffload } from "../tests/worker/offload/test-offload.ts";
import { wilson } from "../src/shared/wilson.ts";

type Validated = { readonly item: CorpusAnswer; readonly played: Played };

/** Of the items of one verdict, kind or language. */
type Tally = {
  readonly items: number;
  readonly accepted: number;
  /** Of the accepted: with a statement that is marked. */
  readonly marked: number;
  readonly refused: number;
  readonly wrong: number;
  /** How often each code was given to them. */
  readonly codes: Readonly<Record<string, number>>;
};

type Rate = { readonly wrong: number; readonly of: number } & Readonly<
  Record<"rate" | "low" | "high", number>
>;

const { values: flags } = parseArgs({
  options: {
    "held-out": { type: "boolean", default: false },
    items: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

async function judgeAll(items: readonly CorpusAnswer[]): Promise<Validated[]> {
  const packageRoot = resolve(import.meta.dirname, "..");
  const settings = await loadConfig({
    flags: { config: resolve(packageRoot, "configs/default.yaml"), workroot: tmpdir() },
    env: {},
    cwd: packageRoot,
    packageRoot,
  });
  const offload = testOffload();
  const results: Validated[] = [];
  for (const item of items) {
    results.push({ item, played: await playAnswer(item, settings, offload) });
  }
  return results;
}

function reportOf(all: readonly Validated[]) {
  const good = all.filter(({ item }) => item.verdict === "good");
  const bad = all.filter(({ item }) => item.verdict === "bad");
  return {
    part: flags["held-out"] ? "held out" : "tuning",
    false_refusal: rateOf(good),
    false_acceptance: rateOf(bad),
    unchecked: all.filter(({ played }) => !played.wasChecked).map(({ item }) => item.id),
    good: { by_kind: tallyBy(good, "kind"), by_lang: tallyBy(good, "lang") },
    bad: { by_kind: tallyBy(bad, "kind"), by_lang: tallyBy(bad, "lang") },
    ...(flags.items ? { wrong: all.filter(({ played }) => !played.isRight).map(describe) } : {}),
  };
}

const describe = ({ item: { id, kind }, played: { accepted, codes } }: Validated) => ({
  id,
  kind,
  verdict: accepted ? "accepted" : "refused",
  codes,
});

function tallyBy(all: readonly Validated[], key: "kind" | "lang"): Record<string, Tally> {
  const groups = new Map<string, Validated[]>();
  for (const one of all) groups.set(one.item[key], [...(groups.get(one.item[key]) ?? []), one]);
  return Object.fromEntries([...groups].map(([name, members]) => [name, tallyOf(members)]));
}

function tallyOf(members: readonly Validated[]): Tally {
  const codes: Record<string, number> = {};
  for (const code of members.flatMap(({ played }) => played.codes)) {
    codes[code] = (codes[code] ?? 0) + 1;
  }
  const accepted = members.filter(({ played }) => played.accepted).length;
  return {
    items: members.length,
    accepted,
    marked: members.filter(({ played }) => played.isMarked).length,
    refused: members.length - accepted,
    wrong: members.filter(({ played }) => !played.isRight).length,
    codes,
  };
}

function rateOf(members: readonly Validated[]): Rate {
  const wrong = members.filter(({ played }) => !played.isRight).length;
  return {
    wrong,
    of: members.length,
    rate: wrong / members.length,
    ...wilson(wrong, members.length),
  };
}

function print({
  part,
  false_refusal,
  false_acceptance,
  unchecked,
  good,
  bad,
  ...rest
}: ReturnType<typeof reportOf>): void {
  console.log(`answers of the ${part} part, default configuration`);
  printTallies("good answers by kind", good.by_kind);
  printTallies("good answers by language", good.by_lang);
  printTallies("bad answers by kind", bad.by_kind);
  printTallies("bad answers by language", bad.by_lang);
  console.log(`\nfalse refusal     ${shown(false_refusal)}`);
  console.log(`false acceptance  ${shown(false_acceptance)}`);
  if (unchecked.length > 0) console.log(`never checked: ${unchecked.join(", ")}`);
  for (const { id, kind, verdict, codes } of rest.wrong ?? []) {
    console.log(`${verdict} ${id.padEnd(12)} ${kind.padEnd(15)} ${codes.join(", ")}`);
  }
}

function printTallies(title: string, tallies: Readonly<Record<string, Tally>>): void {
  console.log(`\n${title.padEnd(26)} items accepted marked refused wrong  codes`);
  for (const [name, { items, accepted, marked, refused, wrong, codes }] of Object.entries(
    tallies,
  )) {
    const columns = [
      pad(items, 6),
      pad(accepted, 9),
      pad(marked, 7),
      pad(refused, 8),
      pad(wrong, 6),
    ].join("");
    const counts = Object.entries(codes).map(([code, count]) => `${code} ${count}`);
    console.log(`${name.padEnd(26)}${columns}  ${counts.join(", ")}`);
  }
}

const pad = (count: number, width: number): string => String(count).padStart(width);

const shown = ({ wrong, of, rate, low, high }: Rate): string =>
  `${percent(rate)} % [${percent(low)}, ${percent(high)}]  ${wrong} of ${of}`;

const percent = (share: number): string => (share * 100).toFixed(1);

const judged = await judgeAll(
  readAnswers().filter((item) => isHeldOut(item) === flags["held-out"]),
);
const report = reportOf(judged);
if (flags.json) console.log(JSON.stringify(report, null, 2));
else print(report);
