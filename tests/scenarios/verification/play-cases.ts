import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JobInput } from "../../../src/shared/job/job.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { createRunJob } from "../../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../../src/worker/start.ts";
import { askJob, openBatchOf } from "../../conformance/jobs.ts";
import { eventually } from "../../conformance/signal.ts";
import { startTopology } from "../../conformance/topologies.ts";
import type { Topology, TopologyName } from "../../conformance/topologies.ts";
import type { End, VerificationCase } from "../../corpora/verification/read-cases.ts";
import type { DoubleModel } from "../../doubles/ollama/double-model.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble } from "../../doubles/ollama-server.ts";
import { rowsOf } from "../night/accounts.ts";
import { caseModel, folderOf } from "./case-model.ts";
import type { Unplanned } from "./case-model.ts";

const AT_ONCE = 8;
/** On a machine that is busy with other things. */
export const LONG_MS = 600_000;

/** How a case ended. */
export type Ended = {
  readonly one: VerificationCase;
  readonly jobId: string;
  readonly state: string;
  readonly errorCode: string | null;
  readonly grade: string | null;
  readonly verification: string;
  readonly answer: string | null;
  readonly reason: string | null;
  readonly end: End | "other";
};

export type PlayedCases = {
  readonly db: Database;
  readonly host: OllamaDouble;
  readonly batchId: string;
  readonly ended: readonly Ended[];
  readonly unplanned: readonly Unplanned[];
  dispose(): Promise<void>;
};

/** A desk with the documents of all cases in its index. */
type CaseDesk = Omit<PlayedCases, "batchId" | "ended"> & {
  readonly topology: Topology;
  work(): Promise<{ stop(): Promise<void> }>;
};

export async function openCaseDesk(
  name: TopologyName,
  cases: readonly VerificationCase[],
  /** Who says of a statement whether its lines carry it; nobody unless told. */
  referee?: DoubleModel,
): Promise<CaseDesk> {
  const unplanned: Unplanned[] = [];
  const host = await startOllamaDouble({
    models: [
      caseModel(cases, (words) => unplanned.push(words)),
      ...(referee === undefined ? [] : [referee]),
    ],
    numParallel: 64,
  });
  const topology = await startTopology(name, {
    model: {
      ...{ provider: "ollama", name: "cast", base_url: host.url, num_ctx: 8_192 },
      parallel: 64,
    },
    verify: {
      ...{ mode: "standard", rounds: 1 },
      judge: { model: referee?.name ?? "off" },
    },
    runs: { reuse: "never" },
  });
  for (const one of cases) await writeDocuments(topology.workroot, one);
  const db = await topology.connect();
  const work = async (): Promise<{ stop(): Promise<void> }> => {
    const worker = await startWorker(topology.context, AT_ONCE, (database) =>
      createRunJob(topology.context, database, {}),
    );
    return {
      async stop() {
        await worker.stop(0);
      },
    };
  };
  return {
    ...{ topology, db, host, unplanned, work },
    async dispose() {
      await db.end();
      await topology.dispose();
      await host.close();
    },
  };
}

