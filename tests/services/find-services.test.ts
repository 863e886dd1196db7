import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { isListening } from "./free-port.js";
import { startLocalRedis } from "./local-redis.js";

const run = promisify(execFile);

const script = `
  import { findServices } from ${JSON.stringify(new URL("find-services.js", import.meta.url).href)};
  const { env, notes, stop } = await findServices();
  await stop();
  process.stdout.write(JSON.stringify({ env, notes }));
`;

/** What a process with exactly this environment finds. */
async function findWith(env: Record<string, string>): Promise<unknown> {
  const args = ["--input-type=module", "--eval", script];
  return JSON.parse((await run(process.execPath, args, { env })).stdout);
}

describe("services for tests", () => {
  test("are those that the environment names", async () => {
    const named = {
      TEST_DATABASE_URL: "postgres://named:5432/tests",
      TEST_REDIS_URL: "redis://named:6379",
      TEST_LLAMA_SERVER: "/named/llama-server",
    };
    expect(await findWith(named)).toEqual({
      env: named,
      notes: {
        postgres: "TEST_DATABASE_URL",
        redis: "TEST_REDIS_URL",
        "llama-server": "TEST_LLAMA_SERVER",
      },
    });
  });

  test("that are nowhere are no error, and are said to be missing", async () => {
    const nothing = { PATH: "/nowhere", NIGHTDESK_CI_CACHE: "/nowhere" };
    expect(await findWith(nothing)).toEqual({
      env: {},
      notes: { postgres: "not found", redis: "not found", "llama-server": "not found" },
    });
  });
});

describe("the private Redis", () => {
  const installed = run("redis-server", ["--version"]).then(
    () => true,
    () => false,
  );

  test("answers during the run, and is gone after it", async () => {
    const redis = await startLocalRedis();
    expect(redis !== null).toBe(await installed);
    if (redis === null) return;
    const port = Number(new URL(redis.url).port);
    const open = await isListening(port);
    await redis.stop();
    expect([open, await isListening(port)]).toEqual([true, false]);
  });
});
