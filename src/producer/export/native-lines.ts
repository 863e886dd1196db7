import type { JobResult } from "../../shared/db/jobs/read-results.ts";
import { exportJson } from "../print/result-json.ts";
import { jsonForTerminal } from "../../shared/terminal-text.ts";
import type { JobVectors } from "./export-form.ts";

/** A job in Nightdesk's own form, whatever its state. */
export const nativeLine = (result: JobResult, { model, vectors }: JobVectors): string =>
  jsonForTerminal({
    ...exportJson(result),
    ...(vectors.length === 0 ? {} : { vectors, vector_model: model }),
  });
