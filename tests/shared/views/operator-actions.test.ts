import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { recordAction } from "../../../src/shared/store/operator/actions.ts";
import { selectActions } from "../../../src/shared/views/operator-actions.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

describeOnPostgres("what people did to the desk", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());

  test("is listed newest first and page by page, also where its numbers get another digit", async () => {
    const made = Array.from({ length: 12 }, (_, at) => `did ${at}`);
    for (const said of made)
      await recordAction(database.db, { actor: "ada", action: "forget" }, said);
    const listed: (string | null)[] = [];
    for (let before: string | null = null; ;) {
      const page = await selectActions(database.db, before, 5);
      listed.push(...page.map(({ said }) => said));
      before = page.at(-1)?.action_id ?? null;
      if (before === null) break;
    }
    expect(listed).toEqual(made.toReversed());
  });
});
