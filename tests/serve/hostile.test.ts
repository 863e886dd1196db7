import { createHash, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { eventually } from "../conformance/signal.ts";
import { rowsOf } from "../producer/desk.ts";
import { jobLine, jsonl, openTestDoor } from "./open-door.ts";
import type { TestDoor } from "./open-door.ts";

const MOST_REQUESTS = 200;
let door: TestDoor;
let secret: string;
const laterHour = String((new Date().getUTCHours() + 12) % 24).padStart(2, "0");
beforeAll(async () => {
  door = await openTestDoor({
    // Closed for half a day from now on.
    windows: [`${laterHour}:00-${laterHour}:30 UTC`],
    serve: {
      max_file_mb: 1,
      max_lines: 3,
      limits: { requests_per_minute: MOST_REQUESTS, mb_per_day: 3, open_jobs: 4 },
    },
  });
  secret = await door.token("one", "--source", "corpus");
});
afterAll(() => door.dispose());

const LINE = jsonl([jobLine("a", { kind: "ask", question: "When?" })]);
const BOUNDARY = "----x";

const part = (name: string, content: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
const filePart = (content: string, filename = "a.jsonl", field = "file"): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${field}"; filename="${filename}"\r\ncontent-type: application/octet-stream\r\n\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;

const FORM = { "content-type": `multipart/form-data; boundary=${BOUNDARY}` };

async function post(body: string | Buffer, headers: Record<string, string> = FORM) {
  const response = await door.ask("/files", secret, { method: "POST", headers, body });
  return { status: response.status, body: (await response.json()) as Sent };
}
type Sent = {
  readonly id: string;
  readonly filename: string;
  readonly error?: { readonly message: string; readonly code: string; readonly param: string };
};

const files = () =>
  rowsOf(door.database, "select name from nightdesk_data.program_files order by seq");
/** Each has a name for the moment between its making and its removal, those of other tests too. */
const noUploadIsLeft = () =>
  eventually("no upload is left", async () =>
    (await readdir(tmpdir())).every((name) => !name.startsWith("nightdesk-upload-")),
  );

describe("an upload", () => {
  test("may have its file first, and its name is data whatever it looks like", async () => {
    for (const name of ["../../etc/x", "ä 'x'.jsonl", "x".repeat(400)]) {
      const sent = await post(filePart(LINE, name) + part("purpose", "batch") + END);
      expect(sent.status).toBe(200);
      expect(sent.body.filename.length).toBeLessThanOrEqual(255);
      const content = await door.ask(`/files/${sent.body.id}/content`, secret);
      expect(await content.text()).toBe(LINE);
    }
    const names = (await files()).map(({ name }) => name);
    expect(names).toEqual([expect.stringMatching(/x$/), "ä 'x'.jsonl", "x".repeat(255)]);
  });

  test.each([
    ["of another type", "{}", { "content-type": "application/json" }, "content-type"],
    ["without a boundary", "{}", { "content-type": "multipart/form-data" }, "content-type"],
    ["without a purpose", filePart(LINE) + END, FORM, "purpose"],
    ["for another purpose", part("purpose", "fine-tune") + filePart(LINE) + END, FORM, "purpose"],
    ["without a file", part("purpose", "batch") + END, FORM, "file"],
    [
      "of two files",
      filePart(LINE) + filePart(LINE) + part("purpose", "batch") + END,
      FORM,
      "file",
    ],
    [
      "of another field",
      filePart(LINE, "a", "data") + part("purpose", "batch") + END,
      FORM,
      "file",
    ],
    ["of an empty file", part("purpose", "batch") + filePart("") + END, FORM, "file"],
    ["without its last boundary", part("purpose", "batch") + filePart(LINE), FORM, "file"],
    ["of nothing", "", FORM, "file"],
    [
      "kept for a second",
      part("purpose", "batch") + part("expires_after[seconds]", "1") + filePart(LINE) + END,
      FORM,
      "expires_after",
    ],
  ])("%s is 400, names what is wrong, and leaves nothing", async (_, body, headers, param) => {
    const before = await files();
    const sent = await post(body, headers);
    expect(sent.status).toBe(400);
    expect(sent.body.error).toMatchObject({ code: "invalid_request", param });
    expect(await files()).toEqual(before);
    await noUploadIsLeft();
  });

  test("that is too large is 413, whether it says its length or not", async () => {
    const large = part("purpose", "batch") + filePart("x".repeat(3_000_000)) + END;
    expect((await post(large)).status).toBe(413);
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(large));
        controller.close();
      },
    });
    const init = { method: "POST", headers: FORM, body, duplex: "half" } as RequestInit;
    expect((await door.ask("/files", secret, init)).status).toBe(413);
    await noUploadIsLeft();
  });

  test("that is cut leaves nothing, and the door goes on", async () => {
    const before = await files();
    for (const sent of [
      part("purpose", "batch"),
      part("purpose", "batch") + filePart("x".repeat(200_000)),
    ]) {
      const socket = connect(door.port, "127.0.0.1");
      const goOn = once(socket, "data");
      socket.write(
        `POST /v1/files HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${secret}\r\nexpect: 100-continue\r\n` +
          `content-type: ${FORM["content-type"]}\r\ncontent-length: 500000\r\n\r\n`,
      );
      expect(String(await goOn)).toContain("100 Continue");
      await new Promise((resolve) => socket.write(sent, resolve));
      socket.resetAndDestroy();
    }
    expect((await door.ask("/models", secret)).status).toBe(200);
    expect(await files()).toEqual(before);
    await noUploadIsLeft();
  });

  test("beyond the share of a day is 429, deleted files counted", async () => {
    const other = await door.token("sender", "--source", "corpus");
    const megabyte = part("purpose", "batch") + filePart("x".repeat(999_000)) + END;
    const send = () => door.ask("/files", other, { method: "POST", headers: FORM, body: megabyte });
    for (let sent = 0; sent < 3; sent += 1) {
      const { id } = (await (await send()).json()) as Sent;
      const deleted = await door.ask(`/files/${id}`, other, { method: "DELETE" });
      expect(await deleted.json()).toEqual({ id, object: "file", deleted: true });
    }
    const refused = await send();
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    const parts = await rowsOf(
      door.database,
      `select from nightdesk_data.program_file_parts p join nightdesk_data.program_files f using (file_id)
         join nightdesk_data.tokens t using (token_id) where t.name = 'sender'`,
    );
    expect(parts).toEqual([]);
  });
});

