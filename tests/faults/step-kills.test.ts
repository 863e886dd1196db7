import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { askJob, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology, TopologyName } from "../conformance/topologies.ts";
import type { DoubleMessage } from "../doubles/ollama/double-model.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { Boundary, Stop } from "../support/killed-worker/boundaries.ts";
import { callOf, readPrompt } from "../support/killed-worker/prompts.ts";
import {
  decide,
  settleUncertain,
  uncertainSteps,
  waitingRequests,
} from "../support/killed-worker/people.ts";
import { countLines, startToolWorker } from "../support/killed-worker/start.ts";
import type { ToolWorker } from "../support/killed-worker/start.ts";

/** The nights of tests/scenarios lose workers at the same boundaries on the other two as well. */
const TOPOLOGY: TopologyName = "embedded";
const ROPES = "allowed/corpus/ropes.md";
const TEXT = "# Rope supply\n\nThe contract with Lind Ropes renews on 14 February 2027.\n";
const QUESTION = "When does the contract with Lind Ropes renew?";

type Tool = "stamp" | "append_line";
type Case = Stop & {
  readonly name: string;
  readonly tool: Tool;
  /** Steps in the end: `tool state`, `model state` or `end done`. */
  readonly steps: readonly string[];
  /** What a person is asked about it, and answers by what stands in the file. */
  readonly found: "done" | "skipped" | null;
  /** When a person answers whether it may be called. */
  readonly answered: "never" | "before the kill" | "after the kill";
};

const READ = ["model done", "read_text_file done"];
const END = ["model done", "end done"];
const FIRST_READ = 1;
const THE_EFFECT = 2;

const used = (tool: Tool, state = "done"): readonly string[] => ["model done", `${tool} ${state}`];
const normal = (tool: Tool): readonly string[] => [...READ, ...used(tool), ...END];

const stamps = (
  boundary: Boundary,
  passing: number,
  steps: readonly string[],
  found: Case["found"] = null,
): Case => {
  const name = `${boundary}, pass ${passing}`;
  return { name, boundary, passing, tool: "stamp", steps, found, answered: "never" };
};
const appends = (
  boundary: Boundary,
  passing: number,
  steps: readonly string[],
  { found = null, answered = "before the kill" }: Partial<Pick<Case, "found" | "answered">> = {},
): Case => {
  const name = `${boundary}, pass ${passing}, where somebody allows it ${answered}`;
  return { name, boundary, passing, tool: "append_line", steps, found, answered };
};

const again = (tool: Tool): readonly string[] => [
  ...[...READ, ...used(tool, "skipped"), ...used(tool)],
  ...END,
];

const CASES: readonly Case[] = [
  stamps("before the row of a model call", 1, normal("stamp")),
  stamps("after the row of a model call", 1, ["model skipped", ...normal("stamp")]),
  stamps("before the reply is kept", 1, ["model skipped", ...normal("stamp")]),
  stamps("after the reply is kept", 1, ["model skipped", ...normal("stamp")]),
  // The reply of then is taken again, by a step of its own.
  stamps("after the end of a model call", 1, ["model done", ...normal("stamp")]),
  stamps("before the row of a tool call", FIRST_READ, ["model done", ...normal("stamp")]),
  stamps("after the row of a tool call", FIRST_READ, [
    ...["model done", "read_text_file skipped"],
    ...normal("stamp"),
  ]),
  stamps("after the end of a tool call", FIRST_READ, normal("stamp")),
  stamps("before the row of a tool call", THE_EFFECT, [
    ...[...READ, "model done", ...used("stamp")],
    ...END,
  ]),
  stamps("after the row of a tool call", THE_EFFECT, again("stamp"), "skipped"),
  stamps("before the effect", 1, again("stamp"), "skipped"),
  stamps("after the effect", 1, normal("stamp"), "done"),
  stamps("after the end of a tool call", THE_EFFECT, normal("stamp")),
  stamps("after the row of the end", 1, normal("stamp")),
  stamps("at settlement", 1, normal("stamp")),
  appends("after the row of a tool call", THE_EFFECT, normal("append_line"), {
    answered: "after the kill",
  }),
  appends("after the request", 1, normal("append_line"), { answered: "after the kill" }),
  appends("while it parks", 1, normal("append_line"), { answered: "after the kill" }),
  appends("while it parks", 1, normal("append_line")),
  appends("before the resume", 1, normal("append_line")),
  appends("after the resume", 1, again("append_line"), { found: "skipped" }),
  appends("before the effect", 1, again("append_line"), { found: "skipped" }),
  appends("after the effect", 1, normal("append_line"), { found: "done" }),
  appends("after the end of a tool call", THE_EFFECT, normal("append_line")),
];

/** On a machine that is busy with other things. */
const LONG_MS = 300_000;

/** `kill-03-stamp`: names a case, and says which tool its model calls. */
const nameOf = ({ tool }: Case, at: number): string =>
  `kill-${String(at).padStart(2, "0")}-${tool}`;

function respond(messages: readonly DoubleMessage[]): string {
  const { job, wants, log } = readPrompt(messages);
  if (wants === "answer") return "The contract with Lind Ropes renews on 14 February 2027 [1].";
  if (!log.includes(": read_text_file ")) return callOf("read_text_file", { path: ROPES });
  const tool = job.endsWith("stamp") ? "stamp" : "append_line";
  return log.includes(`: ${tool} `) ? "END" : callOf(tool, { text: `${job}: done` });
}

/** A row of a job. */
type Job = {
  readonly job_id: string;
  readonly custom_id: string;
  readonly state: string;
  readonly waiting_for: string | null;
  readonly error_code: string | null;
};

