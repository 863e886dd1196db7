import type { JobResult } from "../../shared/db/jobs/read-results.ts";
import { exportJson } from "../print/result-json.ts";
import type { JobVectors } from "./export-form.ts";

/** A job in Nightdesk's own form, whatever its state. */
export const nativeLine = (result: JobResult, { model, vectors }: JobVectors): string =>
  JSON.stringify({
    ...exportJson(result),
    ...(vectors.length === 0 ? {} : { vectors, vector_model: model }),
  });
