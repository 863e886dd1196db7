import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { openGrant, selectGrant } from "../../../src/shared/store/investigations/grants.ts";
import type { GrantLimits } from "../../../src/shared/store/investigations/grants.ts";
import { applyPolicies } from "../../../src/worker/jobs/investigate/policies.ts";
import { reachOf } from "../../../src/worker/jobs/investigate/reach.ts";
import { openRecord, sourcesOf } from "../../../src/worker/jobs/investigate/record.ts";
import type { InvestigationRecord } from "../../../src/worker/jobs/investigate/record.ts";
import { openStepLog } from "../../../src/worker/jobs/investigate/step-log.ts";
import { useTool } from "../../../src/worker/jobs/investigate/use-tool.ts";
import { NO_WEB } from "../../../src/worker/web/open-web.ts";
import { NO_MCP } from "../../../src/worker/mcp-client/definition.ts";
import { TOOLS } from "../../../src/worker/tools/all-tools.ts";
import { outputOf } from "../../../src/worker/tools/tool.ts";
import { askJob, claimNext, openBatchOf } from "../../conformance/jobs.ts";
import { databases, startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";
import { passageOf, worldOf } from "../../support/pipeline-world.ts";

const PAGES = ["https://a.example/1", "https://a.example/2"];
const LIMITS: GrantLimits = { maxSteps: 40, maxCalls: 20, maxTokens: 1_000, maxSeconds: 60 };
const DRIFT = {
  ...{ notesEvery: 9, sameQuery: 2, samePlace: 9, sources: 90, failures: 2 },
  noNewEvidence: 3,
};
const CALLS: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ["search_index", { query: "Rope renewals", path_prefix: "notes/" }],
  ["search_text", { text: "Rope" }],
  ["read_text_file", { path: "notes/a.md" }],
  ["read_text_file", { path: "notes/none.md" }],
  ["search_index", { query: "the renewal of a rope" }],
  ["web_search", { query: "ferries" }],
  ["list_files", {}],
  ["calculate", { expression: "1 + 1" }],
  ["note", { text: "Found [1]." }],
  ["read_text_file", { path: 7 }],
];

