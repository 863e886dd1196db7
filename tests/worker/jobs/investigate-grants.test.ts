import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { RunAborted } from "../../../src/shared/job/settlement.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { openGrant } from "../../../src/shared/store/investigations/grants.ts";
import type { Grant } from "../../../src/shared/store/investigations/grants.ts";
import type { ClaimedJob } from "../../../src/shared/store/jobs/claim-job.ts";
import { SHIPPED_PRESETS, TOOL_EFFECTS } from "../../../src/shared/config/tool-presets.ts";
import { reachOf } from "../../../src/worker/jobs/investigate/reach.ts";
import { openRecord } from "../../../src/worker/jobs/investigate/record.ts";
import { openStepLog } from "../../../src/worker/jobs/investigate/step-log.ts";
import { useTool } from "../../../src/worker/jobs/investigate/use-tool.ts";
import { NO_WEB } from "../../../src/worker/web/open-web.ts";
import { NO_MCP } from "../../../src/worker/mcp-client/definition.ts";
import { TOOLS } from "../../../src/worker/tools/all-tools.ts";
import { outputOf } from "../../../src/worker/tools/tool.ts";
import { askJob, claimNext, expireLease, openBatchOf } from "../../conformance/jobs.ts";
import { databases, startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { settleInvestigation } from "../../support/investigated-job.ts";
import { passageOf, worldOf } from "../../support/pipeline-world.ts";

const NO_SHELL = {
  admitFiles: async () => ({ kind: "admitted", files: [] }) as const,
  shell: null,
  mcp: { reach: () => NO_MCP },
};
const FILES = {
  "notes/a.md": "Rope in notes.",
  "notes/deep/b.md": "Rope deeper.",
  "notes-old/c.md": "Rope of old.",
  "secret/d.md": "Rope secret.",
};
const PATHS = Object.keys(FILES);
const PASSAGES = Object.entries(FILES).map(([path, text]) => passageOf(path, text));

/** What may have become of the job before the call. */
const HOLDERS = [
  "own",
  "own",
  "own",
  "own",
  "grant_ended",
  "no_grant",
  "lease_lost",
  "settled",
  "forged_run",
  "run_of_another",
] as const;
type Holder = (typeof HOLDERS)[number];

type Case = {
  readonly preset: string;
  readonly root: string | null;
  readonly holder: Holder;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
};

const tricky = fc.constantFrom(
  ...PATHS,
  ...["/etc/passwd", "../secret/d.md", "notes/../secret/d.md", "notes", "notes-old", "", "\u0000"],
);
const goodArgs: Readonly<Record<string, fc.Arbitrary<Readonly<Record<string, unknown>>>>> = {
  read_text_file: fc.record({ path: tricky }),
  search_index: fc.record({ query: fc.constantFrom("Rope", "x") }),
  list_files: fc.constant({}),
  search_text: fc.record({ text: fc.constantFrom("Rope", "secret") }),
  // Numbers of steps that are not there, or of somebody else.
  read_artifact: fc.record({ step: fc.constantFrom(1, 2, 7, 1_000_000) }),
  note: fc.record({ text: fc.constantFrom("found", "x") }),
  calculate: fc.record({ expression: fc.constantFrom("1 + 1", "2 * 3") }),
};
/** `constructor` and `__proto__` are names that a model may write. */
const argsOf = (tool: string): fc.Arbitrary<Readonly<Record<string, unknown>>> =>
  (Object.hasOwn(goodArgs, tool) ? goodArgs[tool] : undefined) ?? badArgs;
const badArgs: fc.Arbitrary<Readonly<Record<string, unknown>>> = fc.oneof(
  fc.constant({}),
  fc.record({ path: fc.integer() }),
  fc.record({ path: fc.constant("notes/a.md"), grant_id: fc.uuid(), run_id: fc.uuid() }),
  fc.record({ step: fc.constantFrom(-1, 0, 1.5, "1") }),
  fc.dictionary(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }), { maxKeys: 3 }),
);
const unknownTools = fc.constantFrom(
  ...["shell", "web_fetch", "READ_TEXT_FILE", "read_text_file ", "", "__proto__", "constructor"],
);
const cases: fc.Arbitrary<Case> = fc
  .oneof({ weight: 5, arbitrary: fc.constantFrom(...TOOLS.names) }, unknownTools)
  .chain((tool) =>
    fc.record({
      preset: fc.constantFrom(...Object.keys(SHIPPED_PRESETS)),
      root: fc.constantFrom(null, "notes", "nowhere"),
      holder: fc.constantFrom(...HOLDERS),
      tool: fc.constant(tool),
      args: fc.oneof({ weight: 3, arbitrary: argsOf(tool) }, badArgs),
    }),
  );

