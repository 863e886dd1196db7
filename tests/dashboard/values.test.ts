import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { waitForReview } from "../support/waiting-review.ts";
import { openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

describeOnPostgres("values that were withheld from paperless-ngx", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await openDesk({});
    await insertFinishedBatch(desk.db, {
      name: "letters",
      jobs: [{ customId: "letter-1", input: { kind: "extract", path: "1.pdf" } }],
    });
    await desk.db.query(
      `insert into nightdesk_data.write_backs
              (batch_id, job_id, source, remote_id, kind, name, pointer, value, state, reason, asked_at)
       select batch_id, job_id, 'letters', '1.pdf', 'custom_field', name, '/amount', value, 'withheld', 'it is graded <b>', now()
         from nightdesk_data.jobs, (values ('Amount', '240'::jsonb), ('Due', 'null')) as v (name, value)`,
    );
  });
  afterAll(() => desk.close());

  const said = async (review: string, form: Record<string, string>): Promise<string> => {
    const { headers } = await desk.browse(`/inbox/values/${review}`, {
      ...{ shown: JSON.stringify([240, "it is graded <b>"]) },
      ...form,
    });
    return (await desk.browse(String(headers.location))).text;
  };

  test("are counted in the morning, and decided in the inbox", async () => {
    const morning = (await desk.browse("/")).text;
    expect(morning).toContain("2 decisions</a> in the inbox, 2 values of paperless-ngx among them");
    expect(morning).toContain("2 values were not written to paperless-ngx");
    const inbox = (await desk.browse("/inbox")).text;
    expect(inbox).toContain("<h2>letters 1.pdf, Amount: 240</h2>");
    // No file of a mirror: nobody can say that it is the one that was read.
    expect(inbox).toContain("The document has changed since the value was read");
    expect(await said("w1", { choice: "1" })).toContain(
      "Nothing was changed. The document has changed",
    );
    expect(await said("w1", { choice: "4", shown: '[17,"it is graded <b>"]' })).toContain(
      "Nothing was changed. w1 is not as your page showed it: look at it again.",
    );
    for (const unknown of ["w0", "w999", "w2x", "2", `w${"9".repeat(19)}`])
      expect(await desk.browse(`/inbox/values/${unknown}`, { choice: "4" })).toMatchObject({
        status: 404,
      });
    expect(await said("w1", { choice: "4", reason: "not\0 ours" })).toContain(
      "w1 is rejected: it is never written.",
    );
    expect(await said("w1", { choice: "4" })).toContain("w1 was rejected by");
    const { rows } = await desk.db.query(
      "select review, decision_reason from nightdesk.write_backs order by write_id",
    );
    expect(rows).toEqual([
      { review: "rejected", decision_reason: "not ours" },
      { review: "waiting", decision_reason: null },
    ]);
    expect((await desk.browse("/")).text).toContain("1 value of paperless-ngx among them");
  });

  test("are told of with the write-back that has failed, until another one begins", async () => {
    const input = {
      kind: "notify",
      event: "batch_end",
      target: "write_back",
      at: "2026-11-21T05:00:00Z",
    };
    await insertFinishedBatch(desk.db, {
      name: "system of letters",
      jobs: [
        {
          customId: "write_back",
          input,
          state: "failed",
          code: "SOURCE_DENIED",
          message: "a wrong token",
        },
      ],
    });
    await desk.db.query(
      `update nightdesk_data.batches set origin = 'system', windows = '{}',
              parent_id = (select batch_id from nightdesk_data.batches where name = 'letters')
        where name = 'system of letters'`,
    );
    await desk.db.query("update nightdesk_data.write_backs set noted_at = '2026-11-01'");
    const failed = "The write-back at its end has failed: a wrong token";
    expect((await desk.browse("/")).text).toContain(failed);
    await desk.db.query("update nightdesk_data.write_backs set noted_at = now()");
    expect((await desk.browse("/")).text).not.toContain(failed);
  });
});

describeOnPostgres("the answer of an extraction that somebody is asked about", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await openDesk({});
  });
  afterAll(() => desk.close());

  test("is corrected by its fields, and by nothing else", async () => {
    const job = await waitForReview(desk.db, {
      input: { kind: "extract", path: "a.md", preset: "actions" },
    });
    const correct = (correction: string) =>
      desk.browse(`/inbox/answers/${job}`, { choice: "2", correction });
    expect((await correct("1250 EUR")).text).toContain("as a JSON object like");
    const stateOf = "select state from nightdesk_data.draft_reviews where job_id = $1";
    expect((await desk.db.query(stateOf, [job])).rows).toEqual([{ state: "waiting" }]);
    await correct('{"total": 1250}');
    expect((await desk.db.query(stateOf, [job])).rows).toEqual([{ state: "corrected" }]);
  });
});
