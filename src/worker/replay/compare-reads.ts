import type { RunDetail } from "../../shared/store/jobs/read-runs.ts";
import type { Present, Prospect } from "./prospect.ts";
import { wasCarriedOut } from "./recorded-reads.ts";

/** Reads that were refused then, tried again: the file may be there now, or be refused for another reason. */
export async function compareReads(
  { tool_calls: toolCalls }: RunDetail,
  { readTextFile }: Present["deps"],
): Promise<readonly Prospect[]> {
  const refused = toolCalls.filter((call) => wasCarriedOut(call) && call.error_code !== null);
  return Promise.all(
    refused.map(async ({ args, error_code: then }) => {
      const path = String(args["path"]);
      const reading = await readTextFile({ path, maxChars: Number(args["max_chars"]) });
      const now = reading.kind === "refused" ? reading.code : "is read";
      const what = `read of ${path}`;
      return now === then
        ? ({ what, verdict: "same", words: `refused: ${now}` } as const)
        : ({ what, verdict: "differs", words: `${then ?? ""} then, ${now} now` } as const);
    }),
  );
}
