import { expect, test } from "@jest/globals";
import { Failure } from "../../../src/shared/failure.ts";
import { serveLines, withinTime } from "../../../src/worker/tool-server/serve-lines.ts";
import type { Answer, Request } from "../../../src/worker/tool-server/serve-lines.ts";

const LIMITS = { lineBytes: 100, atOnce: 2 };
const echo = async ({ method }: Request): Promise<Answer> => ({ ok: true, result: method });

async function* bytesOf(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function answersTo(
  input: AsyncIterable<Uint8Array>,
  handle: (request: Request) => Promise<Answer> = echo,
): Promise<unknown[]> {
  const lines: string[] = [];
  const write = async (line: string): Promise<void> => void lines.push(line);
  await serveLines({ input, write, limits: LIMITS }, handle);
  return lines.map((line) => JSON.parse(line) as unknown);
}

test("answers each line, however the bytes of lines are cut, and the last one without its end", async () => {
  const answers = await answersTo(
    bytesOf('{"id":1,"meth', 'od":"a"}\n\n{"id":"x","method":"b"}\n{"id":3', ',"method":"c"}'),
  );
  expect(answers).toEqual([
    { id: 1, ok: true, result: "a" },
    { id: "x", ok: true, result: "b" },
    { id: 3, ok: true, result: "c" },
  ]);
});

test.each([
  ["no JSON", "search"],
  ["no object", "[1]"],
  ["no id", '{"method":"search"}'],
  ["a further key", '{"id":1,"method":"search","more":1}'],
  ["an id that is neither text nor whole number", '{"id":1.5,"method":"search"}'],
  ["too many bytes", JSON.stringify({ id: 1, method: "x".repeat(100) })],
])("answers a line with %s as no request, and goes on", async (_, line) => {
  const answers = await answersTo(bytesOf(`${line}\n{"id":2,"method":"a"}\n`));
  expect(answers).toMatchObject([
    { id: null, ok: false, error_code: "INPUT_INVALID" },
    { id: 2, ok: true },
  ]);
});

test("reads no further line while as many run as may", async () => {
  let running = 0;
  let most = 0;
  const lines = Array.from({ length: 9 }, (_, id) => `{"id":${id},"method":"a"}\n`);
  const answers = await answersTo(bytesOf(...lines), async (request) => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running -= 1;
    return echo(request);
  });
  expect(answers).toHaveLength(9);
  expect(most).toBe(2);
});

test("work that takes too long is a typed failure", async () => {
  const never = new Promise<never>(() => undefined);
  await expect(withinTime(never, 5)).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
  await expect(withinTime(Promise.resolve(1), 5)).resolves.toBe(1);
  const broken = Promise.reject(new Failure("NOT_FOUND", "none"));
  await expect(withinTime(broken, 5)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
