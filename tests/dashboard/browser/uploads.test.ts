import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { request } from "node:http";
import type { ClientRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser } from "playwright-core";
import { stringify } from "yaml";
import { eventually } from "../../conformance/signal.ts";
import { openDesk, rowsOf } from "../../producer/desk.ts";
import type { Desk } from "../../producer/desk.ts";
import { startBin } from "../../support/run-bin.ts";
import type { Running } from "../../support/run-bin.ts";
import { csrfOf } from "../open-desk.ts";
import { describeInBrowser, openBrowser, violationsOf } from "./open-browser.ts";

describeInBrowser("files that are sent to the dashboard", () => {
  let desk: Desk;
  let running: Running;
  let browser: Browser;
  let origin: string;
  let session: { cookie: string; "x-nightdesk-csrf": string };
  beforeAll(async () => {
    desk = await openDesk();
    await mkdir(join(desk.workroot, "allowed/inbox"));
    const config = {
      extends: "nightdesk:default",
      database: { url: desk.databaseUrl },
      queue: { backend: "postgres" },
      model: { provider: "extractive" },
      log: { level: "silent" },
      dashboard: { uploads: true },
      index: { sources: [{ name: "inbox", root: "allowed/inbox", watch: {} }] },
    };
    await desk.write("nightdesk.yaml", stringify(config));
    running = startBin(["dashboard", "--port", "0"], { cwd: desk.workroot });
    const [said, opened] = await Promise.all([
      running.said(/Dashboard: (http:\S+)\//),
      openBrowser(),
    ]);
    [origin, browser] = [said[1] ?? "", opened];
    const page = await fetch(`${origin}/index`);
    const cookie = page.headers.get("set-cookie")?.split(";")[0] ?? "";
    session = { cookie, "x-nightdesk-csrf": csrfOf(await page.text()) };
  });
  afterAll(async () => {
    await browser.close();
    running.kill("SIGTERM");
    await running.ended;
    await desk.dispose();
  });

  const inbox = (...names: readonly string[]) => join(desk.workroot, "allowed/inbox", ...names);
  type Headers = Readonly<Record<string, string>>;
  /** By hand, so that neither path nor headers are mended on their way. */
  function begin(name: string, headers: Headers): { sent: ClientRequest; status: Promise<number> } {
    const { hostname, port } = new URL(origin);
    const path = `/uploads/inbox/${name}`;
    const sent = request({ hostname, port, path, method: "PUT", headers });
    const status = new Promise<number>((resolve, reject) => {
      sent.on("error", reject).on("response", (response) => {
        resolve(response.resume().statusCode ?? 0);
      });
    });
    return { sent, status };
  }
  const put = (name: string, body: Buffer | string, headers: Headers = { ...session, origin }) => {
    const { sent, status } = begin(name, {
      ...headers,
      "content-length": String(Buffer.byteLength(body)),
    });
    sent.end(body);
    return status;
  };

  test("are stored as they are, also beyond the size of a form, and who sent them is written down", async () => {
    const bytes = randomBytes(1_500_000);
    expect(await put("gr%C3%B6%C3%9Fe.md", bytes)).toBe(200);
    expect((await readFile(inbox("größe.md"))).equals(bytes)).toBe(true);
    expect(await put("gr%C3%B6%C3%9Fe.md", "other")).toBe(422);
    const rows = await rowsOf(
      desk.database,
      "select action, outcome, detail->>'name' as name from nightdesk.operator_actions order by at",
    );
    expect(rows).toEqual(
      ["done", "failed"].map((outcome) => ({ action: "send-file", outcome, name: "größe.md" })),
    );
  });

  test("need our origin, a session and its word", async () => {
    const { cookie } = session;
    const foreign = { ...session, origin: "https://evil.example" };
    const without = { "x-nightdesk-csrf": session["x-nightdesk-csrf"], origin };
    for (const headers of [session, foreign, { cookie, origin }, without])
      expect(await put("refused.md", "x", headers)).toBe(403);
    expect(await readdir(inbox())).not.toContain("refused.md");
  });

  test.each([
    ["..%2F..%2Fa.md", 422],
    ["a%00.md", 422],
    ["a/b.md", 404],
  ])("are not stored under the name %s", async (name, status) => {
    expect(await put(name, "x")).toBe(status);
    expect(await readdir(inbox())).toEqual(["größe.md"]);
  });

  test("are not stored without their length, beyond the largest, or when they break off", async () => {
    const headers = { ...session, origin };
    const chunked = begin("chunked.md", headers);
    chunked.sent.write("x");
    chunked.sent.end();
    expect(await chunked.status).toBe(400);
    const large = begin("large.md", { ...headers, "content-length": "99999999999" });
    large.sent.flushHeaders();
    expect(await large.status).toBe(413);
    large.sent.on("error", () => undefined).destroy();
    const cut = begin("cut.md", { ...headers, "content-length": "1000" });
    const gone = cut.status.catch(() => "gone");
    cut.sent.write("x".repeat(500));
    await eventually("the upload has begun", async () =>
      (await readdir(inbox())).some((name) => name.endsWith(".partial")),
    );
    cut.sent.destroy();
    expect(await gone).toBe("gone");
    await eventually("nothing is left of it", async () =>
      (await readdir(inbox())).every((name) => name === "größe.md"),
    );
    expect(await put("after.md", "x")).toBe(200);
  });

  test("are chosen on the page of the index, which says where each went", async () => {
    const page = await browser.newPage();
    await page.goto(`${origin}/index`);
    await page.getByLabel(/^Drop files for inbox/).setInputFiles([
      { name: "one <b>.md", mimeType: "text/markdown", buffer: Buffer.from("One.") },
      { name: "two.exe", mimeType: "text/plain", buffer: Buffer.from("Two.") },
    ]);
    await page.getByText("Stored as allowed/inbox/one <b>.md").waitFor();
    await page.getByText(/^two.exe: .*could not be read/).waitFor();
    expect(await readFile(inbox("one <b>.md"), "utf8")).toBe("One.");
    expect(await violationsOf(page)).toEqual([]);
  });
});