describe("a request", () => {
  test.each([
    ["no token", null],
    ["a word for a token", "hunter2"],
    ["a token that nobody gave", `nd_${randomBytes(32).toString("base64url")}`],
  ])("with %s is 401 before its body is read", async (_, given) => {
    const body = new ReadableStream({
      // It never ends.
      pull: (controller) => {
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const init = { method: "POST", headers: FORM, body, duplex: "half" } as RequestInit;
    const response = await door.ask("/files", given, init);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(response.headers.get("connection")).toBe("close");
  });

  test("with a token that has expired or was revoked is 401", async () => {
    const expired = await door.token("expired", "--kind", "chat");
    expect((await door.ask("/models", expired)).status).toBe(200);
    await door.database.query(
      `update nightdesk_data.tokens set created_at = now() - interval '2 days', expires_at = now() where name = 'expired'`,
    );
    expect((await door.ask("/models", expired)).status).toBe(401);
  });

  test("under another name is 421, and none lets a script of another site read it", async () => {
    const status = await new Promise<string>((resolve, reject) => {
      const socket = connect(door.port, "127.0.0.1");
      socket.once("error", reject);
      socket.once("data", (data) => {
        resolve(data.toString().slice(9, 12));
        socket.destroy();
      });
      socket.write(
        `GET /v1/models HTTP/1.1\r\nhost: rebind.example\r\nauthorization: Bearer ${secret}\r\n\r\n`,
      );
    });
    expect(status).toBe("421");
    const response = await door.ask("/models", secret, {
      headers: { origin: "https://a.example" },
    });
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
    expect(response.headers.get("x-request-id")).toEqual(expect.any(String));
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("beyond its scope is 403", async () => {
    const reader = await door.token("reader", "--source", "corpus", "--scope", "batches:read");
    expect((await door.ask("/batches", reader)).status).toBe(200);
    const refused = await door.ask("/files", reader, { method: "POST", headers: FORM, body: "" });
    expect(refused.status).toBe(403);
  });

  test("beyond those that its token may make a minute is 429, and another token's is answered", async () => {
    const eager = await door.token("eager", "--source", "corpus");
    const asked = Array.from({ length: MOST_REQUESTS + 1 }, () => door.ask("/models", eager));
    const refused = (await Promise.all(asked)).filter(({ status }) => status !== 200);
    expect(refused.map(({ status }) => status)).toEqual([429]);
    expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await door.ask("/models", secret)).status).toBe(200);
  });

  test("for what is another's is the same 404 as for what is not there", async () => {
    const { body: mine } = await post(part("purpose", "batch") + filePart(LINE) + END);
    const batch = await create(mine.id);
    const { id } = (await batch.json()) as Sent;
    const other = await door.token("other", "--source", "corpus");
    const hex = "0".repeat(32);
    const hash = createHash("sha256").update(LINE).digest("hex");
    for (const path of [
      ...[`/files/${mine.id}`, `/files/${mine.id}/content`, `/files?after=${mine.id}`],
      ...[`/batches/${id}`, `/batches?after=${id}`, `/files/file-out-${id.slice(6)}`],
      ...[`/files/file-err-${id.slice(6)}/content`, `/files/file-${hex}`, `/batches/batch_${hex}`],
      ...[`/files/file-out-${hex}`, "/files/..%2f..%2fetc%2fpasswd", "/files/%00", "/batches/x'--"],
    ]) {
      const response = await door.ask(path, other);
      const text = await response.text();
      expect({ path, status: response.status }).toEqual({ path, status: 404 });
      expect(text).not.toContain(hash);
    }
    expect((await door.ask(`/files/${mine.id}`, other, { method: "DELETE" })).status).toBe(404);
    expect((await door.ask(`/batches/${id}/cancel`, other, { method: "POST" })).status).toBe(404);
    expect((await create(mine.id, other)).status).toBe(404);
    for (const list of ["/files", "/batches"])
      expect(await (await door.ask(list, other)).json()).toMatchObject({ data: [] });
  });

  test.each(["/files?limit=0", "/files?limit=x", "/batches?limit=101"])(
    "%s is 400",
    async (path) => {
      expect((await door.ask(path, secret)).status).toBe(400);
    },
  );

  test("for an address that there is not is 404, and one that can't be read 400", async () => {
    expect((await door.ask("/nothing", secret)).status).toBe(404);
    expect((await door.ask("/files/%E0%A4%A", secret)).status).toBeGreaterThanOrEqual(400);
    expect((await door.ask("/files/%E0%A4%A", secret)).status).toBeLessThan(500);
  });

  test.each([
    ["{", "body"],
    ["[]", "body"],
    [
      `{"input_file_id":"file-1","endpoint":"/v1/completions","completion_window":"24h"}`,
      "endpoint",
    ],
    [
      `{"input_file_id":"file-1","endpoint":"/v1/embeddings","completion_window":"0s"}`,
      "completion_window",
    ],
    [
      `{"input_file_id":"file-1","endpoint":"/v1/embeddings","completion_window":"31d"}`,
      "completion_window",
    ],
    // No window of the desk opens until then.
    [
      `{"input_file_id":"file-1","endpoint":"/v1/embeddings","completion_window":"1h"}`,
      "completion_window",
    ],
    [`{"input_file_id":7,"endpoint":"/v1/embeddings","completion_window":"24h"}`, "input_file_id"],
    [
      `{"input_file_id":"f","endpoint":"/v1/embeddings","completion_window":"24h","metadata":{"a":1}}`,
      "metadata.a",
    ],
  ])("for a batch of %s is 400 and names the field", async (body, param) => {
    const headers = { "content-type": "application/json" };
    const response = await door.ask("/batches", secret, { method: "POST", headers, body });
    expect([response.status, ((await response.json()) as Sent).error?.param]).toEqual([400, param]);
  });
});

const create = (fileId: string, by = secret) =>
  door.ask("/batches", by, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      input_file_id: fileId,
      endpoint: "/v1/nightdesk/jobs",
      completion_window: "24h",
    }),
  });

