import { randomBytes } from "node:crypto";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { rowsOf } from "../producer/desk.ts";
import { jobLine, jsonl, openTestDoor } from "../serve/open-door.ts";
import type { TestDoor } from "../serve/open-door.ts";

let door: TestDoor;
let owner: string;
let tokens: Readonly<Record<string, string | null>>;
let fileId: string;
let batchId: string;

const MARK = "the words of the owner";
const LINE = jsonl([jobLine("mine", { kind: "ask", question: `${MARK}?` })]);

beforeAll(async () => {
  door = await openTestDoor({
    serve: { max_file_mb: 1, answer_timeout_s: 1, limits: { requests_per_minute: 1_000_000 } },
  });
  owner = await door.token("owner", "--source", "corpus");
  const expired = await door.token("expired", "--source", "corpus");
  const revoked = await door.token("revoked", "--source", "corpus");
  const reader = await door.token("reader", "--source", "corpus", "--scope", "batches:read");
  const sent = await door.ask("/files", owner, {
    method: "POST",
    ...form([part("purpose", "batch"), filePart(LINE)]),
  });
  fileId = ((await sent.json()) as { id: string }).id;
  const made = await door.ask("/batches", owner, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: batchOf(fileId),
  });
  batchId = ((await made.json()) as { id: string }).id;
  await door.run("tokens", "revoke", "revoked");
  await door.database.query(
    "update nightdesk_data.tokens set created_at = now() - interval '2 days', expires_at = now() where name = 'expired'",
  );
  tokens = {
    none: null,
    ...{ expired, revoked, reader },
    word: "hunter2",
    unknown: `nd_${randomBytes(32).toString("base64url")}`,
    cut: owner.slice(0, -1),
    longer: `${owner}A`,
    upper: owner.toUpperCase(),
    quoted: `"${owner}"`,
    two: `${owner} ${owner}`,
    sql: "nd_' or '1'='1",
    long: `nd_${"a".repeat(9_000)}`,
  };
});
afterAll(() => door.dispose());

