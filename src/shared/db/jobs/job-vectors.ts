import { z } from "zod";
import type { Queryable } from "../database.ts";
import { vectorText } from "../vector.ts";

/** Stores the vectors of free texts, in order, while the job still names this run. */
export async function storeJobVectors(
  db: Queryable,
  job: { readonly jobId: string; readonly runId: string },
  { model, vectors }: { readonly model: string; readonly vectors: readonly Float32Array[] },
): Promise<void> {
  await db.query(
    `insert into nightdesk_data.job_vectors (job_id, ordinal, model, embedding)
     select j.job_id, v.place - 1, $3, v.embedding::vector
       from nightdesk_data.jobs j, unnest($4::text[]) with ordinality as v (embedding, place)
      where j.job_id = $1 and j.run_id = $2 and j.state = 'running'
     on conflict (job_id, ordinal) do update set model = excluded.model, embedding = excluded.embedding`,
    [job.jobId, job.runId, model, vectors.map(vectorText)],
  );
}

const vectorSchema = z.array(z.object({ model: z.string(), embedding: z.string() }));

/** Vectors of a job of free text, in the order of its texts. */
export async function selectVectors(
  db: Queryable,
  jobId: string,
): Promise<{ readonly model: string | null; readonly vectors: readonly (readonly number[])[] }> {
  const { rows } = await db.query(
    "select model, embedding::text from nightdesk_data.job_vectors where job_id = $1 order by ordinal",
    [jobId],
  );
  const parsed = vectorSchema.parse(rows);
  return {
    model: parsed[0]?.model ?? null,
    // pgvector writes a vector as a JSON list.
    vectors: parsed.map(({ embedding }) => z.array(z.number()).parse(JSON.parse(embedding))),
  };
}
