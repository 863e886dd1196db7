import { expect, test } from "@jest/globals";
import { checkByRules } from "../../../../src/worker/verify/checks/rule-checks.ts";
import { readClaims, splitOf } from "../../../corpora/claims/read-claims.ts";
import { blockOf } from "../support-world.ts";
import { claimOf, SETTINGS, sourcesOf } from "./rules-world.ts";

test("at most one good claim in a hundred is said to be wrong by a rule, with what it cites as the only files", async () => {
  const { passages, claims } = readClaims();
  const good = claims.filter((one) => one.verdict === "good" && splitOf(one) === "tune");
  const wrong: string[] = [];
  for (const { id, claim, passages: ids } of good) {
    const evidence = ids.flatMap((wanted, at) => {
      const passage = passages.find((one) => one.id === wanted);
      return passage === undefined ? [] : [blockOf(at + 1, passage.path, passage.text)];
    });
    const documents = Object.fromEntries(evidence.map(({ path, text }) => [path, text]));
    const cites = evidence.map(({ number }) => number);
    const { checks } = await checkByRules(
      { task: "", claims: [claimOf(1, claim, cites, { evidence, task: "" })], evidence },
      sourcesOf(documents),
      SETTINGS,
      new AbortController().signal,
    );
    for (const { rule, state, detail } of checks)
      if (state === "no") wrong.push(`${id} ${rule}: ${claim} (${detail})`);
  }
  if (process.env["SHOW_RULES"] !== undefined)
    process.stdout.write(`${good.length} good\n${wrong.join("\n")}\n`);
  expect(wrong.length).toBeLessThanOrEqual(good.length / 100);
}, 120_000);
