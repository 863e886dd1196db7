// How the rules grade statements about passages that state nothing: denied by a heading, asked, open, struck out, an option, an
// example, hearsay (tests/corpora/frames). By frame: bad and good ones supported, good ones unsupported.
// node --import ./bench/register.js bench/framed-claims.ts [--kept] [--show]
import { parseArgs } from "node:util";
import { gradeClaims } from "../src/worker/verify/claims/grade.ts";
import { readFramed } from "../tests/corpora/frames/read-framed.ts";
import { pieceOf } from "../tests/worker/verify/claims/pieces-of.ts";

const { values: flags } = parseArgs({
  options: { kept: { type: "boolean", default: false }, show: { type: "boolean", default: false } },
});

const tally = new Map<string, Record<string, number>>();
for (const { claim, passage } of readFramed()) {
  if (passage.kept !== flags.kept) continue;
  const { claim: text, verdict } = claim;
  const [graded] = gradeClaims([{ text, cites: [1] }], [pieceOf(passage.path, passage.text)], {
    question: "",
  });
  const key = `${verdict} ${graded?.grade ?? ""}`;
  for (const group of [passage.frame, "all"]) {
    const counts = tally.get(group) ?? {};
    counts[key] = (counts[key] ?? 0) + 1;
    tally.set(group, counts);
  }
  if (flags.show && (key === "bad supported" || key === "good unsupported")) {
    console.log(`${passage.frame} ${passage.id} ${key} (${graded?.reason ?? ""}): ${text}`);
  }
}

console.log("frame            bad: supported of all   good: supported, unsupported of all");
for (const [group, counts] of [...tally].sort()) {
  const of = (key: string): number => counts[key] ?? 0;
  const all = (verdict: string): number =>
    of(`${verdict} supported`) + of(`${verdict} unconfirmed`) + of(`${verdict} unsupported`);
  console.log(
    `${group.padEnd(16)} ${of("bad supported")} of ${all("bad")}`.padEnd(40),
    `${of("good supported")}, ${of("good unsupported")} of ${all("good")}`,
  );
}
