import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  hasSchemaFault,
  insertSchemaFault,
} from "../../../src/shared/store/hosts/schema-faults.ts";
import type { ModelBuild } from "../../../src/shared/store/hosts/schema-faults.ts";
import { describeOnPostgres, openPostgres } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await openPostgres();
});
afterAll(() => database.close());

const BUILD: ModelBuild = {
  provider: "ollama",
  model: "qwen3",
  digest: "ab".repeat(32),
  serverVersion: "0.32.15",
};
const SERVED: ModelBuild = { ...BUILD, provider: "openai-compatible", digest: null };

describeOnPostgres("a build that ignored a schema", () => {
  test("is known by its digest under whatever name, however often it is noted", async () => {
    const db = database.db;
    expect(await hasSchemaFault(db, BUILD)).toBe(false);
    await insertSchemaFault(db, BUILD);
    await insertSchemaFault(db, BUILD);
    expect(await hasSchemaFault(db, { ...BUILD, model: "qwen3:latest" })).toBe(true);
  });

  test.each<[string, Partial<ModelBuild>]>([
    ["of other weights", { digest: "cd".repeat(32) }],
    ["under another version of the server", { serverVersion: "0.33.0" }],
    ["of another provider", { provider: "openai-compatible" }],
  ])("says nothing of one %s", async (_, other) => {
    await insertSchemaFault(database.db, BUILD);
    expect(await hasSchemaFault(database.db, { ...BUILD, ...other })).toBe(false);
  });

  test("is known by its name where its host reports no digest", async () => {
    const db = database.db;
    await insertSchemaFault(db, SERVED);
    expect(await hasSchemaFault(db, SERVED)).toBe(true);
    expect(await hasSchemaFault(db, { ...SERVED, model: "other" })).toBe(false);
  });
});
