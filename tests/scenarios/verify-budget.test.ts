import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openReplayDesk } from "../support/replay-desk.ts";
import type { ReplayDesk } from "../support/replay-desk.ts";

const FERRY = "allowed/corpus/ferry.md";

let desk: ReplayDesk;
beforeAll(async () => {
  desk = await openReplayDesk(
    [
      {
        name: "drafter",
        contextLength: 4_096,
        respond([system]) {
          const words = system?.content ?? "";
          if (words.startsWith("You prepare the audit")) return "{}";
          if (words.startsWith("You judge")) return '{"corrections": [], "score": 4}';
          if (words.startsWith("You look into")) return "END";
          if (words.startsWith("You answer")) return "The crossing takes 42 minutes [1].";
          return `{"type":"tool_call","name":"read_text_file","args":{"path":"${FERRY}"}}`;
        },
      },
    ],
    "never",
    undefined,
    { verify: { mode: "standard", rounds: 0, budget: { tokens: null, calls: 1 } } },
  );
  await desk.write(FERRY, "# Ferry\n\nThe crossing takes 42 minutes.\n");
});
afterAll(() => desk.dispose());

test("Checks that have no budget left end, and the answer says so instead of waiting for ever", async () => {
  const question = `How long does the crossing take, according to ${FERRY}?`;
  const jobId = await desk.work({ kind: "ask", question });
  const { rows } = await desk.db.query(
    `select r.state, r.error_code, c.reason from nightdesk.results r join nightdesk.constraints c using (job_id) where r.job_id = $1`,
    [jobId],
  );
  expect(rows).toEqual([{ state: "refused", error_code: "UNRESOLVED", reason: "out_of_budget" }]);
});