describe.each(databases)("the ledgers of an investigation on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  /** An investigation under a grant, with a way to make calls as its loop does. */
  async function open(limits: GrantLimits) {
    const { jobIds } = await openBatchOf(db, [
      askJob("look", { input: { kind: "investigate", task: "Look." } }),
    ]);
    const run = await claimNext(db, jobIds[0] ?? "");
    const grant = await openGrant(db, run, {
      preset: "research",
      presetSha256: "a".repeat(64),
      tools: TOOLS.names,
      roots: [],
      limits,
    });
    if (grant === undefined) throw new Error("no grant");
    const log = openStepLog(db, run, { keepDays: 14, batchBytes: 1_000_000 });
    const record = openRecord([]);
    const { signal } = new AbortController();
    const world = {
      ...worldOf({
        files: { "notes/a.md": "Rope in notes." },
        passages: [passageOf("notes/a.md", "Rope")],
        models: [],
      }),
      listPaths: async () => ["notes/a.md"],
      web: NO_WEB,
      admitFiles: async () => ({ kind: "admitted", files: [] }) as const,
      shell: null,
      mcp: { reach: () => NO_MCP },
    };
    const reach = reachOf(grant, world, { log, record, task: "" }, signal);
    const tools = TOOLS.tools.map((tool) =>
      tool.name === "web_search"
        ? { ...tool, run: async () => outputOf("", { results: 2, urls: PAGES }) }
        : tool,
    );
    const settings = { unattended: "park", approval_hours: 1 } as const;
    const trace = { mayTake: () => undefined };
    const use = { grant, tools, reach, record, log, settings, signal, trace };
    return { run, grant, log, record, call: useTool.bind(null, use) };
  }

  const decide = (record: InvestigationRecord, limits: GrantLimits) =>
    applyPolicies({
      steps: record.steps,
      limits,
      tools: TOOLS.names,
      roots: [],
      evidence: record.evidence.length,
      sources: sourcesOf(record).size,
    });

  async function rowsOf(statement: string, jobId: string): Promise<readonly unknown[]> {
    const { rows } = await db.query(statement, [jobId]);
    return rows;
  }

  test("say of each call what kind of move it was, and of each search what it found", async () => {
    const { run, call } = await open(LIMITS);
    for (const [tool, args] of CALLS) await call({ name: tool, args });
    const moves = await rowsOf(
      `select step, tool, type, evidence, found, batch_id is not null and batch is not null as is_of_batch, custom_id,
              run_id is not null and at is not null as is_of_run
         from nightdesk.moves where job_id = $1 order by step`,
      run.jobId,
    );
    const of = { is_of_batch: true, custom_id: "look", is_of_run: true };
    expect(moves).toEqual([
      { step: 0, tool: "search_index", type: "search", evidence: 1, found: 1, ...of },
      { step: 1, tool: "search_text", type: "search", evidence: 1, found: 1, ...of },
      { step: 2, tool: "read_text_file", type: "open", evidence: 1, found: 1, ...of },
      { step: 3, tool: "read_text_file", type: "open", evidence: 0, found: 0, ...of },
      { step: 4, tool: "search_index", type: "search", evidence: 1, found: 0, ...of },
      { step: 5, tool: "web_search", type: "search", evidence: 0, found: 0, ...of },
      { step: 6, tool: "list_files", type: "count", evidence: 0, found: 0, ...of },
      { step: 7, tool: "calculate", type: "compare", evidence: 1, found: 1, ...of },
      { step: 8, tool: "note", type: "note", evidence: 0, found: 0, ...of },
    ]);
    const queries = await rowsOf(
      "select step, tool, query, family, novel, hits::integer as hits from nightdesk.queries where job_id = $1 order by step",
      run.jobId,
    );
    expect(queries).toEqual([
      {
        ...{ step: 0, tool: "search_index", query: "Rope renewals" },
        ...{ family: "renewal rop", novel: true, hits: 1 },
      },
      { step: 1, tool: "search_text", query: "Rope", family: "rop", novel: true, hits: 1 },
      {
        ...{ step: 4, tool: "search_index", query: "the renewal of a rope" },
        ...{ family: "renewal rop", novel: false, hits: 1 },
      },
      { step: 5, tool: "web_search", query: "ferries", family: "ferri", novel: true, hits: 2 },
    ]);
  });

  test("have the calls that an investigation without rules against drift made before", async () => {
    const { run, log } = await open(LIMITS);
    await log.beginTool({
      ordinal: 0,
      name: "read_text_file",
      effect: "none",
      state: "started",
      args: {},
      argsSha256: "b".repeat(64),
      detail: {},
    });
    const moves = "select type, evidence, found from nightdesk.moves where job_id = $1";
    expect(await rowsOf(moves, run.jobId)).toEqual([{ type: "other", evidence: 0, found: 0 }]);
    await log.settleOpen(0, "skipped");
    expect(await rowsOf(moves, run.jobId)).toEqual([]);
  });

  test("hold what the rules go by, so that a run that goes on decides as the one before", async () => {
    const limits = { ...LIMITS, drift: DRIFT };
    const { run, log, record, call } = await open(limits);
    expect((await selectGrant(db, run.jobId))?.limits).toEqual(limits);
    const decided: unknown[] = [];
    for (const [tool, args] of CALLS) {
      await call({ name: tool, args });
      const again = openRecord(await log.load());
      expect(decide(again, limits)).toEqual(decide(record, limits));
      expect(again.steps.map((step) => step.tool?.leads)).toEqual(
        record.steps.map((step) => step.tool?.leads),
      );
      decided.push(decide(record, limits)?.rule ?? null);
    }
    expect(decided.slice(0, 6)).toEqual([null, null, null, null, "same_query", null]);
  });
});