describe("a batch", () => {
  const many = (count: number) =>
    jsonl(
      Array.from({ length: count }, (_, at) => jobLine(`${at}`, { kind: "ask", question: "?" })),
    );
  const sent = async (lines: number, by: string) => {
    const body = part("purpose", "batch") + filePart(many(lines)) + END;
    const file = await door.ask("/files", by, { method: "POST", headers: FORM, body });
    return create(((await file.json()) as Sent).id, by);
  };

  test("of more lines than a batch may have fails, and one beyond the open jobs of its token is 429", async () => {
    const by = await door.token("busy", "--source", "corpus");
    expect(await (await sent(5, by)).json()).toMatchObject({
      status: "failed",
      errors: {
        data: [{ line: 4, message: expect.stringContaining("at most 3 lines") }, { line: 5 }],
      },
    });
    expect(await (await sent(3, by)).json()).toMatchObject({ request_counts: { total: 3 } });
    const refused = await sent(3, by);
    expect([refused.status, Number(refused.headers.get("retry-after")) > 0]).toEqual([429, true]);
    const left = await rowsOf(
      door.database,
      `select p.failed_at is null as queued from nightdesk_data.program_batches p join nightdesk_data.tokens t using (token_id)
        where t.name = 'busy' order by seq`,
    );
    expect(left).toEqual([{ queued: false }, { queued: true }]);
    const loading = await rowsOf(
      door.database,
      "select name from nightdesk_data.batches where state = 'loading'",
    );
    expect(loading).toEqual([]);
  });

  test("of questions beyond the open jobs of its token is 429 each, and leaves nothing", async () => {
    const by = await door.token("asking", "--source", "corpus");
    expect(await (await sent(3, by)).json()).toMatchObject({ request_counts: { total: 3 } });
    const gone = new AbortController();
    const body = { model: "nightdesk/ask", messages: [{ role: "user", content: "When?" }] };
    const refused: number[] = [];
    const asked = [1, 2, 3].map(() =>
      door
        .ask("/chat/completions", by, {
          ...{ method: "POST", body: JSON.stringify(body), signal: gone.signal },
          headers: { "content-type": "application/json" },
        })
        .then(({ status }) => void refused.push(status)),
    );
    const begun = () =>
      rowsOf(
        door.database,
        `select p.batch_id is null as nothing from nightdesk_data.program_batches p join nightdesk_data.tokens t using (token_id)
          where t.name = 'asking' order by seq`,
      );
    const queued = [{ nothing: false }, { nothing: false }];
    await eventually("one of them is queued and the others are gone", async () =>
      isDeepStrictEqual([refused, await begun()], [[429, 429], queued]),
    );
    gone.abort();
    await expect(Promise.all(asked)).rejects.toThrow("aborted");
  });

  test("that meets a fault of the database is 500, without a word of it", async () => {
    await door.database.query(
      `create function nightdesk_data.fail_on_purpose() returns trigger language plpgsql as
         $$ begin raise exception 'words of the database'; end $$`,
    );
    await door.database.query(
      `create trigger failing before insert on nightdesk_data.program_batches
         for each row execute function nightdesk_data.fail_on_purpose()`,
    );
    const file = await post(part("purpose", "batch") + filePart(LINE) + END);
    const response = await create(file.body.id);
    expect(response.status).toBe(500);
    const text = await response.text();
    expect(text).toContain("internal_error");
    expect(text).not.toContain("words of the database");
    await door.database.query("drop trigger failing on nightdesk_data.program_batches");
  });
});