/** Set NIGHTDESK_SEED to repeat a failure. */
const seed = Number(process.env["NIGHTDESK_SEED"] ?? randomBytes(4).readInt32BE());
const RUNS = 120;

const liesWithin = (path: string, root: string | null): boolean =>
  root === null || path.startsWith(`${root}/`);

describe.each(databases)("the broker on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let other: ClaimedJob;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    other = await claim();
    await openGrant(db, other, grantOf("readonly_context", null));
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const grantOf = (preset: string, root: string | null) => ({
    preset,
    presetSha256: "a".repeat(64),
    tools: [...(SHIPPED_PRESETS[preset] ?? [])],
    roots: root === null ? [] : [root],
    limits: { maxSteps: 10, maxCalls: 5, maxTokens: 1_000, maxSeconds: 60 },
  });

  async function claim(): Promise<ClaimedJob> {
    const { jobIds } = await openBatchOf(db, [
      askJob("look", { input: { kind: "investigate", task: "Look." } }),
    ]);
    return claimNext(db, jobIds[0] ?? "");
  }

  /** Brings the job into the state of the case. @returns who makes the call */
  async function prepare(run: ClaimedJob, holder: Holder): Promise<string> {
    const { jobId, runId } = run;
    switch (holder) {
      case "own":
        return runId;
      case "grant_ended":
        await db.query("update nightdesk_data.grants set ended_at = now() where job_id = $1", [
          jobId,
        ]);
        return runId;
      case "no_grant":
        await db.query("delete from nightdesk_data.grants where job_id = $1", [jobId]);
        return runId;
      case "lease_lost":
        await expireLease(db, jobId);
        return runId;
      case "settled":
        await settleInvestigation(db, run);
        return runId;
      case "forged_run":
        return randomUUID();
      case "run_of_another":
        return other.runId;
    }
  }

  async function rowsOf(jobId: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { rows } = await db.query(
      "select ordinal, kind, tool, state, error_code, detail from nightdesk.steps where job_id = $1 order by ordinal",
      [jobId],
    );
    return rows as Readonly<Record<string, unknown>>[];
  }

  test(`allows exactly what the grant says (seed ${seed})`, async () => {
    const outcomes = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        const outcome = await check(given);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }),
      { seed, numRuns: RUNS },
    );
    // A walk that never got anything through, or never met a refusal, would show nothing.
    expect([...outcomes.keys()]).toEqual(
      expect.arrayContaining(["ran", "unknown", "bad_arguments", "lost"]),
    );
  }, 120_000);

  async function check({ preset, root, holder, tool, args }: Case): Promise<string> {
    const run = await claim();
    const opened = await openGrant(db, run, grantOf(preset, root));
    if (opened === undefined) throw new Error("no grant");
    const runId = await prepare(run, holder);
    const called = await call({ jobId: run.jobId, runId }, opened, { name: tool, args });
    const rows = await rowsOf(run.jobId);
    const steps = rows.filter(({ kind }) => kind === "tool");
    const granted = TOOLS.tools.find((known) => known.name === tool && opened.tools.includes(tool));
    const fits = granted?.args.safeParse(args).success === true;
    const isRight = holder === "own" && granted !== undefined && fits;

    // The tool was run if, and only if, the grant, the run, the lease and the arguments allow it.
    expect({ ran: called.ran, rows: steps.length }).toEqual(
      isRight ? { ran: [tool], rows: 1 } : { ran: [], rows: 0 },
    );
    for (const path of called.touched) expect([path, liesWithin(path, root)]).toEqual([path, true]);
    expect(await rowsOf(other.jobId)).toEqual([]);
    if (["lease_lost", "settled", "forged_run", "run_of_another"].includes(holder)) {
      // Nobody but the job's present run writes a row, not even about what was not allowed.
      expect([called.ended, rows.length]).toEqual(["lost", 0]);
      return "lost";
    }
    expect(called.ended).toBe("told");
    if (isRight) return "ran";
    expect(rows).toHaveLength(1);
    const rule = (rows[0]?.["detail"] as { rule?: string } | undefined)?.rule;
    if (granted === undefined) {
      expect(rule).toBe("not_granted");
      return Object.hasOwn(TOOL_EFFECTS, tool) ? "hidden" : "unknown";
    }
    if (!fits) {
      expect(rule).toBe("bad_arguments");
      return "bad_arguments";
    }
    expect(rule).toBe(holder === "grant_ended" ? "ended" : "no_grant");
    return holder;
  }

  /** One call through the broker, with everything that a tool touched on the way. */
  async function call(
    writer: { readonly jobId: string; readonly runId: string },
    grant: Grant,
    wanted: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
  ) {
    const ran: string[] = [];
    const touched: string[] = [];
    const log = openStepLog(db, writer, { keepDays: 14, batchBytes: 1_000_000 });
    const record = openRecord([]);
    const world = {
      ...worldOf({ files: FILES, passages: PASSAGES, models: [] }),
      listPaths: async () => PATHS,
      web: NO_WEB,
      ...NO_SHELL,
    };
    const { signal } = new AbortController();
    const reach = reachOf(grant, world, { log, record, task: "" }, signal);
    const tools = TOOLS.tools
      .filter(({ name }) => grant.tools.includes(name))
      .map((tool) => ({
        ...tool,
        run: (args: object, within: typeof reach) => {
          ran.push(tool.name);
          return tool.run(args, {
            ...within,
            async readFile(path) {
              const reading = await within.readFile(path);
              if (reading.kind === "read") touched.push(reading.path);
              return reading;
            },
            async listFiles() {
              const paths = await within.listFiles();
              touched.push(...paths);
              return paths;
            },
            async search(request) {
              const found = await within.search(request);
              touched.push(...found.passages.map(({ path }) => path));
              return found;
            },
          });
        },
      }));
    const settings = { unattended: "park", approval_hours: 1 } as const;
    const use = {
      grant,
      tools,
      reach,
      record,
      log,
      settings,
      signal,
      trace: { mayTake: () => undefined },
    };
    const ended = await useTool(use, wanted).then(
      () => "told",
      (error: unknown) => {
        if (error instanceof RunAborted) return "lost";
        throw error;
      },
    );
    return { ran, touched, ended };
  }

  test("keeps head and tail where the batch has no room, and the step says so", async () => {
    const long = `first ${"word ".repeat(4_000)} last`;
    for (const [batchBytes, isCut] of [
      [1_000_000, false],
      [5_000, true],
    ] as const) {
      const run = await claim();
      const grant = await openGrant(db, run, grantOf("readonly_safe", null));
      if (grant === undefined) throw new Error("no grant");
      const log = openStepLog(db, run, { keepDays: 14, batchBytes });
      const record = openRecord([]);
      const tools = TOOLS.tools
        .filter((tool) => tool.name === "list_files")
        .map((tool) => ({ ...tool, run: async () => outputOf(long) }));
      const { signal } = new AbortController();
      const world = {
        ...worldOf({ models: [] }),
        listPaths: async () => [],
        web: NO_WEB,
        ...NO_SHELL,
      };
      const reach = reachOf(grant, world, { log, record, task: "" }, signal);
      const settings = { unattended: "park", approval_hours: 1 } as const;
      const use = {
        grant,
        tools,
        reach,
        record,
        log,
        settings,
        signal,
        trace: { mayTake: () => undefined },
      };
      await useTool(use, { name: "list_files", args: {} });
      const stored = (await log.load())[0];
      const text = record.steps[0]?.tool?.output?.text ?? "";
      // A run that goes on later sees what this one saw.
      expect(openRecord(await log.load()).steps[0]?.tool?.output?.text).toBe(text);
      expect(text === long).toBe(!isCut);
      expect(text.startsWith("first ") && text.endsWith(" last")).toBe(true);
      expect(text.includes("characters were not kept")).toBe(isCut);
      expect(stored?.detail["cut"]).toEqual(
        isCut ? expect.stringContaining(`result of ${long.length} characters`) : undefined,
      );
      const { rows } = await db.query(
        `select o.cut, o.bytes < 12000 as is_small from nightdesk_data.batch_outputs o
           join nightdesk_data.jobs using (batch_id) where job_id = $1`,
        [run.jobId],
      );
      expect(rows).toEqual([{ cut: isCut ? 1 : 0, is_small: isCut }]);
    }
  });
});
