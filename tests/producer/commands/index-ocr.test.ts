import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

test("pictures are not read before the configuration says in which languages, and nothing is queued", async () => {
  const { code, stderr } = await desk.run("index", "--ocr");
  expect(code).toBe(78);
  expect(stderr).toContain("index: { ocr: { languages: [eng] } }");
  expect((await desk.database.query("select from nightdesk_data.jobs")).rowCount).toBe(0);
});
