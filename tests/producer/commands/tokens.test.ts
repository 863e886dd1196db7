import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { useToken } from "../../../src/shared/store/programs/tokens.ts";
import { openDesk, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

const create = (...words: readonly string[]) => desk.run("tokens", "create", ...words);

describe("tokens create", () => {
  test("prints the secret once, and keeps its hash alone", async () => {
    const made = await create("letters", "--source", "corpus", "--expires", "2d");
    expect(made.code).toBe(0);
    const secret = made.stdout.trim();
    expect(secret).toMatch(/^nd_[\w-]{43}$/);
    expect(made.stderr).toContain("ask, summarize, extract, chat");
    const kept = await rowsOf(
      desk.database,
      "select to_jsonb(t)::text as row from nightdesk_data.tokens t",
    );
    expect(JSON.stringify(kept)).not.toContain(secret);
    const audit = await rowsOf(
      desk.database,
      "select detail::text, action from nightdesk.operator_actions",
    );
    expect(audit).toMatchObject([{ action: "create-token" }]);
    expect(JSON.stringify(audit)).not.toContain(secret);
    expect(await useToken(desk.database, secret)).toMatchObject({
      name: "letters",
      scopes: ["batches:write"],
      sources: ["corpus"],
      presets: [],
    });
  });

  test.each([
    [["a"], "--source"],
    [["a", "--source", "elsewhere"], "There are: corpus, scratch"],
    [["a", "--source", "corpus", "--kind", "investigate"], "--preset"],
    [["a", "--source", "corpus", "--preset", "reader"], "investigate"],
    [["a", "--kind", "index"], "--kind takes ask"],
    [["a", "--kind", "chat", "--scope", "all"], "--scope takes"],
    [["a", "--kind", "chat", "--expires", "soon"], "12h or 90d"],
    [["a", "--kind", "chat", "--expires", "9999d"], "up to 3650d"],
    [["a", "--kind", "chat", "--model", "nobody"], "not configured"],
    [["a\nb", "--kind", "chat"], "control character"],
    [["letters", "--kind", "chat"], "tokens revoke"],
  ])("refuses %j and says what it takes", async (words, expected) => {
    const refused = await create(...words);
    expect(refused.code).not.toBe(0);
    expect(refused.stdout).toBe("");
    expect(refused.stderr).toContain(expected);
  });
});

describe("a token", () => {
  const secretOf = async (...words: readonly string[]) =>
    (JSON.parse((await create(...words, "--json")).stdout) as { token: string }).token;

  test("is listed with its last use, and without its secret", async () => {
    const secret = await secretOf("used", "--kind", "chat");
    const used = (lastUsedAt: unknown): unknown =>
      expect.arrayContaining([
        expect.objectContaining({ name: "used", state: "valid", last_used_at: lastUsedAt }),
      ]);
    const before = await desk.run("tokens", "list", "--json");
    expect(JSON.parse(before.stdout)).toEqual(used(null));
    await useToken(desk.database, secret);
    const listed = await desk.run("tokens", "list", "--json");
    expect(JSON.parse(listed.stdout)).toEqual(used(expect.any(String)));
    expect(listed.stdout).not.toContain(secret);
    expect((await desk.run("tokens", "list")).stdout).toContain("used");
  });

  test("lets nobody in when it has expired, is revoked, or is cut", async () => {
    const secret = await secretOf("short", "--kind", "chat", "--expires", "1m");
    expect(await useToken(desk.database, secret.slice(0, -1))).toBeUndefined();
    expect(await useToken(desk.database, `${secret}A`)).toBeUndefined();
    await desk.database.query(
      `update nightdesk_data.tokens set created_at = now() - interval '2 days', expires_at = now() - interval '1 day'
        where name = 'short'`,
    );
    expect(await useToken(desk.database, secret)).toBeUndefined();
    const revoked = await secretOf("gone", "--kind", "chat");
    expect((await desk.run("tokens", "revoke", "gone")).code).toBe(0);
    expect(await useToken(desk.database, revoked)).toBeUndefined();
    expect((await desk.run("tokens", "revoke", "gone")).stderr).toContain("no token");
    // Its name is free again.
    expect((await create("gone", "--kind", "chat")).code).toBe(0);
  });
});
