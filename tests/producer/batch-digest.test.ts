import { spawn } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { networksOf, allowedAddresses } from "../../src/shared/http/network-address.ts";
import { readBatchEvent } from "../../src/shared/views/batch-end.ts";
import { callWebhook } from "../../src/worker/jobs/webhook.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import type { FinishedJob } from "../support/finished-batch.ts";
import { openDesk, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";

const SECRET = "words of a document";
const CODES = [
  ...["CITATION_INVALID", "FILE_EMPTY", "FILE_NOT_FOUND", "FILE_TOO_LARGE"],
  ...["PATH_DENIED", "NO_TEXT_LAYER", "EVIDENCE_NOT_ACQUIRED"],
];
const refused = (code: string): FinishedJob => ({
  customId: code,
  input: { kind: "summarize", path: "allowed/corpus/a.md" },
  ...{ state: "refused", code, message: SECRET, model: "extractive" },
});
const answered: FinishedJob = {
  customId: "answered",
  input: { kind: "ask", question: SECRET },
  answer: SECRET,
};
const broken: FinishedJob = {
  ...{ customId: "broken", state: "failed", code: "MODEL_TIMEOUT", message: SECRET },
  input: { kind: "chat", prompt: "Hello?" },
};
const NAME = `minutes <!channel> "à la carte"`;

let desk: Desk;
let batchId = "";
beforeAll(async () => {
  desk = await openDesk();
  await insertFinishedBatch(desk.database, {
    name: NAME,
    jobs: [
      answered,
      broken,
      ...CODES.map(refused),
      { ...refused("FILE_EMPTY"), customId: "again" },
    ],
  });
  const [row] = await rowsOf(desk.database, "select batch_id from nightdesk_data.batches");
  batchId = String(row?.["batch_id"]);
});
afterAll(() => desk.dispose());

describe("batch report --brief", () => {
  test("tells counts, what needs a person and five reasons in twenty lines, and no word of a document", async () => {
    const { stdout, code } = await desk.run("batch", "report", NAME, "--brief");
    const lines = stdout.trimEnd().split("\n");
    expect(code).toBe(0);
    expect(lines.length).toBeLessThanOrEqual(20);
    expect(lines[0]).toBe(`${NAME}: 1 of 10 jobs succeeded; 8 refused, 1 failed.`);
    expect(stdout).toContain(
      `- 1 failed or expired (MODEL_TIMEOUT 1): nightdesk batch retry ${batchId}`,
    );
    expect(stdout).toContain("- 2 FILE_EMPTY: ");
    expect(lines.filter((line) => /^- \d+ [A-Z_]+: /.test(line))).toHaveLength(5);
    expect(stdout).toContain("- and 2 for other reasons");
    expect(lines.at(-1)).toBe(`All of it: nightdesk batch report ${batchId}`);
    expect(stdout).not.toContain(SECRET);
  });

  test.each([
    ["late", [], " --expired"],
    ["late-and-broken", [broken], " --failed --expired"],
  ])("names the command that retries what expired: %s", async (name, others, flags) => {
    const late = { ...broken, customId: "late", state: "expired", code: "DEADLINE_EXCEEDED" };
    await insertFinishedBatch(desk.database, { name, jobs: [...others, late as FinishedJob] });
    const { stdout } = await desk.run("batch", "report", name, "--brief");
    expect(stdout).toMatch(new RegExp(`nightdesk batch retry [0-9a-f-]{36}${flags}\n`));
  });

  test("never speaks of a stronger model to who has none, in the digest and in the report", async () => {
    const { stdout } = await desk.run("batch", "report", NAME, "--brief");
    expect(stdout).toContain("- 1 CITATION_INVALID: ");
    expect(stdout).not.toMatch(/stronger|larger model/);
    const written = await desk.run("batch", "report", NAME, "--output", "out", "--json");
    const { markdown } = JSON.parse(written.stdout) as { markdown: string };
    expect(await readFile(markdown, "utf8")).toContain("CITATION_INVALID, 1 job refused");
    expect(await readFile(markdown, "utf8")).not.toMatch(/stronger|larger model/);
  });

  test("links to the page of the batch where the dashboard has an address", async () => {
    const configured = await readFile(join(desk.workroot, "nightdesk.yaml"), "utf8");
    const extra = "\ndashboard: { public_url: https://desk.example.net/ }\n";
    const file = await desk.write("linked.yaml", configured + extra);
    const shown = await desk.run("batch", "report", NAME, "--brief", "--json", "--config", file);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      ok: true,
      text: expect.stringContaining(`All of it: https://desk.example.net/batches/${batchId}`),
    });
  });
});

