import type { CommandContext } from "../../shared/command-context.ts";
import type { Database } from "../../shared/db/database.ts";
import { FIRST, selectResultPage } from "../../shared/db/jobs/read-results.ts";
import type { JobResult } from "../../shared/db/jobs/read-results.ts";
import { line, styledState } from "../../shared/styled-text.ts";
import type { Line } from "../../shared/styled-text.ts";
import { answerLines, describeCitations, warnOfLinks } from "./print-result.ts";
import { failureJson, successJson } from "./result-json.ts";

const PAGE_JOBS = 100;

/** Prints every result of a batch, one after the other: for people under its custom_id, or a line of JSON each. */
export async function printBatchResults(
  { terminal, invocation }: CommandContext,
  database: Database,
  batchId: string,
): Promise<void> {
  const wantsJson = invocation.options["json"] === true;
  let after = FIRST;
  for (;;) {
    const page = await selectResultPage(database, batchId, after, PAGE_JOBS);
    for (const result of page) {
      after = result.seq;
      if (wantsJson)
        await terminal.printJson({ custom_id: result.custom_id, ...resultJson(result) });
      else {
        for (const shown of describeResult(result)) await terminal.print(shown);
        for (const warning of warnOfLinks(result)) terminal.say(`${result.custom_id}: ${warning}`);
      }
    }
    if (page.length === 0) return;
  }
}

const resultJson = (result: JobResult): Record<string, unknown> =>
  result.state === "succeeded" ? successJson(result) : failureJson(result);

const describeResult = (result: JobResult): readonly Line[] => [
  `== ${result.custom_id}`,
  ...(result.state === "succeeded"
    ? [...answerLines(result), ...describeCitations(result)]
    : [
        line`${styledState(result.state)}: ${result.error_code ?? ""}: ${result.error_message ?? ""}`,
      ]),
  "",
];
