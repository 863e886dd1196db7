import { expect, test } from "@jest/globals";
import { checkByRules, coverageNote } from "../../../../src/worker/verify/checks/rule-checks.ts";
import { LONGEST_TURN_MS, timeTakenBy } from "../../../support/time-taken.ts";
import { blockOf } from "../support-world.ts";
import { checkStatements, claimOf, SETTINGS, sourcesOf } from "./rules-world.ts";

const contractsOf = (
  count: number,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> => ({
  ...Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `contracts/partner-${String(at).padStart(3, "0")}.md`,
      `# Contract ${at}\n\nThe partner delivers on Monday. The fee is ${100 + at} EUR a month.`,
    ]),
  ),
  "notes/garden.md": "# Garden\n\nA penalty is due for dogs.",
  ...more,
});

const TASK = "Does any of the contracts mention a penalty?";
const CLAIM = "None of the contracts mentions a penalty.";

test("a negative claim is true where all members of its set were read and none holds its words", async () => {
  const { checks, coverage } = await checkStatements(contractsOf(41), [CLAIM], { task: TASK });
  expect(coverage).toEqual([
    { claim: 1, setQuery: "files below contracts/", members: 41, read: 41, candidates: [] },
  ]);
  expect(checks[0]).toMatchObject({ rule: "coverage", state: "yes" });
  expect(coverage.map(coverageNote)).toEqual(["41 of 41 files below contracts/ were read."]);
  const one = { setQuery: "files below contracts/", members: 1, read: 1 };
  expect(coverage.map((row) => coverageNote({ ...row, ...one }))).toEqual([
    "1 of 1 files below contracts/ was read.",
  ]);
});

test("a member that holds the words of a negative claim is left for somebody to look at", async () => {
  const odd = {
    "contracts/z-olsen.md": "# Olsen\n\nLate delivery is subject to penalties of 5 %.",
  };
  const { checks, coverage } = await checkStatements(contractsOf(10, odd), [CLAIM], { task: TASK });
  expect(coverage[0]?.candidates).toEqual(["contracts/z-olsen.md"]);
  expect(checks[0]).toMatchObject({ rule: "coverage", state: "open" });
  expect(checks[0]?.detail).toContain("contracts/z-olsen.md");
});

test("a member in another language is a candidate, for its words are others", async () => {
  const odd = {
    "contracts/z.md":
      "# Vertrag\n\nDer Lieferant zahlt bei Verzug eine Strafe, und der Vertrag ist für beide verbindlich.",
  };
  const { coverage } = await checkStatements(contractsOf(10, odd), [CLAIM], { task: TASK });
  expect(coverage[0]?.candidates).toEqual(["contracts/z.md"]);
});

test("beyond the most members a set is not covered", async () => {
  const { checks, coverage } = await checkStatements(contractsOf(12), [CLAIM], {
    task: TASK,
    settings: { mostMembers: 5 },
  });
  expect(coverage[0]).toMatchObject({ members: 12, read: 5 });
  expect(checks[0]?.state).toBe("unknown");
});

test("a member that can't be read leaves a set without coverage", async () => {
  const documents = contractsOf(3);
  const sources = sourcesOf(documents);
  const evidence = [
    blockOf(1, "contracts/partner-000.md", documents["contracts/partner-000.md"] ?? ""),
  ];
  const { checks, coverage } = await checkByRules(
    { task: TASK, claims: [claimOf(1, CLAIM, [1], { evidence, task: TASK })], evidence },
    {
      ...sources,
      listPathsNow: () =>
        Promise.resolve({ paths: [...Object.keys(documents), "contracts/zz.md"], isWhole: true }),
    },
    SETTINGS,
    new AbortController().signal,
  );
  expect(coverage[0]).toMatchObject({ members: 4, read: 3 });
  expect(checks.find(({ rule }) => rule === "coverage")).toMatchObject({ state: "unknown" });
});

const coverageOf = async (listed: {
  readonly paths: readonly string[];
  readonly isWhole: boolean;
}): Promise<object | undefined> => {
  const documents = contractsOf(3);
  const evidence = [
    blockOf(1, "contracts/partner-000.md", documents["contracts/partner-000.md"] ?? ""),
  ];
  const { checks } = await checkByRules(
    { task: TASK, claims: [claimOf(1, CLAIM, [1], { evidence, task: TASK })], evidence },
    { ...sourcesOf(documents), listPathsNow: () => Promise.resolve(listed) },
    SETTINGS,
    new AbortController().signal,
  );
  return checks.find(({ rule }) => rule === "coverage");
};

test("members are counted in the folders as they are now, and not in an older listing", async () => {
  const paths = Object.keys(contractsOf(3));
  expect(await coverageOf({ paths, isWhole: true })).toMatchObject({ state: "yes" });
  expect(await coverageOf({ paths: paths.slice(0, 1), isWhole: true })).toMatchObject({
    detail: expect.stringContaining("1 of 1"),
  });
});

test("where not all files are listed nothing can be counted", async () => {
  const paths = Object.keys(contractsOf(3));
  expect(await coverageOf({ paths, isWhole: false })).toMatchObject({
    state: "unknown",
    detail: expect.stringContaining("more files than are listed"),
  });
});

test("two hundred small members take less than 200 ms", async () => {
  const documents = contractsOf(200);
  await checkStatements(documents, [CLAIM], { task: TASK });
  const tookMs = await timeTakenBy(async () => {
    const { coverage } = await checkStatements(documents, [CLAIM], { task: TASK });
    expect(coverage[0]?.read).toBe(200);
  }, LONGEST_TURN_MS);
  expect(tookMs).toBeLessThan(LONGEST_TURN_MS);
});

test("an aborted signal ends the checks", async () => {
  const aborted = AbortSignal.abort(new Error("stop"));
  const run = checkByRules(
    { task: "", claims: [claimOf(1, CLAIM, [1], { evidence: [], task: "" })], evidence: [] },
    sourcesOf({}),
    SETTINGS,
    aborted,
  );
  await expect(run).rejects.toThrow("stop");
});