const BOUNDARY = "----x";
const part = (name: string, content: string): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;
const filePart = (content: string, disposition = 'name="file"; filename="a.jsonl"'): string =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`;
const formOf = (parts: readonly string[]) => `${parts.join("")}--${BOUNDARY}--\r\n`;
const FORM = `multipart/form-data; boundary=${BOUNDARY}`;
const form = (parts: readonly string[]) => ({
  headers: { "content-type": FORM },
  body: formOf(parts),
});
const batchOf = (inputFileId: unknown) =>
  JSON.stringify({
    input_file_id: inputFileId,
    endpoint: "/v1/nightdesk/jobs",
    completion_window: "24h",
  });

type Route = { readonly method: string; readonly path: string; readonly body?: string };
const routes = (): readonly Route[] => [
  { method: "GET", path: "/v1/files" },
  { method: "GET", path: `/v1/files/${fileId}` },
  { method: "GET", path: `/v1/files/${fileId}/content` },
  { method: "DELETE", path: `/v1/files/${fileId}` },
  { method: "POST", path: "/v1/files", body: formOf([part("purpose", "batch"), filePart(LINE)]) },
  { method: "GET", path: "/v1/batches" },
  { method: "GET", path: `/v1/batches/${batchId}` },
  { method: "POST", path: `/v1/batches/${batchId}/cancel` },
  { method: "POST", path: "/v1/batches", body: batchOf(fileId) },
  { method: "GET", path: `/v1/files/file-out-${batchId.slice(6)}/content` },
  { method: "GET", path: "/v1/models" },
  {
    method: "POST",
    path: "/v1/chat/completions",
    body: '{"model":"nightdesk/ask","messages":[{"role":"user","content":"?"}]}',
  },
];

type Sent = { readonly name: string; readonly bytes: string };
const request = (
  { method, path, body = "" }: Route,
  headers: readonly string[],
  framing: readonly string[] = [`content-length: ${Buffer.byteLength(body)}`],
): string => {
  const type = body.startsWith("--") ? FORM : "application/json";
  const lines = [`${method} ${path} HTTP/1.1`, ...headers, `content-type: ${type}`, ...framing];
  return `${lines.join("\r\n")}\r\nconnection: close\r\n\r\n${body}`;
};
const HOST = "host: localhost";
const bearer = (token: string | null): readonly string[] =>
  token === null ? [] : [`authorization: Bearer ${token}`];

/** Each token that lets nobody in, and one that only reads what is its own, at each route. */
const byToken = (): Sent[] =>
  routes().flatMap((route) => [
    ...Object.entries(tokens).map(([name, token]) => ({
      name: `token ${name}`,
      bytes: request(route, [HOST, ...bearer(token)]),
    })),
    ...[
      `authorization: Basic ${Buffer.from(`x:${owner}`).toString("base64")}`,
      `cookie: token=${owner}`,
      `x-api-key: ${owner}`,
      `authorization: Bearer word\r\nauthorization: Bearer ${owner}`,
    ].map((header) => ({
      name: header.slice(0, 24),
      bytes: request(route, [HOST, header]),
    })),
    {
      name: "token in the query",
      bytes: request({ ...route, path: `${route.path}?api_key=${owner}` }, [HOST]),
    },
  ]);

/** What is wrong with the request itself, with a token that only reads, and with none. */
const byFraming = (): Sent[] => {
  const cancel = request({ method: "POST", path: `/v1/batches/${batchId}/cancel` }, [
    HOST,
    ...bearer(tokens["unknown"] ?? null),
  ]);
  const headers: readonly string[] = [
    ...["host: rebind.example", "host: ", "host: localhost@evil", "host: localhost:99999999"],
    ...["host: localhost\r\nhost: evil", "host: LOCALHOST.evil", "x-forwarded-host: localhost"],
    `host: [::1`,
    ...[
      `${HOST}\r\nbad header: 1`,
      `${HOST}\r\nx: a\0b`,
      `${HOST}\r\n folded: 1`,
      `${HOST}\r\n: 1`,
    ],
    `${HOST}\r\nx: ${"a".repeat(40_000)}`,
    `${HOST}\r\n${Array.from({ length: 2_500 }, (_, at) => `x-${at}: ${at}`).join("\r\n")}`,
    ...[
      `${HOST}\r\nexpect: 200-maybe`,
      `${HOST}\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__`,
    ],
    `${HOST}\r\n__proto__: 1\r\nconstructor: 2`,
  ];
  const framings: readonly (readonly string[])[] = [
    ["content-length: 5", "transfer-encoding: chunked"],
    ["transfer-encoding: chunked", "content-length: 0"],
    ["content-length: 3", "content-length: 900"],
    ["content-length: 3, 900"],
    ...["-1", "+5", "5 5", "0x10", "1e3", "", "99999999999999999999"].map((length) => [
      `content-length: ${length}`,
    ]),
    ["transfer-encoding: xchunked"],
    ["transfer-encoding: chunked, identity"],
    ["transfer-encoding : chunked"],
    ["transfer-encoding:\tchunked", "transfer-encoding: gzip"],
    ["content-encoding: gzip"],
  ];
  const bodies: readonly string[] = [
    `0\r\n\r\n${cancel}`,
    `-1\r\nabc\r\n0\r\n\r\n`,
    `ffffffffffffffff\r\n${cancel}`,
    `3;${"e".repeat(20_000)}\r\nabc\r\n0\r\n\r\n`,
    `3\nabc\n0\n\n`,
  ];
  return routes().flatMap((route) =>
    [null, tokens["reader"] ?? null].flatMap((token) => [
      ...headers.map((header) => ({
        name: `header ${header.slice(0, 40)}`,
        bytes: request(route, [header, ...bearer(token)]),
      })),
      ...framings.map((framing) => ({
        name: `framing ${framing.join(" and ")}`,
        bytes: request({ ...route, body: route.body ?? cancel }, [HOST, ...bearer(token)], framing),
      })),
      ...bodies.map((body) => ({
        name: `chunks ${body.slice(0, 12)}`,
        bytes: request(
          { ...route, body },
          [HOST, ...bearer(token)],
          ["transfer-encoding: chunked"],
        ),
      })),
    ]),
  );
};

const IDS: readonly string[] = [
  ...[
    "..",
    ".",
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f",
    "..%5c..%5c",
    "%00",
    "a%00b",
  ],
  ...[
    "%c0%ae%c0%ae",
    "%e2%80%ae",
    "%u0041",
    "%",
    "%zz",
    "%25%32%65",
    "x'--",
    "1%20or%201=1",
    ";id",
    "|id",
  ],
  ...[
    "__proto__",
    "constructor",
    "toString",
    "null",
    "undefined",
    "NaN",
    "-1",
    "0",
    "*",
    "[]",
    "{}",
  ],
  ...[
    "file-",
    "batch_",
    `file-${"0".repeat(32)}`,
    `file-${"f".repeat(33)}`,
    `file-out-${"0".repeat(32)}`,
  ],
  "a".repeat(8_000),
];

/** Ids that are none, and those of another, by a token that may all. */
const byId = (other: string): Sent[] =>
  [...IDS, fileId, batchId, fileId.toUpperCase(), `file-out-${batchId.slice(6)}`].flatMap((id) =>
    [
      ...[`GET /v1/files/${id}`, `GET /v1/files/${id}/content`, `DELETE /v1/files/${id}`],
      ...[`GET /v1/batches/${id}`, `POST /v1/batches/${id}/cancel`, `GET /v1/files?after=${id}`],
      ...[`GET /v1/batches?after=${id}`, `GET /v1/${id}`, `GET /${id}/v1/files/${fileId}`],
    ].map((line) => {
      const [method = "", path = ""] = line.split(" ");
      return {
        name: `id ${line.slice(0, 60)}`,
        bytes: request({ method, path }, [HOST, ...bearer(other)]),
      };
    }),
  );

const byPath = (other: string): Sent[] =>
  [
    ...[
      "/V1/files",
      "//v1/files",
      "/v1//files",
      "/v1/files/",
      "/v1/%66iles/x",
      "/v1/files/../batches/x",
    ],
    ...[
      "/v1\\files",
      "/v1/files;a=b",
      "/..;/v1/files",
      "/v1/./files/x",
      "*",
      "v1/files",
      "/v1/files#x",
    ],
    ...[
      "http://evil/v1/models",
      "/v1/files?limit=-1",
      "/v1/files?limit=1e9",
      "/v1/files?limit=%00",
    ],
    ...["/v1/batches?limit=101", "/v1/batches?limit[]=1", "/", "/favicon.ico", "/metrics", "/.env"],
  ].flatMap((path) =>
    ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"].map((method) => ({
      name: `path ${method} ${path}`,
      bytes: request({ method, path }, [HOST, ...bearer(other)]),
    })),
  );

const byBody = (other: string): Sent[] => {
  const values: readonly string[] = [
    ...[
      "",
      "null",
      "[]",
      "1",
      '"a"',
      "{",
      "{}",
      "\uFEFF{}",
      "{}{}",
      '{"a":1e400}',
      '{"__proto__":{"a":1}}',
    ],
    ...[
      "[".repeat(100_000),
      '{"a":'.repeat(200) + "1" + "}".repeat(200),
      '{"input_file_id":"\\ud800"}',
    ],
    ...['{"constructor":{"prototype":{"kinds":["ask"]}}}', '{"messages":"\\u0000"}', "a=b&c=d"],
    ...[
      batchOf(fileId),
      batchOf([fileId]),
      batchOf({ $ne: 1 }),
      batchOf(`${fileId}\0`),
      batchOf("../x"),
    ],
    batchOf(fileId).replace("24h", "999999d"),
    batchOf(fileId).replace("/v1/nightdesk/jobs", "/v1/completions"),
    '{"model":"nightdesk/ask","messages":[{"role":"user","content":{"text":"?"}}]}',
    '{"model":"nightdesk/ask","messages":[{"role":"system","content":"?"}]}',
    '{"model":"nightdesk/ask","stream":"yes","messages":[{"role":"user","content":"?"}]}',
  ];
  const types = [
    "application/json",
    "text/plain",
    "application/json; charset=utf-16",
    "multipart/mixed",
  ];
  return ["/v1/batches", "/v1/chat/completions"].flatMap((path) =>
    values.flatMap((body) =>
      types.map((type) => ({
        name: `body of ${path} as ${type}: ${body.slice(0, 40)}`,
        bytes: request({ method: "POST", path, body }, [HOST, ...bearer(other)]).replace(
          /content-type: .*/,
          `content-type: ${type}`,
        ),
      })),
    ),
  );
};

/** Forms that are none: nothing of them is kept. */
const byForm = (other: string): Sent[] => {
  const purpose = part("purpose", "batch");
  const bodies: readonly string[] = [
    ...[
      "",
      "--",
      `--${BOUNDARY}`,
      `--${BOUNDARY}--`,
      `--${BOUNDARY}--\r\n`,
      `${purpose}${filePart(LINE)}`,
    ],
    formOf([purpose, filePart(LINE), filePart(LINE)]),
    formOf([purpose, filePart("")]),
    formOf([purpose, filePart(LINE, 'name="files"; filename="a"')]),
    formOf([purpose, filePart(LINE, 'name="__proto__"; filename="a"')]),
    formOf([purpose, filePart(LINE, 'name="purpose"; filename="a"')]),
    formOf([part("purpose", "../batch"), filePart(LINE)]),
    formOf([part("purpose", "x".repeat(100_000)), filePart(LINE)]),
    formOf([...Array.from({ length: 1_000 }, (_, at) => part(`f${at}`, "x")), filePart(LINE)]),
    formOf([purpose, part("expires_after[seconds]", "1e9"), filePart(LINE)]),
    formOf([
      purpose,
      part("expires_after[anchor]", "__proto__"),
      part("expires_after[seconds]", "3600"),
      filePart(LINE),
    ]),
    formOf([purpose, filePart(LINE)]).replaceAll("\r\n", "\n"),
    formOf([purpose, filePart(LINE)]).replaceAll(BOUNDARY, `${BOUNDARY}x`),
    formOf([purpose, `--${BOUNDARY}\r\n${"x: y\r\n".repeat(3_000)}\r\nz\r\n`]),
    formOf([
      purpose,
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"\r\n\r\n${LINE}\r\n`,
    ]),
    formOf([purpose, filePart("x".repeat(1_200_000))]),
  ];
  const types: readonly string[] = [
    FORM,
    ...[
      "multipart/form-data",
      "multipart/form-data; boundary=",
      `multipart/form-data; boundary="${"b".repeat(300)}"`,
    ],
    ...[
      `multipart/mixed; boundary=${BOUNDARY}`,
      `multipart/form-data; boundary=a; boundary=${BOUNDARY}`,
    ],
    "application/x-www-form-urlencoded",
  ];
  return bodies.flatMap((body) =>
    types.map((type) => ({
      name: `form as ${type.slice(0, 50)}: ${body.slice(0, 90)}`,
      bytes: request({ method: "POST", path: "/v1/files", body }, [HOST, ...bearer(other)]).replace(
        /content-type: .*/,
        `content-type: ${type}`,
      ),
    })),
  );
};

