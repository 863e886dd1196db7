import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { exposureOf } from "../../src/dashboard/exposure.ts";
import { webLink } from "../../src/dashboard/links.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { configFor, cookieOf, csrfOf, FORM, openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

const TLS = { cert: Buffer.from("cert"), key: Buffer.from("key") };
const HOSTILE = `<script>alert(1)</script><img src=x onerror=alert(2)><style>*{display:none}</style>"'><a href="javascript:alert(3)">x</a>`;

describeOnPostgres("the safety of the dashboard", () => {
  let desk: TestDesk;
  let batch: string;
  let job: string;

  beforeAll(async () => {
    desk = await openDesk();
    const jobs = await insertFinishedBatch(desk.db, {
      name: HOSTILE,
      jobs: [
        {
          customId: HOSTILE,
          input: { kind: "ask", question: HOSTILE },
          answer: HOSTILE,
          evidence: [{ path: "javascript:alert(4)", lines: [1, 2], sha256: "a".repeat(64) }],
        },
        {
          customId: "two",
          input: { kind: "ask", question: "Two?" },
          state: "failed",
          code: "INTERNAL_ERROR",
          message: HOSTILE,
        },
      ],
    });
    job = jobs.get(HOSTILE) ?? "";
    const { rows } = await desk.db.query("select batch_id from nightdesk_data.batches");
    batch = (rows[0] as { batch_id: string }).batch_id;
  });
  afterAll(() => desk.close());

  test("a name that is not ours is misdirected, whatever is asked", async () => {
    for (const host of ["evil.example", "127.0.0.1.evil.example"]) {
      const { status } = await desk.ask({ path: "/", headers: { host } });
      expect([host, status]).toEqual([host, 421]);
    }
    expect((await desk.ask({ path: "/", headers: { host: "localhost" } })).status).toBe(200);
  });

  test("each page forbids scripts and styles that are not files of ours", async () => {
    const { headers } = await desk.ask({ path: "/" });
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
    expect(headers["strict-transport-security"]).toBeUndefined();
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("same-origin");
    expect(headers["cache-control"]).toBe("no-store");
  });

  test("the session is a cookie that no script and no other site gets", async () => {
    const { headers } = await desk.ask({ path: "/" });
    expect(headers["set-cookie"]?.[0]).toMatch(/; HttpOnly; SameSite=Strict$/);
  });

  test("a change needs our origin, whatever its content type", async () => {
    const first = await desk.ask({ path: "/" });
    const cookie = cookieOf(first) ?? "";
    const body = new URLSearchParams({ csrf: csrfOf(first.text) }).toString();
    const post = (headers: Record<string, string>) =>
      desk.ask({
        path: `/batches/${batch}/retry`,
        method: "POST",
        headers: { cookie, ...FORM, ...headers },
        body,
      });
    expect((await post({})).status).toBe(403);
    expect((await post({ origin: "null" })).status).toBe(403);
    expect((await post({ origin: "https://evil.example" })).status).toBe(403);
    const json = { "content-type": "application/json", origin: "https://evil.example" };
    expect((await post(json)).status).toBe(403);
    const ours = { "content-type": "application/json", origin: `http://${desk.host}` };
    expect((await post(ours)).status).toBe(400);
  });

  test("a change needs the word of its session", async () => {
    const first = await desk.ask({ path: "/" });
    const other = await desk.ask({ path: "/" });
    const post = (cookie: string, csrf: string) =>
      desk.ask({
        path: `/batches/${batch}/retry`,
        method: "POST",
        headers: { cookie, ...FORM, origin: `http://${desk.host}` },
        body: new URLSearchParams({ csrf }).toString(),
      });
    const cookie = cookieOf(first) ?? "";
    expect((await post(cookie, "")).status).toBe(403);
    expect((await post(cookie, csrfOf(other.text))).status).toBe(403);
    expect((await post("", csrfOf(first.text))).status).toBe(403);
    const { rows } = await desk.db.query("select from nightdesk_data.operator_actions");
    expect(rows).toHaveLength(0);
  });

  test("requests without a cookie end nobody's session", async () => {
    const first = await desk.ask({ path: "/" });
    for (let asked = 0; asked < 1_040; asked += 40) {
      await Promise.all(Array.from({ length: 40 }, () => desk.ask({ path: "/runs/nothing" })));
    }
    const left = await desk.ask({
      path: "/leave",
      method: "POST",
      headers: { ...FORM, cookie: cookieOf(first) ?? "", origin: `http://${desk.host}` },
      body: new URLSearchParams({ csrf: csrfOf(first.text) }).toString(),
    });
    expect(left.status).toBe(303);
  }, 60_000);

  test("nothing changes by GET: it asks first, and the change is written down", async () => {
    const asked = await desk.browse(`/batches/${batch}/retry`);
    expect(asked.status).toBe(200);
    const stateOf = async () =>
      (await desk.db.query("select state from nightdesk_data.jobs where custom_id = 'two'")).rows;
    expect(await stateOf()).toEqual([{ state: "failed" }]);
    const done = await desk.browse(`/batches/${batch}/retry`, {});
    expect(done.status).toBe(303);
    expect(await stateOf()).toEqual([{ state: "queued" }]);
    const { rows } = await desk.db.query(
      "select actor, action, batch_id, outcome from nightdesk.operator_actions",
    );
    expect(rows).toEqual([{ actor: "ada", action: "retry", batch_id: batch, outcome: "done" }]);
    const shown = await desk.browse(String(done.headers.location));
    expect(shown.text).toContain("1 job of batch");
  });

  test("words of documents and models never become markup", async () => {
    for (const path of ["/", "/batches", `/batches/${batch}`, `/runs/${job}`, "/audit"]) {
      const { status, text } = await desk.browse(path);
      expect([path, status]).toEqual([path, 200]);
      expect(text).not.toMatch(/<script>alert|<img|<style>|href="javascript:/);
      expect(text).not.toMatch(/<[^>]*\s(?:style|on[a-z]+)=/);
    }
  });

  test("links lead to the web or nowhere", () => {
    for (const address of [
      "javascript:alert(1)",
      " JaVaScRiPt:x",
      "data:text/html,x",
      "notes/a.md",
    ])
      expect(webLink(address).toString()).not.toContain("href");
    expect(webLink("https://example.net/a?b=1&c=2").toString()).toContain(
      'href="https://example.net/a?b=1&amp;c=2" rel="noopener noreferrer nofollow"',
    );
  });

  test("faults are typed, as pages and as JSON, and tell nothing of what is inside", async () => {
    const page = await desk.browse("/runs/nothing");
    expect(page.status).toBe(404);
    expect(page.text).toContain("NOT_FOUND");
    const json = await desk.ask({ path: "/nowhere" });
    expect(json.status).toBe(404);
    expect(JSON.parse(json.text)).toMatchObject({ ok: false, error_code: "NOT_FOUND" });
    const large = await desk.ask({
      path: "/leave",
      method: "POST",
      headers: { ...FORM, origin: `http://${desk.host}` },
      body: "x".repeat(300_000),
    });
    expect(large.status).toBe(413);
  });
});

describeOnPostgres("a dashboard with a token", () => {
  const token = "0123456789abcdef01234567";
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await openDesk({ dashboard: { token } });
  });
  afterAll(() => desk.close());

  const signIn = (given: string, back = "/batches") =>
    desk.ask({
      path: "/login",
      method: "POST",
      headers: { ...FORM, accept: "text/html", origin: `http://${desk.host}` },
      body: new URLSearchParams({ token: given, back }).toString(),
    });

  test("lets nobody in without it, and says so by status", async () => {
    expect((await desk.ask({ path: "/" })).status).toBe(401);
    expect((await desk.ask({ path: "/events" })).status).toBe(401);
    const page = await desk.ask({ path: "/batches", headers: { accept: "text/html" } });
    expect([page.status, page.headers.location]).toEqual([303, "/login?back=%2Fbatches"]);
    const search = await desk.ask({
      path: "/batches/caf%C3%A9?q=a%20b",
      headers: { accept: "text/html" },
    });
    expect(search.headers.location).toBe("/login?back=%2Fbatches%2Fcaf%25C3%25A9%3Fq%3Da%2520b");
  });

  test("lets in who gives it, until the session expires", async () => {
    expect((await signIn("another-token-of-24-chars")).status).toBe(401);
    const signed = await signIn(token);
    expect([signed.status, signed.headers.location]).toEqual([303, "/batches"]);
    const headers = { cookie: cookieOf(signed) ?? "" };
    expect((await desk.ask({ path: "/", headers })).status).toBe(200);
    desk.passHours(13);
    expect((await desk.ask({ path: "/", headers })).status).toBe(401);
  });

  test("ends the session that its browser had before, and one that is left by its own word alone", async () => {
    const [first, second] = [await signIn(token), await signIn(token)];
    const old = cookieOf(first) ?? "";
    const page = async (cookie: string) => desk.ask({ path: "/", headers: { cookie } });
    const body = new URLSearchParams({ token }).toString();
    const origin = `http://${desk.host}`;
    const again = await desk.ask({
      ...{ path: "/login", method: "POST", headers: { ...FORM, cookie: old, origin }, body },
    });
    expect((await page(old)).status).toBe(401);
    const cookie = cookieOf(again) ?? "";
    const word = csrfOf((await page(cookie)).text);
    const leave = (csrf: string) =>
      desk.ask({
        ...{ path: "/leave", method: "POST", headers: { ...FORM, cookie, origin } },
        body: new URLSearchParams({ csrf }).toString(),
      });
    expect((await leave(csrfOf((await page(cookieOf(second) ?? "")).text))).status).toBe(403);
    expect((await page(cookie)).status).toBe(200);
    expect((await leave(word)).status).toBe(303);
    expect((await page(cookie)).status).toBe(401);
  });

  test("leads nowhere else after it", async () => {
    expect((await signIn(token, "//evil.example")).headers.location).toBe("/");
    expect((await signIn(token, "https://evil.example")).headers.location).toBe("/");
  });

  test("wrong tokens are looked at five a second at most, and keep nobody out", async () => {
    const startedAt = performance.now();
    const wrong = Array.from({ length: 12 }, () => signIn("wrong"));
    expect((await signIn(token)).status).toBe(303);
    expect((await Promise.all(wrong)).map(({ status }) => status)).toEqual(Array(12).fill(401));
    expect(performance.now() - startedAt).toBeGreaterThan(2_000);
    expect((await signIn(token)).status).toBe(303);
  });

  test("more of them than can wait are sent away", async () => {
    const tries = await Promise.all(Array.from({ length: 40 }, () => signIn("wrong")));
    expect(new Set(tries.map(({ status }) => status))).toEqual(new Set([401, 503]));
  }, 20_000);
});