describe(`a worker that is killed at a boundary of a step, on ${TOPOLOGY}`, () => {
  let topology: Topology;
  let db: Database;
  let host: OllamaDouble;
  const workers: ToolWorker[] = [];
  let ids: readonly string[];
  /** How often each text stood in the file, and which steps were open, when the second worker could not go on alone. */
  let linesAtReview: ReadonlyMap<string, number>;
  let openAtReview: ReadonlyMap<string, string>;
  let linesInTheEnd: ReadonlyMap<string, number>;

  const jobsNow = async (): Promise<readonly Job[]> =>
    (
      await db.query(
        "select job_id, custom_id, state, waiting_for, error_code from nightdesk_data.jobs where kind = 'investigate' order by seq",
      )
    ).rows as Job[];
  /** Waits until all jobs are where they should be; meanwhile somebody allows whatever is asked. */
  const allAre = (what: string, isThere: (job: Job) => boolean) =>
    eventually(
      what,
      async () => {
        for (const request of await waitingRequests(db)) await decide(db, request);
        return (await jobsNow()).every(isThere);
      },
      LONG_MS,
    );
  const start = async (options: Parameters<typeof startToolWorker>[2]): Promise<ToolWorker> => {
    const worker = await startToolWorker(db, topology.workroot, options);
    workers.push(worker);
    return worker;
  };
  /** Allows what is to be allowed before the worker is killed, and leaves the other requests. */
  const allowSome = async (): Promise<void> => {
    const open = new Set(
      CASES.flatMap((one, at) => (one.answered === "before the kill" ? [nameOf(one, at)] : [])),
    );
    await eventually(
      "all is allowed that is to be allowed before the kill",
      async () => {
        for (const request of await waitingRequests(db)) {
          if (open.delete(request.custom_id)) await decide(db, request);
        }
        return open.size === 0;
      },
      LONG_MS,
    );
  };

  beforeAll(async () => {
    host = await startOllamaDouble({
      models: [{ name: "looker", contextLength: 8_192, respond }],
      numParallel: CASES.length,
    });
    topology = await startTopology(TOPOLOGY, {
      model: {
        ...{ provider: "ollama", name: "looker", base_url: host.url, num_ctx: 8_192 },
        parallel: CASES.length,
      },
      ask: { answer_form: "text" },
      runs: { reuse: "never" },
    });
    await writeFile(join(topology.workroot, ROPES), TEXT);
    db = await topology.connect();
    const { jobIds } = await openBatchOf(
      db,
      CASES.map((one, at) =>
        askJob(nameOf(one, at), {
          input: {
            kind: "investigate",
            task: `[${nameOf(one, at)}] ${QUESTION}`,
            preset: "writer",
          },
        }),
      ),
    );
    ids = jobIds;
    const stops = Object.fromEntries(
      CASES.map(({ boundary, passing }, at) => [ids[at] ?? "", { boundary, passing }]),
    );
    const first = await start({ concurrency: CASES.length, stops });
    await allowSome();
    await first.allStopped();
    expect(await first.kill()).toHaveLength(CASES.length);

    await start({ concurrency: 4 });
    await allAre(
      "all have ended or wait for a review",
      ({ state, waiting_for }) => state === "succeeded" || waiting_for === "review",
    );
    linesAtReview = await countLines(topology.workroot);
    const uncertain = await uncertainSteps(db);
    openAtReview = new Map(uncertain.map(({ custom_id, text }) => [custom_id, text]));
    for (const step of uncertain) {
      await settleUncertain(db, step, linesAtReview.has(step.text) ? "done" : "skipped");
    }
    await allAre("all have ended", ({ state }) => state === "succeeded");
    linesInTheEnd = await countLines(topology.workroot);
  }, 3 * LONG_MS);
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.kill()));
    await db.end();
    await topology.dispose();
    await host.close();
  }, LONG_MS);

  test.each(CASES.map((one, at) => ({ ...one, job: nameOf(one, at) })))(
    "$name",
    async ({ job, steps, found }) => {
      const text = `${job}: done`;
      const { rows } = await db.query(
        `select coalesce(s.tool, s.kind) || ' ' || s.state as step from nightdesk.steps s
           join nightdesk_data.jobs j using (job_id) where j.custom_id = $1 order by s.ordinal`,
        [job],
      );
      expect((rows as { step: string }[]).map(({ step }) => step)).toEqual(steps);
      expect(openAtReview.get(job)).toBe(found === null ? undefined : text);
      if (found !== null) expect(linesAtReview.get(text) ?? 0).toBe(found === "done" ? 1 : 0);
      expect(linesInTheEnd.get(text)).toBe(1);
    },
  );

  test("every job has one result, and lost one run", async () => {
    const { rows } = await db.query(
      `select (count(*) filter (where r.state = 'lost'))::int as lost,
              (count(*) filter (where r.state = 'succeeded'))::int as succeeded
         from nightdesk_data.runs r join nightdesk_data.jobs j using (job_id) where j.kind = 'investigate' group by job_id`,
    );
    expect(rows).toHaveLength(CASES.length);
    expect(rows).toEqual(rows.map(() => ({ lost: 1, succeeded: 1 })));
  });

  test("nothing was asked twice but what was asked when its worker was killed", () => {
    const answered = host
      .chats()
      .filter(({ state }) => state === "done")
      .map(({ body }) => JSON.stringify(body["messages"]));
    const twice = answered.filter((prompt, at) => answered.indexOf(prompt) !== at);
    const names = twice.map((prompt) => /kill-\d+-\w+/.exec(prompt)?.[0]);
    const unkept = CASES.flatMap((one, at) =>
      one.boundary === "before the reply is kept" ? [nameOf(one, at)] : [],
    );
    expect(names).toEqual(unkept);
  });
});