type Answered = { readonly statuses: readonly number[]; readonly text: string };
const HANGS_MS = 8_000;

/** Sends bytes as they are, and takes whatever comes until the other end closes. */
const send = (bytes: string): Promise<Answered> =>
  new Promise((resolve) => {
    const socket = connect(door.port, "127.0.0.1");
    let text = "";
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));
      resolve({ statuses: statuses.filter((code) => code !== 100), text });
    };
    const timer = setTimeout(() => {
      text = "";
      end();
    }, HANGS_MS);
    socket.setEncoding("utf8").on("data", (data) => (text += String(data)));
    // A server that has refused it reads no more of it.
    socket.on("error", end).on("close", end);
    socket.write(bytes);
  });

const AT_ONCE = 64;
async function sendAll(all: readonly Sent[]): Promise<readonly (Sent & Answered)[]> {
  const answered: (Sent & Answered)[] = [];
  const left = [...all];
  const sender = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop())
      answered.push({ ...next, ...(await send(next.bytes)) });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, sender));
  return answered;
}

const isTyped = (text: string): boolean =>
  /\{"error":\{"message":".+","type":"\w+","param":.*,"code":"\w+"\}\}/.test(text);

const rows = () =>
  rowsOf(
    door.database,
    `select (select count(*) from nightdesk_data.program_files where deleted_at is null) as files,
            (select count(*) from nightdesk_data.program_file_parts) as parts,
            (select count(*) from nightdesk_data.jobs where state = 'queued') as queued, (select count(*) from nightdesk_data.jobs) as jobs`,
  );

