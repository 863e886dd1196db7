import { z } from "zod";
import type { Database } from "../../../src/shared/store/connection/database.ts";

/** Where a run can be stopped, in the order in which a run comes by. */
export const BOUNDARIES = [
  "as it begins",
  "as it goes on after its checks",
  "before the row of a model call",
  "after the row of a model call",
  "before the reply is kept",
  "after the reply is kept",
  "after the end of a model call",
  "before the row of a tool call",
  "after the row of a tool call",
  "after the request",
  "while it parks",
  "before the resume",
  "after the resume",
  "before the effect",
  "after the effect",
  "after the end of a tool call",
  "after the row of the end",
  "at settlement",
] as const;
export type Boundary = (typeof BOUNDARIES)[number];

/** At which passing of which boundary the run of a job is stopped. */
export type Stop = {
  readonly boundary: Boundary;
  readonly passing: number;
  /** Of the boundaries around a reply: only of calls of this pass. */
  readonly modelPass?: string | undefined;
};

/** Stops by the id of their job, or by the name of a check: nobody knows its id before it is queued. */
export type Stops = Readonly<Record<string, Stop>>;

/** Tells that the run of a job is at a boundary; never resolves where it is to be stopped there. */
export type Pass = (jobId: string, boundary: Boundary, modelPass?: string) => Promise<void>;

/** @param onStop is told of each job whose run has been stopped */
export function passWith(stops: Stops, onStop: (jobId: string) => void): Pass {
  const passings = new Map<string, number>();
  return async (jobId, boundary, modelPass) => {
    const stop = stops[jobId];
    if (stop?.boundary !== boundary) return;
    if (stop.modelPass !== undefined && stop.modelPass !== modelPass) return;
    const passing = (passings.get(jobId) ?? 0) + 1;
    passings.set(jobId, passing);
    if (passing !== stop.passing) return;
    onStop(jobId);
    await new Promise(() => undefined);
  };
}

type Around = { readonly before: Boundary | null; readonly after: Boundary | null };

/** What lies around the statements that write steps, by their names. */
const NAMED: Readonly<Record<string, Around>> = {
  begin_model_step: {
    before: "before the row of a model call",
    after: "after the row of a model call",
  },
  insert_model_call: { before: "before the reply is kept", after: "after the reply is kept" },
  insert_and_end_call: { before: "before the reply is kept", after: "after the reply is kept" },
  end_model_step: { before: null, after: "after the end of a model call" },
  begin_tool_step: {
    before: "before the row of a tool call",
    after: "after the row of a tool call",
  },
  end_tool_step: { before: null, after: "after the end of a tool call" },
};
const REQUEST: Around = { before: null, after: "after the request" };
const RESUME: Around = { before: "before the resume", after: "after the resume" };
const END: Around = { before: null, after: "after the row of the end" };

function aroundOf(
  text: string,
  values: readonly unknown[],
  name: string | undefined,
): Around | undefined {
  if (name === "insert_step") return values[3] === "end" ? END : undefined;
  if (name !== undefined) return NAMED[name];
  if (text.includes("insert into nightdesk_data.approvals")) return REQUEST;
  return text.includes("set state = 'started'") ? RESUME : undefined;
}

const REPLIES: ReadonlySet<string | undefined> = new Set([
  "insert_model_call",
  "insert_and_end_call",
]);

/** Which pass the reply is of that a statement keeps. */
function passOf(values: readonly unknown[], name: string | undefined): string | undefined {
  if (!REPLIES.has(name)) return undefined;
  return z.object({ pass: z.string() }).parse(JSON.parse(String(values[2]))).pass;
}

/** The same database, of which each statement that writes a step passes the boundaries around it. */
export function stoppedAround(database: Database, pass: Pass): Database {
  return {
    ...database,
    within: (statements) => stoppedAround(database.within(statements), pass),
    async query(text, values = [], name) {
      const around = aroundOf(text, values, name);
      if (around === undefined) return database.query(text, values, name);
      const jobId = String(values[0]);
      const modelPass = passOf(values, name);
      if (around.before !== null) await pass(jobId, around.before, modelPass);
      const rows = await database.query(text, values, name);
      if (around.after !== null) await pass(jobId, around.after, modelPass);
      return rows;
    },
  };
}