describeOnPostgres("a dashboard behind a proxy", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await openDesk({
      dashboard: { trusted_proxy: { addresses: ["127.0.0.1"], user_header: "X-Forwarded-User" } },
      exposed: { tls: TLS, isLoopback: true },
    });
  });
  afterAll(() => desk.close());

  test("takes the user that the proxy names, and nobody else", async () => {
    expect((await desk.ask({ path: "/" })).status).toBe(403);
    const { text } = await desk.ask({ path: "/", headers: { "x-forwarded-user": "grace" } });
    expect(text).toContain("grace <button");
  });

  // It would hold for all that this machine serves under that name.
  test("holds no browser to TLS on a loopback address", async () => {
    const { headers } = await desk.ask({ path: "/" });
    expect(headers["strict-transport-security"]).toBeUndefined();
  });
});

describeOnPostgres("a dashboard that a network reaches by TLS", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await openDesk({ exposed: { tls: TLS, isLoopback: false } });
  });
  afterAll(() => desk.close());

  test("holds browsers to it, and sends its cookie by nothing else", async () => {
    const { headers } = await desk.ask({ path: "/" });
    expect(headers["strict-transport-security"]).toBe("max-age=31536000");
    expect(headers["set-cookie"]?.[0]).toContain("; Secure");
  });
});

test("what a network could reach is refused with what would mend it", async () => {
  const expose = async (dashboard: Parameters<typeof configFor>[0], host = "0.0.0.0") =>
    exposureOf(await configFor(dashboard), { host, port: 0 });
  await expect(expose({})).rejects.toThrow("NIGHTDESK_DASHBOARD_TOKEN_FILE");
  await expect(expose({ token: "0123456789abcdef" })).rejects.toThrow("dashboard.tls.cert_file");
  const published = await expose({ token: "0123456789abcdef", published: true });
  expect(published).toMatchObject({ isLoopback: false, identity: { kind: "token" } });
  await expect(expose({ published: true })).rejects.toThrow("NIGHTDESK_DASHBOARD_TOKEN_FILE");
  await expect(expose({ token: "0123456789abcde" }, "127.0.0.1")).rejects.toThrow("at least 16");
  await expect(
    expose({ trusted_proxy: { addresses: ["10.0.0.1"], user_header: null } }),
  ).rejects.toThrow("user_header");
  const { identity } = await expose({
    trusted_proxy: { addresses: ["10.0.0.1"], user_header: "X-User" },
  });
  expect(identity.kind).toBe("proxy");
});