describe("the files of examples/notify", () => {
  const folder = resolve(import.meta.dirname, "../../examples/notify");

  async function readEvent() {
    const [row] = await rowsOf(desk.database, "select finished_at from nightdesk_data.batches");
    const at = (row?.["finished_at"] as Date).toISOString();
    const event = await readBatchEvent(
      desk.database,
      { event: "batch_end", batch_id: batchId, at },
      null,
    );
    return event ?? { event_id: "", text: "none" };
  }

  /** Runs one as the hook does: the event on stdin, and programs of this folder before those of the machine. */
  async function run(script: string, args: readonly string[], bin: string) {
    const event = JSON.stringify(await readEvent());
    const child = spawn(process.execPath, [join(folder, script), ...args], {
      env: { PATH: `${bin}:${process.env["PATH"] ?? ""}` },
    });
    // One that refuses its address reads nothing.
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${event}\n`);
    const ended = new Promise<number | null>((done) => child.on("exit", done));
    const [stderr, code] = await Promise.all([text(child.stderr), ended]);
    return { stderr, code };
  }

  /** A program that writes down what it was given. */
  async function fake(
    name: string,
  ): Promise<{ readonly bin: string; readonly given: () => Promise<string> }> {
    const bin = join(desk.workroot, `bin-${name}`);
    await mkdir(bin, { recursive: true });
    const log = join(bin, "given");
    const body = name === "sendmail" ? `cat >> "${log}"` : "true";
    await writeFile(
      join(bin, name),
      `#!/bin/sh\nfor word in "$@"; do printf '%s\\n' "$word"; done > "${log}"\n${body}\n`,
    );
    await chmod(join(bin, name), 0o755);
    return { bin, given: () => readFile(log, "utf8") };
  }

  async function serve(): Promise<{
    readonly url: string;
    readonly got: { path: string; body: string }[];
    close(): void;
  }> {
    const got: { path: string; body: string }[] = [];
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        got.push({ path: request.url ?? "", body });
        response.end("ok");
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, got, close: () => server.close() };
  }

  test("sendmail.js mails the digest, and takes no address that is an option or two", async () => {
    const { bin, given } = await fake("sendmail");
    expect(await run("sendmail.js", ["me@example.net"], bin)).toMatchObject({ code: 0 });
    const [flag, dashes, to, ...mail] = (await given()).split("\n");
    expect([flag, dashes, to]).toEqual(["-i", "--", "me@example.net"]);
    const [head = "", body = ""] = mail.join("\n").split("\n\n");
    const subject = /^Subject: =\?UTF-8\?B\?(.*)\?=$/m.exec(head)?.[1] ?? "";
    expect(Buffer.from(subject, "base64").toString()).toBe(`Nightdesk: ${NAME} has ended`);
    expect(Buffer.from(body, "base64").toString()).toBe(`${String((await readEvent())["text"])}\n`);
    for (const to of ["", "-bd@x", "a@b,c@d"])
      expect((await run("sendmail.js", [to], bin)).stderr).toContain("Give the address");
  });

  test("notify-send.js shows it, and a mark in a name stays a text", async () => {
    const { bin, given } = await fake("notify-send");
    expect(await run("notify-send.js", [], bin)).toMatchObject({ code: 0 });
    expect(await given()).toContain('minutes &lt;!channel> "à la carte": 1 of 10 jobs succeeded');
  });

  test("slack.js posts it, calls nobody by it, and fails where the webhook does", async () => {
    const server = await serve();
    const file = await desk.write("slack-url", `${server.url}/services/T0/B0\n`);
    expect(await run("slack.js", [file], "")).toMatchObject({ code: 0 });
    expect(server.got[0]?.path).toBe("/services/T0/B0");
    const { text: posted } = JSON.parse(server.got[0]?.body ?? "{}") as { text: string };
    expect(posted).toContain("minutes &lt;!channel&gt;");
    server.close();
    const gone = await run("slack.js", [file], "");
    expect(gone.code).not.toBe(0);
    expect(gone.stderr).not.toContain("/services/T0/B0");
  });

  test("ntfy.yaml has ntfy fill the digest into its message", async () => {
    const server = await serve();
    const { on_batch_end: hook } = parse(await readFile(join(folder, "ntfy.yaml"), "utf8")) as {
      readonly on_batch_end: { readonly webhook: string };
    };
    const url = hook.webhook.replace("https://ntfy.sh", server.url);
    const event = await readEvent();
    const post = { key: "k", body: JSON.stringify(event), signature: {}, timeoutS: 5 };
    const isAllowed = allowedAddresses(networksOf(["127.0.0.1"]));
    const { signal } = new AbortController();
    expect(await callWebhook(url, { ...post, isAllowed }, signal)).toMatchObject({ kind: "told" });
    const [call] = server.got;
    const asked = new URL(call?.path ?? "", server.url);
    expect(asked.pathname).toBe("/CHANGE-ME");
    expect(asked.searchParams.get("tpl")).toBe("1");
    const [, key = ""] = /^\{\{\.(\w+)\}\}$/.exec(asked.searchParams.get("message") ?? "") ?? [];
    expect((JSON.parse(call?.body ?? "{}") as Record<string, unknown>)[key]).toBe(event["text"]);
    server.close();
  });
});
