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

test("of more sessions than are kept the oldest ends", () => {
  const sessions = openSessions(100, () => 0);
  const [first, second] = [sessions.start("Ada"), sessions.start("Ada")];
  for (let begun = 2; begun <= 1_000; begun += 1) sessions.start("Ada");
  expect(sessions.find(first.id)).toBeUndefined();
  expect(sessions.find(second.id)).toEqual(second);
});

test("the word of a session is of its user too, and an id that is none is not taken over", () => {
  const sessions = openSessions(100, () => 0);
  const { id, csrf } = sessions.derive("Ada", undefined);
  expect(sessions.derive("Ada", id)).toEqual({ id, user: "Ada", csrf });
  expect(sessions.derive("Grace", id).csrf).not.toBe(csrf);
  for (const given of ["", "x", `${id}x`, `${id.slice(1)} `])
    expect(sessions.derive("Ada", given).id).toMatch(/^[\w-]{32}$/);
  expect(sessions.derive("Ada", "x").id).not.toBe("x");
});