export async function writeDocuments(workroot: string, one: VerificationCase): Promise<void> {
  for (const [path, text] of Object.entries(one.documents)) {
    const file = join(workroot, folderOf(one), path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** Indexes all documents, plays all cases in one batch, and looks up how each ended. */
export async function playCases(
  name: TopologyName,
  cases: readonly VerificationCase[],
): Promise<PlayedCases> {
  const desk = await openCaseDesk(name, cases);
  const { db } = desk;
  const worker = await desk.work();
  try {
    await workOne(db, INDEX);
    return { ...desk, ...(await playBatch(db, cases)) };
  } finally {
    await worker.stop();
  }
}

/** Plays cases whose documents are indexed in a batch of their own. */
export async function playBatch(
  db: Database,
  cases: readonly VerificationCase[],
): Promise<Pick<PlayedCases, "batchId" | "ended">> {
  const { batchId, jobIds } = await openBatchOf(
    db,
    cases.map((one) => askJob(one.id, { input: inputOf(one) })),
  );
  await allEnded(db, batchId);
  return { batchId, ended: await endsOf(db, batchId, cases, jobIds) };
}

export const INDEX: JobInput = { kind: "index", options: { embed: false } };

export async function workOne(db: Database, input: JobInput): Promise<void> {
  const { batchId } = await openBatchOf(db, [askJob("one", { input })]);
  await allEnded(db, batchId);
}

const allEnded = (db: Database, batchId: string): Promise<void> =>
  eventually(
    "all jobs have ended",
    async () => {
      const rows = await rowsOf<{ finished_at: Date | null }>(
        db,
        "select finished_at from nightdesk_data.jobs where batch_id = $1",
        [batchId],
      );
      return rows.every(({ finished_at }) => finished_at !== null);
    },
    LONG_MS,
  );

export function inputOf(one: VerificationCase): JobInput {
  const path = folderOf(one) + (one.path ?? "");
  const options = { path_prefix: folderOf(one) };
  switch (one.job) {
    case "ask":
      return { kind: "ask", question: one.question ?? "", options };
    case "investigate":
      return { kind: "investigate", task: one.question ?? "", options };
    case "summarize":
      return { kind: "summarize", path };
    case "extract":
      return { kind: "extract", path, schema: schemaOf(one) };
  }
}

const schemaOf = ({ fields = {} }: VerificationCase): Readonly<Record<string, unknown>> => ({
  type: "object",
  properties: fields,
  required: Object.keys(fields),
  additionalProperties: false,
});

type ResultRow = {
  readonly job_id: string;
  readonly state: string;
  readonly error_code: string | null;
  readonly grade: string | null;
  readonly verification: string;
  readonly answer: string | null;
  readonly reason: string | null;
};

export async function endsOf(
  db: Database,
  batchId: string,
  cases: readonly VerificationCase[],
  jobIds: readonly string[],
): Promise<readonly Ended[]> {
  const rows = await rowsOf<ResultRow>(
    db,
    `select r.job_id, r.state, r.error_code, r.grade, r.verification, r.answer,
            (select c.reason from nightdesk.constraints c where c.job_id = r.job_id order by c.constraint_id limit 1) as reason
       from nightdesk.results r where r.batch_id = $1`,
    [batchId],
  );
  const byId = new Map(rows.map((row) => [row.job_id, row]));
  return cases.map((one, at) => {
    const row = byId.get(jobIds[at] ?? "");
    if (row === undefined) throw new Error(`there is no result of ${one.id}`);
    const { job_id: jobId, error_code: errorCode, ...rest } = row;
    return { one, jobId, errorCode, ...rest, end: endOf(row) };
  });
}

function endOf({ state, error_code, grade, reason }: ResultRow): End | "other" {
  if (state === "refused") {
    if (error_code !== "UNRESOLVED") return "refused";
    return `unresolved ${reason ?? "source_missing"}` as End;
  }
  if (state !== "succeeded") return "other";
  return grade === "verified" || grade === "supported" || grade === "unconfirmed" ? grade : "other";
}

/** Whether what a job gave in the end is wrong for a person who has all the documents. */
export function isWrong({ one, answer }: Pick<Ended, "one" | "answer">): boolean {
  if (answer === null) return false;
  if (one.must_hold.length > 0) return !one.must_hold.every((words) => answer.includes(words));
  if (one.must_not_hold.length > 0)
    return one.must_not_hold.some((words) => answer.includes(words));
  if (one.truth === "right") return false;
  const right = (one.revised?.draft ?? []).map(wordsOf);
  const wrong = one.draft.map(wordsOf).filter((words) => !right.includes(words));
  const said = answer.replace(/ \[[\d, ]+\]/g, "");
  return wrong.some((words) => said.includes(words));
}

const wordsOf = (claim: VerificationCase["draft"][number]): string =>
  "text" in claim
    ? claim.text.replace(/[.!]$/, "")
    : `${JSON.stringify(claim.field)}:${JSON.stringify(claim.value)}`;
