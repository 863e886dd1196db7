import { Failure } from "../../failure.ts";
import type { Queryable, Rows } from "../connection/database.ts";
import { codeAndMessageOf } from "../connection/errors.ts";
import { selectVectorSchema, storedVector, vectorText } from "../index/vector-index.ts";

/** Several times the size of the largest accepted reply with its rows, and far below the limits of a server or PGlite. */
const MAX_STATEMENT_CHARS = 32 * 1024 * 1024;

/** SQLSTATEs of data that no server takes: class 22 (invalid text, numbers out of range), 54 (limits), out of memory. */
const UNSTORABLE = /^(?:22...|54...|53200)$/;

type Statement = {
  readonly text: string;
  readonly name: string;
  /** Builds the values; throws RangeError when one exceeds the longest string. */
  readonly values: () => readonly unknown[];
};

/**
 * Runs a statement that stores output of a model.
 * @throws Failure RESULT_UNSTORABLE when it is too large, or the database refuses the data, so that a retry would fail as well;
 * otherwise the error of `db.query`
 */
export async function storeResult(db: Queryable, { text, name, values }: Statement): Promise<Rows> {
  const parameters = valuesOf(values);
  const chars = parameters.reduce<number>(
    (total, value) => total + (typeof value === "string" ? value.length : 0),
    0,
  );
  if (chars > MAX_STATEMENT_CHARS) {
    throw unstorableFailure(
      `it takes ${chars} characters, and ${MAX_STATEMENT_CHARS} are the most`,
    );
  }
  try {
    return await db.query(text, parameters, name);
  } catch (error) {
    const { code } = codeAndMessageOf(error);
    if (!UNSTORABLE.test(code)) throw error;
    throw unstorableFailure(`the database refuses it with SQLSTATE ${code}`, error);
  }
}

function valuesOf(values: Statement["values"]): readonly unknown[] {
  try {
    return values();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw unstorableFailure("it is longer than any text can be", error);
  }
}

// Without the database's message, which may quote the data.
const unstorableFailure = (why: string, cause?: unknown): Failure =>
  new Failure(
    "RESULT_UNSTORABLE",
    `The result can't be stored: ${why}. Lower model.max_tokens, or split the job into smaller ones.`,
    cause === undefined ? {} : { cause },
  );

/** Stores the vectors of free texts, in order, if the job still names this run. */
export async function storeJobVectors(
  db: Queryable,
  job: { readonly jobId: string; readonly runId: string },
  { model, vectors }: { readonly model: string; readonly vectors: readonly Float32Array[] },
): Promise<void> {
  const { type } = storedVector("full", await selectVectorSchema(db));
  await db.query(
    `insert into nightdesk_data.job_vectors (job_id, ordinal, model, embedding)
     select j.job_id, v.place - 1, $3, v.embedding::${type}
       from nightdesk_data.jobs j, unnest($4::text[]) with ordinality as v (embedding, place)
      where j.job_id = $1 and j.run_id = $2 and j.state = 'running'
     on conflict (job_id, ordinal) do update set model = excluded.model, embedding = excluded.embedding`,
    [job.jobId, job.runId, model, vectors.map(vectorText)],
  );
}
