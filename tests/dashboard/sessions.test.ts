import { expect, test } from "@jest/globals";
import { openSessions } from "../../src/dashboard/sessions.ts";

test("a session ends when nobody used it for a while, and after twice that time however it is used", () => {
  let now = 0;
  const sessions = openSessions(100, () => now);
  const isThere = (id: string) => sessions.find(id) !== undefined;
  const [used, unused] = [sessions.start("Ada"), sessions.start("Ada")];
  const seen = [90, 180, 200, 201].map((time) => {
    now = time;
    return isThere(used.id);
  });
  expect(seen).toEqual([true, true, true, false]);
  expect(isThere(unused.id)).toBe(false);
});