test("two thousand hostile requests read nothing, queue nothing, and are each answered", async () => {
  const before = await rows();
  const other = await door.token("other", "--source", "corpus");
  // Some send nothing more after a few bytes, all the while.
  const slow = ["POST /v1/fi", `GET /v1/models HTTP/1.1\r\n${HOST}\r\nx:`].flatMap((bytes) =>
    Array.from({ length: 20 }, () => {
      const socket = connect(door.port, "127.0.0.1").on("error", () => undefined);
      socket.write(bytes);
      return socket;
    }),
  );
  const all = [
    ...[...byToken(), ...byFraming(), ...byId(other), ...byPath(other)],
    ...[...byBody(other), ...byForm(other)],
  ];
  expect(all.length).toBeGreaterThan(2_000);
  const answered = await sendAll(all);
  for (const socket of slow) socket.destroy();
  // Lists and models are there for every token that is valid; what they hold is its own.
  const wrong = answered.filter(
    ({ statuses, text, bytes }) =>
      statuses.length !== 1 ||
      statuses.some((status) => status >= 500 && status !== 503 && status !== 504) ||
      text.includes(MARK) ||
      (statuses[0] === 200
        ? !/^(GET|DELETE|HEAD) \S*(\/files|\/batches|\/models)\b/.test(bytes) ||
          text.includes(fileId.slice(5))
        : !isTyped(text)),
  );
  expect(wrong.map(({ name, statuses }) => [name, statuses])).toEqual([]);
  expect(await rows()).toEqual(before);
  expect((await door.ask(`/files/${fileId}/content`, owner)).status).toBe(200);
}, 60_000);

test("a hundred clients at once each get what is theirs", async () => {
  const name = await door.token("crowd", "--source", "corpus");
  const client = async (at: number): Promise<string> => {
    const content = `${JSON.stringify({ at })}\n`.repeat(5_000);
    const sent = await door.ask("/files", name, {
      method: "POST",
      ...form([part("purpose", "batch"), filePart(content)]),
    });
    const { id } = (await sent.json()) as { id: string };
    const [polled, read] = await Promise.all([
      door.ask(`/batches/${batchId}`, owner),
      door.ask(`/files/${id}/content`, name),
    ]);
    const isSame = (await read.text()) === content;
    const deleted = await door.ask(`/files/${id}`, name, { method: "DELETE" });
    return [sent.status, polled.status, isSame, deleted.status].join();
  };
  const ended = await Promise.all(Array.from({ length: 100 }, (_, at) => client(at)));
  expect(new Set(ended)).toEqual(new Set(["200,200,true,200"]));
}, 60_000);
